"""The compiler of Turing machines: bits, sizes, rules at the left end, padding, rounding, bad options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.decoder import DecoderLayer, identity_attention
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.turing import compiler
from lemmata.constructions.turing.compiler import compile_turing_machine, needed_bits
from lemmata.constructions.turing.evaluators.registry import EVALUATORS
from lemmata.constructions.turing.layout import TuringLayout, rounding_layers
from lemmata.constructions.turing.machine import busy_beaver, palindrome_machine, random_machine
from lemmata.numerics.exact.numbers import as_exact, to_float


def test_large_numbers_of_steps_compile_without_tables() -> None:
    transformer = compile_turing_machine(busy_beaver(5), 47_176_870)
    assert transformer.layout.bits == 27
    assert transformer.start_cell == 47_176_871
    assert len(transformer.layers) == 11 + 27
    assert transformer.beta(5)[transformer.layout.stream["pos1"]][-3:].tolist() == [1, 0, 1]
    for name in ("dense", "torch", "exact"):
        with pytest.raises(ValueError, match=rf"need \d+\.\d GiB in the {name} evaluator"):
            EVALUATORS[name].run(transformer, [()])


def test_stay_rule_adds_two_layers_that_are_reported() -> None:
    machine = random_machine(np.random.default_rng(0), 3, 2, "stay")
    plain, stay = (compile_turing_machine(machine, 5, left_end=rule) for rule in ("refuse", "stay"))
    assert len(stay.layers) == len(plain.layers) + 2
    rows = stay.table()
    assert (rows["C.2 end"].reads, rows["C.2 end"].writes) == (("pos2",), ("aux",))
    assert (rows["C.2 stay"].reads, rows["C.2 stay"].writes) == (("aux",), ("q",))
    assert compile_turing_machine(machine, 5).left_end == "stay"


def test_bits_grow_with_steps_rule_and_input() -> None:
    assert [needed_bits(T) for T in (1, 2, 3, 6, 7, 30, 31)] == [2, 2, 3, 3, 4, 5, 6]
    assert needed_bits(3, "two-way") == 3
    assert needed_bits(4, "two-way") == 4
    assert needed_bits(2, "refuse", 7) == 3
    assert needed_bits(2, "refuse", 8) == 4
    assert needed_bits(3, "two-way", 13) == 5  # from cell 4 on, so that the last of 13 is cell 16
    assert compile_turing_machine(palindrome_machine(), 6).max_length == 7
    assert compile_turing_machine(palindrome_machine(), 6, max_length=3).max_length == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be an integer >= 1, not 0"),
        ({"steps": True}, "steps must be an integer"),
        ({"steps": 2.0}, "steps must be an integer"),
        ({"max_length": -1}, "max_length must be an integer >= 0"),
        ({"bits": 0}, "bits must be an integer >= 1"),
        ({"bits": 3}, "need 4 bits of position, not 3"),
        ({"left_end": "wall"}, "left_end is one of"),
        ({"threshold": fmpq(1, 2)}, "between 0 and 1/2"),
        ({"threshold": fmpq(3, 4)}, "between 0 and 1/2"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_turing_machine(palindrome_machine(), **{"steps": 10, **options})


def test_identity_layers_of_the_width() -> None:
    """A layer of zero attention and an identity map keeps bits: how the source pads the depth."""
    layout = TuringLayout(2, 2, 2)
    eye = layout.affine({}, copies=tuple(layout.stream.sizes))
    head = identity_attention(layout.width)
    padding = DecoderLayer("padding", head, head, FeedForward((eye, *rounding_layers(layout.width, fmpq(1, 3)))))
    bits = np.random.default_rng(0).integers(0, 2, size=(1, layout.width)).astype(float)
    z = padding.map(to_float)(bits, bits, bits)
    assert np.abs(z - bits).max() < 1e-14
    assert padding.one_norm == 10 * layout.width


def test_rounding_is_flat_near_the_bits() -> None:
    expand, collapse = rounding_layers(1, fmpq(1, 3))
    assert collapse.weight.dtype == np.int64  # the slope is 3
    assert rounding_layers(1, fmpq(1, 5))[1].weight.tolist() == [[fmpq(5, 3)], [fmpq(-5, 3)]]
    values = as_exact([[-5], [0], ["1/3"], ["1/2"], ["2/3"], [1], [7]])
    hidden = np.maximum(expand(values), fmpq(0))
    assert np.maximum(collapse(hidden), fmpq(0))[:, 0].tolist() == [0, 0, 0, fmpq(1, 2), 1, 1, 1]


def test_the_size_that_is_refused_is_that_of_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """To 3 per cent, on small transformers."""
    machine = palindrome_machine()
    size = sum(array.nbytes for layer in compile_turing_machine(machine, 6).layers for array in layer.arrays())
    monkeypatch.setattr(compiler, "LARGEST_WEIGHTS", size)
    compile_turing_machine(machine, 6)
    monkeypatch.setattr(compiler, "LARGEST_WEIGHTS", int(0.97 * size))
    with pytest.raises(ValueError, match="use fewer states"):
        compile_turing_machine(machine, 6)
