"""Named blocks and directions: what they select and join, and that directions of two streams do not mix."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from lemmata.constructions.networks.stream import Directions, ResidualStream

STREAM = ResidualStream({"a": 2, "b": 3, "1": 1})
OTHER = ResidualStream({"b": 3, "a": 2, "1": 1})


def coordinates(directions: Directions) -> list:
    return directions.coordinates.tolist()


def test_streams_are_equal_by_their_blocks_in_order() -> None:
    assert ResidualStream({"a": 2, "b": 3, "1": 1}) == STREAM == pickle.loads(pickle.dumps(STREAM))
    assert OTHER != STREAM
    assert OTHER.width == STREAM.width == 6
    assert len({STREAM, OTHER, ResidualStream(dict(STREAM.sizes))}) == 2


def test_directions_of_blocks() -> None:
    assert coordinates(STREAM.directions("1", "a")) == [5, 0, 1]
    assert coordinates(STREAM.directions()) == list(range(6))
    assert STREAM.directions("b", "1").names == ("b", "1")
    assert [coordinates(part) for part in STREAM.directions("b")] == [2, 3, 4]
    with pytest.raises(ValueError, match="There is no block 'c'; the blocks are a, b, 1"):
        STREAM.directions("c")


def test_directions_are_selected_reshaped_and_joined_as_arrays_are() -> None:
    a, b, one = (STREAM.directions(name) for name in STREAM.sizes)
    table = STREAM.directions("b", "1", "a").reshape(2, 3)
    assert coordinates(table) == [[2, 3, 4], [5, 0, 1]]
    assert coordinates(table.T) == [[2, 5], [3, 0], [4, 1]]
    assert coordinates(table[1]) == coordinates(one + a) == [5, 0, 1]
    assert coordinates(a.repeat(2)) == [0, 0, 1, 1]
    assert coordinates(one.broadcast(2, 2)) == [[5, 5], [5, 5]]
    assert coordinates(Directions.stack([b, one], axis=-1)) == [[2, 5], [3, 5], [4, 5]]
    assert coordinates(Directions.stack([b, one])) == [[2, 3, 4], [5, 5, 5]]
    assert (len(table), table.shape) == (2, (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        a.coordinates[0] = 1


def test_directions_read_vectors_and_mark_coordinates() -> None:
    z = np.arange(12).reshape(2, 6)
    assert STREAM.directions("1", "a").of(z).tolist() == [[5, 0, 1], [11, 6, 7]]
    assert STREAM.directions("a").reshape(2, 1).of(z[0]).tolist() == [[0], [1]]
    assert STREAM.directions("a", "1").mask().tolist() == [True, True, False, False, False, True]
    with pytest.raises(ValueError, match="5 coordinates, but the stream has 6"):
        STREAM.directions("a").of(z[:, :5])


def test_matrices_between_directions_and_streams() -> None:
    a, b = STREAM.directions("a"), STREAM.directions("b")
    matrix = STREAM.matrix({(a, b[:2]): 2 * np.eye(2, dtype=int), (b[:1], b[:1]): 1})
    rows = np.arange(6)
    assert (rows @ matrix).tolist() == [0, 0, 2 * 0 + 2, 2 * 1, 0, 0]
    into = STREAM.matrix({(a, OTHER.directions("a")): np.eye(2, dtype=int)}, into=OTHER)
    assert (rows @ into).tolist() == [0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize(
    "mix",
    [
        lambda a, b: a + b,
        lambda a, b: Directions.stack([a, b]),
        lambda a, b: STREAM.matrix({(a, b): 1}),
        lambda a, b: b.require(STREAM),
    ],
    ids=["+", "stack", "matrix", "require"],
)
def test_directions_of_two_streams_do_not_mix(mix: Callable[[Directions, Directions], object]) -> None:
    with pytest.raises(ValueError, match=r"directions of the stream \(b, a, 1\), but those of \(a, b, 1\) are needed"):
        mix(STREAM.directions("a"), OTHER.directions("a"))


class TestResidualStream:
    def test_blocks_lie_one_after_the_other(self) -> None:
        stream = ResidualStream({"a": 2, "b": 1, "c": 3})
        assert stream.width == 6
        assert [stream[name] for name in "abc"] == [slice(0, 2), slice(2, 3), slice(3, 6)]

    def test_matrices_map_block_to_block(self) -> None:
        stream = ResidualStream({"a": 2, "b": 1})
        assert stream.matrix({("a", "b"): [[5], [7]]}).tolist() == [[0, 0, 5], [0, 0, 7], [0, 0, 0]]
        assert stream.rows(2, {"b": [[1], [2]]}).tolist() == [[0, 0, 1], [0, 0, 2]]
        assert stream.readout(2, {"b": [[1, 2]]}).tolist() == [[0, 0], [0, 0], [1, 2]]

    def test_unknown_blocks_and_bad_sizes_are_refused(self) -> None:
        with pytest.raises(ValueError, match="no block 'x'; the blocks are a"):
            ResidualStream({"a": 2})["x"]
        for sizes in ({}, {"a": 0}, {"a": 1.5}):
            with pytest.raises(ValueError, match="sizes >= 1"):
                ResidualStream(sizes)  # type: ignore[arg-type]
