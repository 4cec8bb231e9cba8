"""Tests of `lemmata.constructions.networks.table`: what the table says of known weights, and its text."""

import numpy as np
import pytest

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.table import layer_table

STREAM = ResidualStream({"a": 2, "b": 1, "c": 2})


def attention() -> AttentionLayer:
    """A head that compares b with a, and copies a, twice itself, to c."""
    query, key = (np.zeros((5, 1), dtype=np.int64) for _ in range(2))
    query[2], key[:2] = 1, -3
    return AttentionLayer((Head(query, key, STREAM.matrix({("a", "c"): 2 * np.eye(2, dtype=int)})),))


def token_wise() -> FeedForward:
    """Copies a, puts the constant 1 into b, clears c: without a residual."""
    keep = STREAM.matrix({("a", "a"): np.eye(2, dtype=int)})
    return FeedForward((Affine(keep, STREAM.rows(1, {"b": 1})[0]), Affine(np.eye(5, dtype=int))))


def test_rows_say_what_the_weights_do():
    first, second, third = layer_table(
        STREAM,
        [attention(), token_wise(), FeedForward((token_wise().layers[0],), residual=True)],
        ["look", "set", "add"],
    )
    assert (first.number, first.name, first.kind) == (1, "look", "attention")
    assert (first.reads, first.writes, first.drops) == (("a", "b"), ("c",), ())
    assert (first.heads, first.units, first.norm, first.count) == (1, 0, 1 + 6 + 4, 1 + 2 + 2)
    assert (second.kind, second.reads, second.drops) == ("MLP", ("a",), ("c",))
    assert (second.heads, second.units, second.norm, second.count) == (0, 5, 2 + 1 + 5, 8)
    assert (third.drops, third.units) == ((), 0)


def test_a_block_is_dropped_only_if_all_of_it_is():
    half = STREAM.matrix({(STREAM.directions("a")[:1], STREAM.directions("c")[:1]): 1})
    (row,) = layer_table(STREAM, [FeedForward((Affine(half),))], ["half"])
    assert row.drops == ("a", "b")


def test_text_has_a_line_per_layer_and_totals():
    layers = [attention(), token_wise()]
    table = layer_table(STREAM, layers, ["look", "set"], norm=lambda layer: 7.25, columns={"sizes": lambda _: (1, 2.5)})
    assert str(table).splitlines() == [
        "   layer      name  reads  writes   drops  heads  units  norm  weights  sizes",
        "1  attention  look  a, b   c               1             7.25  5        1, 2.5",
        "2  MLP        set   a      a, b, c  c             5      7.25  8        1, 2.5",
        "width 5, 1 heads, 5 hidden units, 13 weights other than 0",
    ]
    assert "units" not in str(layer_table(STREAM, layers[:1], ["look"])).splitlines()[0]
    assert table["set"].columns == {"sizes": (1, 2.5)}
    with pytest.raises(KeyError, match="the layers are look, set"):
        table["get"]


def test_every_layer_needs_a_name():
    with pytest.raises(ValueError, match="1 layers and 0 names"):
        layer_table(STREAM, [attention()], [])
    with pytest.raises(ValueError, match="needs layers"):
        layer_table(STREAM, [], [])
