"""The attention head against loops over indices, in three number systems and in torch; its faults, and refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head, hard_weights
from lemmata.numerics.exact.balls import as_balls, precision
from lemmata.numerics.exact.cyclotomic.numbers import sqrt_rational
from lemmata.numerics.exact.numbers import as_exact, to_float
from tests.constructions.networks.head_loops import (
    EPS,
    head_by_loops,
    integers,
    random_head,
    rich_head,
    scores_by_loops,
)

SEEDS = st.integers(0, 10**6)
WEIGHINGS = st.sampled_from(["softmax", "hardmax", "relu"])


def plain(query: Any, key: Any, value: Any, **options: Any) -> Head:
    return Head(Affine.of(query), Affine.of(key), Affine.of(value), **options)


@st.composite
def cases(draw: Any) -> tuple[Head, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """A rich head with integer tokens, a memory or none, and a mask that leaves every token something, or none."""
    seed, weigh, causal = draw(SEEDS), draw(WEIGHINGS), draw(st.booleans())
    T, with_memory, masked = draw(st.integers(1, 4)), draw(st.booleans()), draw(st.booleans())
    rng = np.random.default_rng(seed + 1)
    n = draw(st.integers(1, 4)) if with_memory else T
    b, t = draw(st.sampled_from([(3, 4), (1, 1), (2, 1), (1, 9)]))
    head = rich_head(seed, weigh, memory=with_memory, causal=causal, sharpness=b, temperature_squared=t)
    visible = rng.random((T, n)) < 0.6
    visible[np.arange(T), 0 if with_memory else np.arange(T)] = True
    return head, integers(rng, T, 3), integers(rng, n, 2) if with_memory else None, visible if masked else None


def rounding(head: Head, z: np.ndarray, memory: np.ndarray | None, expected: np.ndarray) -> float:
    """How far float64 may be off: integer scores are exact, weights carry the roundings of logits up to S and n terms.

    Scaled scores carry 3 roundings, also the shift of a softmax, and its terms as many relative ones as S is large;
    outputs are sums of n values below V, and of the rows of the output map.
    """
    attended = z if memory is None else memory
    n = len(attended) + 1
    rows = [scores_by_loops(head, z.tolist(), attended.tolist(), i, range(n - 1)) for i in range(len(z))]
    S = head.scale * max(abs(s) for row in rows for s in row)
    nulls = [0] if head.null is None else head.null[1].tolist()
    V = max(np.abs(to_float(head.value(attended))).max(), np.abs(nulls).max())
    shares = S if head.weigh == "relu" else 1
    gain = 1 if head.output is None else np.abs(head.output.weight).sum(axis=0).max()
    relative = math.expm1(2 * 4 * S * EPS) + (2 * n + 16) * EPS
    return float(2 * relative * shares * V * gain + 4 * EPS * np.abs(expected).max())


class TestAgainstLoops:
    @given(case=cases())
    def test_every_weighing_mask_memory_null_pair_and_table(self, case: Any) -> None:
        """Exactly in rational numbers, enclosed in balls, within rounding in float64 and torch."""
        head, z, memory, visible = case
        with precision(200):
            lists = (z.tolist(), None if memory is None else memory.tolist())
            expected = np.array(head_by_loops(head, *lists, visible), dtype=object)
            held = None if memory is None else as_balls(memory)
            balls = head.map(as_balls)(as_balls(z), held, visible)
            for ball, oracle in zip(balls.ravel(), expected.ravel(), strict=True):
                assert arb(oracle).overlaps(ball)
                assert ball.rad() < 1e-40
        if head.weigh != "softmax":
            exact = head.map(as_exact)(as_exact(z), None if memory is None else as_exact(memory), visible)
            assert np.array_equal(exact, expected)
        target = to_float(expected)
        allowed = rounding(head, z, memory, target)
        floats = None if memory is None else memory.astype(float)
        assert np.abs(head.map(to_float)(z.astype(float), floats, visible) - target).max() <= allowed
        module = replace(head, gap=1).to_torch()  # integer scores that differ do so by 1 at least
        tensors = [None if part is None else torch.tensor(part) for part in (z.astype(float), floats, visible)]
        assert np.abs(module(*tensors).detach().numpy() - target).max() <= allowed

    @given(seed=SEEDS, T=st.integers(1, 5), rows=st.integers(0, 7), causal=st.booleans())
    def test_hard_attention_equals_the_loops_exactly(self, seed: int, T: int, rows: int, causal: bool) -> None:
        head = random_head(seed, rows=rows, weigh="hardmax", causal=causal)
        z = integers(np.random.default_rng(seed + 1), T, 3)
        exact = head.map(as_exact)(as_exact(z))
        assert np.array_equal(exact, np.array(head_by_loops(head, z.tolist()), dtype=object))
        float64 = head.map(to_float)(z.astype(float))
        # attention k/n and the sum of T products, each correctly rounded
        allowed = (T + 2) * EPS * (np.abs(z) @ np.abs(head.value.weight)).max(initial=0)
        assert np.all(np.abs(float64 - to_float(exact)) <= allowed)

    @given(seed=SEEDS, T=st.integers(1, 5), rows=st.integers(0, 7), causal=st.booleans())
    def test_softmax_in_balls_equals_the_loops(self, seed: int, T: int, rows: int, causal: bool) -> None:
        head = random_head(seed, rows=rows, causal=causal)
        z = integers(np.random.default_rng(seed + 1), T, 3)
        with precision(200):
            expected = head_by_loops(head, z.tolist())
            balls = head.map(as_balls)(as_balls(z))
        for row, oracle in zip(balls, expected, strict=True):
            for a, b in zip(row, oracle, strict=True):
                assert a.overlaps(b)
                assert a.rad() < 1e-40

    @given(seed=SEEDS, T=st.integers(1, 6), causal=st.booleans())
    def test_float_softmax_is_within_its_rounding_of_the_loops(self, seed: int, T: int, causal: bool) -> None:
        """Scores are exact integers. Logits carry 3 roundings (root, quotient, shift), the rest T + 3 on each path."""
        head = random_head(seed, causal=causal)
        z = integers(np.random.default_rng(seed + 1), T, 3)
        expected = to_float(head_by_loops(head, z.tolist()))
        scores = [s for i in range(T) for s in scores_by_loops(head, z.tolist(), z.tolist(), i, range(T))]
        largest = max(map(abs, scores)) / math.sqrt(5)
        relative = math.expm1(2 * 4 * largest * EPS) + (2 * T + 8) * EPS
        allowed = 2 * relative * (np.abs(z) @ np.abs(head.value.weight)).max()
        assert np.all(np.abs(head.map(to_float)(z.astype(float)) - expected) <= allowed)


MAPS = ("query", "key", "value", "output")
ALWAYS = ("mask", "relative keys", *MAPS, *(f"bias of {name}" for name in MAPS))
FAULTS = [
    (weigh, fault)
    for weigh, own in {
        "softmax": ("scale", "temperature", "null key", "null value"),
        "hardmax": ("null key", "null value"),  # a positive factor changes no maximum
        "relu": ("scale", "temperature"),  # which has no null pair
    }.items()
    for fault in (*ALWAYS, *own)
]


class TestFaults:
    """Every part of a head is felt: a change of it moves the output by far more than rounding does."""

    Z = np.array([[1, 0, 2], [0, 1, -1], [2, 1, 0], [1, 1, 1]])

    @pytest.mark.parametrize(("weigh", "fault"), FAULTS)
    def test_a_changed_part_changes_the_output(self, weigh: Any, fault: str) -> None:
        moved = 0.0
        for seed in range(20):  # a hard maximum may stay where it is in one example, but not in all
            head = rich_head(seed, weigh)
            faulty = self.faulty(head, fault)
            with precision(100):
                both = [to_float(part.map(as_balls)(as_balls(self.Z))) for part in (head, faulty)]
            moved = max(moved, float(np.abs(both[0] - both[1]).max()))
        assert moved > 1e-2

    @staticmethod
    def faulty(head: Head, fault: str) -> Head:
        if fault.startswith("bias of "):
            part = getattr(head, fault.removeprefix("bias of "))
            return replace(head, **{fault.removeprefix("bias of "): replace(part, bias=part.bias + 1)})
        if fault.startswith("null"):
            assert head.null is not None
            key, value = head.null
            return replace(head, null=(key + 1, value) if fault == "null key" else (key, value + 1))
        if fault in MAPS:
            return replace(head, **{fault: replace(getattr(head, fault), weight=-getattr(head, fault).weight)})
        return {
            "scale": lambda: replace(head, sharpness=head.sharpness + 1),
            "temperature": lambda: replace(head, temperature_squared=9),
            "mask": lambda: replace(head, causal=False),
            "relative keys": lambda: replace(head, relative_keys=head.relative_keys[[1, 0, 2]]),
        }[fault]()

    def test_a_hidden_token_is_not_felt_and_a_visible_one_is(self) -> None:
        head = rich_head(1, "softmax", causal=False).map(to_float)
        visible = np.array([[True, True, False, True]] * 4)
        z = self.Z.astype(float)
        changed = z.copy()
        changed[2] += 1
        rows = [0, 1, 3]  # the row of the changed token has another query
        assert np.array_equal(head(z, visible=visible)[rows], head(changed, visible=visible)[rows])
        assert np.abs(head(z)[rows] - head(changed)[rows]).max() > 1e-2

    def test_the_null_pair_is_seen_by_a_token_that_sees_nothing_else(self) -> None:
        head = rich_head(2, "softmax").map(to_float)
        assert head.null is not None
        assert head.output is not None
        alone = head(self.Z.astype(float), visible=np.zeros((4, 4), dtype=bool))
        assert np.array_equal(alone, np.tile(head.output(head.null[1]), (4, 1)))
        with pytest.raises(ValueError, match="A token sees no token"):
            replace(head, null=None)(self.Z.astype(float), visible=np.zeros((4, 4), dtype=bool))
        with pytest.raises(ValueError, match="A token sees no token"):
            plain(np.eye(3), np.eye(3), np.eye(3))(self.Z.astype(float), memory=np.zeros((0, 3)))


class TestNumbers:
    def test_huge_logits_do_not_overflow_the_softmax(self) -> None:
        head = plain(*(np.eye(2) * 1e100 for _ in range(2)), value=np.eye(2))
        assert head(np.eye(2)).tolist() == [[1, 0], [0, 1]]

    def test_scores_that_overflow_are_refused(self) -> None:
        head = plain(*(np.eye(2) * 1e200 for _ in range(2)), value=np.eye(2))
        with pytest.raises(ValueError, match="overflows float64"):
            head(np.eye(2))

    def test_integer_weights_do_not_wrap_around(self) -> None:
        """Scores near 2^96, which int64 cannot hold."""
        big = np.array([[2**32]])
        head = plain(big, np.array([[1]]), np.array([[1]]), weigh="hardmax")
        z = np.array([[2**32 + 1], [2**32]])
        assert head.scores(z, head.key(z))[1].tolist() == [2**96 + 2**64, 2**96]
        assert head.attention(z)[1].tolist() == [1, 0]

    def test_ties_of_algebraic_numbers_are_decided_exactly(self) -> None:
        """The scores at the second token are sqrt 8 and 2 sqrt 2: equal, which no float can tell."""
        root = np.array([[sqrt_rational(8)], [2 * sqrt_rational(2)]], dtype=object)
        head = plain(np.ones((1, 1), int), np.ones((1, 1), int), np.ones((1, 1), int), weigh="hardmax")
        weights = head.map(as_exact).attention(root)
        assert weights[1].tolist() == [fmpq(1, 2), fmpq(1, 2)]

    def test_exact_softmax_and_doubtful_ties_are_refused(self) -> None:
        one = np.ones((1, 1), dtype=int)
        with pytest.raises(ValueError, match="not rational"):
            plain(one, one, one).map(as_exact)(as_exact([[1], [2]]))
        hard = plain(one, one, one, weigh="hardmax")
        with pytest.raises(ValueError, match="rounding may make or break a tie"):
            hard.map(to_float)(np.array([[0.1], [0.2]]))
        with pytest.raises(ValueError, match="rounding may make or break a tie"):
            hard.map(to_float)(np.array([[2.0**30], [2.0**30]]))
        third = arb(1) / 3
        balls = np.array([[third], [third]], dtype=object)
        with pytest.raises(ValueError, match="undecided"):
            hard(balls)
        apart = hard(np.array([[third], [arb(2)]], dtype=object))
        assert apart[1, 0] == 2

    def test_a_proven_gap_decides_ties_of_float64(self) -> None:
        one = np.ones((1, 1))
        head = plain(one, one, one, weigh="hardmax", gap=0.5)
        z = np.array([[0.3], [0.1 + 0.2], [1.1]])
        assert head.attention(z)[1].tolist() == [0.5, 0.5, 0]  # 0.3 and 0.1 + 0.2 differ by rounding
        assert head.attention(z)[2].tolist() == [0, 0, 1]


def test_the_largest_scores_share_the_weight() -> None:
    for numbers in ([arb(1), arb(3), arb(3)], [fmpq(1), fmpq(3), fmpq(3)]):
        weights = hard_weights(numbers, lambda a, b: bool(a < b), isinstance(numbers[0], arb))
        assert weights == [0, numbers[0] / 2, numbers[0] / 2]


def test_bad_heads_are_refused() -> None:
    eye = np.eye(2)
    with pytest.raises(ValueError, match="the shapes are"):
        plain(eye, np.eye(3), eye)
    with pytest.raises(ValueError, match="the shapes are"):
        plain(eye, eye, eye, relative_keys=np.zeros((4, 3)))
    with pytest.raises(ValueError, match="the shapes are"):
        plain(eye, eye, eye, relative_keys=np.zeros((4, 1)))
    with pytest.raises(ValueError, match="weight \\(d, e\\)"):
        Affine(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="the shapes are"):
        plain(eye, eye, eye, null=(np.ones(2), np.ones(3)))
    with pytest.raises(ValueError, match="the shapes are"):
        plain(eye, eye, eye, output=Affine(np.eye(3)))
    for temperature in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="temperature_squared"):
            plain(eye, eye, eye, temperature_squared=temperature)
    with pytest.raises(ValueError, match="softmax, hardmax, relu, not by 'max'"):
        plain(eye, eye, eye, weigh="max")
    with pytest.raises(ValueError, match="ReLU attention has no null pair"):
        plain(eye, eye, eye, weigh="relu", null=(np.ones(2), np.ones(2)))
    for name in ("sharpness", "gap"):
        with pytest.raises(ValueError, match=f"The {name} must be positive"):
            plain(eye, eye, eye, **{name: 0})
    with pytest.raises(ValueError, match="Relative keys need distances"):
        plain(eye, eye, eye, relative_keys=np.ones((1, 2)))(np.eye(2), memory=np.eye(2))


def test_scores_in_balls_are_divided_by_the_root_of_every_temperature() -> None:
    """Two tokens, scores 1 and 0 over the root of 1, 2 and 3: the first has the share of a logistic function."""
    for temperature in (1, 2, 3):
        head = plain([[1], [0]], [[1], [0]], [[1], [0]], temperature_squared=temperature, causal=False)
        (found,) = head.map(as_balls)(as_balls(np.eye(2)))[0].tolist()
        assert abs(found - 1 / (1 + (-1 / arb(temperature).sqrt()).exp())) < 1e-12
