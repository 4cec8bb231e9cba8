"""Recurrent networks for simple token regression: without error, and with the document's budget of errors.

Every hidden state and every output is compared with what the indices select, which no network computes here. All of it
is exact unless it says otherwise. The proofs are in `proofs/exact-recurrence.md` and `proofs/budgeted-recurrence.md`.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.recurrent import RecurrentLayer
from lemmata.constructions.tokens.budgeted import approximate_transition, budget, budgeted_network, link_constant
from lemmata.constructions.tokens.recurrent import (
    exact_network,
    exact_transition,
    gated_update,
    recurrent_network,
    root_above,
)
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.functions.interpolation import square
from lemmata.numerics.tokens.codes import PositionCodes, extremal_codes, field_codes, orthonormal_codes
from lemmata.numerics.tokens.encoding import encode
from lemmata.numerics.tokens.links import ReluLink, linear_link, max_link, mean_link
from lemmata.numerics.tokens.prompts import Prompts
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.plugin import Effort

EXACT = "qstr:construction-exact-rnn"
PSI = "qstr:construction-psi"
TRANSITION = "qstr:proposition-26"
STATES = "qstr:corollary-27"
WHOLE = "qstr:proposition-28"


def quadratic_codes(count: int) -> PositionCodes:
    """Signs (-1)^(Q(v) + l(v)) of the points v of F_2^4, for forms Q of degree 2 and l of degree 1, over 4.

    Two of them agree in 4 to 12 of 16 places: at most 1024 codes with correlations of exactly 0 and +-1/2.
    """
    points = np.array(list(itertools.product((0, 1), repeat=4)))
    pairs = list(itertools.combinations(range(4), 2))
    rows = []
    for number in range(count):
        bits = [number >> k & 1 for k in range(10)]
        value = sum(b * points[:, k] for k, b in enumerate(bits[:4]))
        value = value + sum(b * points[:, i] * points[:, j] for b, (i, j) in zip(bits[4:], pairs, strict=True))
        rows.append(1 - 2 * (value % 2))
    codes = PositionCodes(np.array(rows), 16)
    codes.require_near_orthogonal()
    return codes


def all_signs() -> PositionCodes:
    """Eight sign codes of dimension 4, one of each pair of antipodes; both signs in every coordinate."""
    rows = [s for s in itertools.product((1, -1), repeat=4) if s[0] == 1]
    return PositionCodes(np.array([[-a for a in s] if k % 3 == 1 else list(s) for k, s in enumerate(rows)]), 4)


def codes_of_the_largest_error() -> PositionCodes:
    """Five unit vectors of dimension 8 with products 1/2 that the network of inner products takes for 5/8.

    All coordinates are 1 mod 4 over 8, so that the sum of two lies half-way between knots and the difference on one.
    """
    return PositionCodes(
        np.array(
            [
                [1, 5, 1, 1, -3, -3, -3, -3],
                [-3, -3, 1, -3, 1, 5, -3, 1],
                [-7, -3, 1, 1, 1, 1, 1, 1],
                [-3, -3, -3, 1, -3, 5, 1, 1],
                [1, 5, -3, -3, -3, -3, 1, 1],
            ]
        ),
        64,
    )


def codes_that_need_all_pieces() -> PositionCodes:
    """Four unit vectors of dimension 16 with products 1/2 that a network of four pieces takes for 3/4."""
    vectors = np.ones((4, 16), dtype=np.int64)
    for vector, left_out in zip(vectors, ((6, 7), (4, 5), (2, 3), (0, 1)), strict=True):
        vector[:8] = -3
        vector[list(left_out)] = 1
    return PositionCodes(vectors, 64)


def tokens(rng: np.random.Generator, *shape: int, bound: int = 2) -> np.ndarray:
    """Random rationals in [-B, B], the ends among them."""
    values = [fmpq(int(a), 12) * bound for a in rng.integers(-12, 13, int(np.prod(shape)))]
    return np.array(values, dtype=object).reshape(shape)


def every_index(length: int, dimension: int, sparsity: int, seed: int, draws: int = 1) -> Prompts:
    """Prompts with every t in [N]^q, each with fresh random rational tokens."""
    t = np.array(list(itertools.product(range(length), repeat=sparsity)) * draws)
    x = tokens(np.random.default_rng(seed), len(t), length, dimension)
    return Prompts(x, np.repeat(t[:, None], length, axis=1))


def expected_states(prompts: Prompts) -> tuple[np.ndarray, np.ndarray]:
    """Slot by slot and position by position: x_(t_l) if t_l lies strictly before (after) the position, else 0."""
    n, N, q, d = prompts.count, prompts.length, prompts.sparsity, prompts.dimension
    past, future = np.full((2, n, N, q * d), fmpq(0), dtype=object)
    for k, i, l in itertools.product(range(n), range(N), range(q)):
        t = int(prompts.indices[k, i, l])
        for states, there in ((past, t < i), (future, t > i)):
            if there:
                states[k, i, l * d : (l + 1) * d] = prompts.tokens[k, t]
    return past, future


def is_exact(network: RecurrentLayer, prompts: Prompts, codes: PositionCodes, link: ReluLink) -> bool:
    z = encode(prompts, codes, "recurrent")
    expected = expected_states(prompts)
    states = all((found == wanted).all() for found, wanted in zip(network.states(z), expected, strict=True))
    return states and bool((network(z)[..., 0] == written_out(link, prompts)).all())


def written_out(link: ReluLink, prompts: Prompts) -> np.ndarray:
    """The labels by loops: a^T relu(W (x_(t_1); ...; x_(t_q)) + b)."""
    result = np.empty((prompts.count, prompts.length), dtype=object)
    for k, i in np.ndindex(result.shape):
        chosen = [prompts.tokens[k, t] for t in prompts.indices[k, i]]
        total = fmpq(0)
        for a, W, b in zip(link.output, link.weight, link.bias, strict=True):
            inner = sum(
                (w * x for row, token in zip(W, chosen, strict=True) for w, x in zip(row, token, strict=True)), b
            )
            total += a * max(inner, fmpq(0))
        result[k, i] = total
    return result


LINKS = {
    (1, 1): linear_link([[3]]),
    (1, 3): max_link([[1], [2], [-1]], [[0], [1], [3]]),
    (2, 2): max_link([[1, 2], [-1, 3]], [[0, 1], [2, -2]]),
    (3, 1): ReluLink(np.array([2, -1, 3, 1]), np.arange(12).reshape(4, 1, 3) % 5 - 2, np.array([1, 0, -1, 2])),
}
SMALL: list[tuple[str, int, int, PositionCodes, Any]] = [
    ("signs of dimension 4", 1, 1, all_signs(), "sign"),
    ("quadratic signs", 2, 2, quadratic_codes(7), "sign"),
    ("quadratic signs", 1, 3, quadratic_codes(5), "sign"),
    ("field codes", 3, 1, field_codes(9, 4, 3), "sign"),
    ("extremal codes", 2, 2, extremal_codes(4), "unit"),
    ("extremal codes", 1, 3, extremal_codes(3), "unit"),
    ("orthonormal codes", 3, 1, orthonormal_codes(5), "unit"),
    ("quadratic signs as unit vectors", 2, 2, quadratic_codes(3), "unit"),
    ("codes that need all pieces", 1, 1, codes_that_need_all_pieces(), "unit"),
    ("codes of the largest error", 1, 1, codes_of_the_largest_error(), "unit"),
]


@check(EXACT, grade="exact", target="printed", cases="all t for 10 pairs of (d, q) and codes, N = 3, ..., 9, random x")
@check(STATES, grade="exact", target="printed", cases="eps = 0: all t for 10 pairs of (d, q) and codes, random x")
@proof_steps("exact-recurrence.md: 6, 7, 8, 11")
@pytest.mark.parametrize(("name", "d", "q", "codes", "kind"), SMALL, ids=[f"{s[0]}-{s[1]}-{s[2]}" for s in SMALL])
def test_all_states_and_outputs_are_exact(name: str, d: int, q: int, codes: PositionCodes, kind: Any) -> None:
    link = LINKS[d, q]
    network = exact_network(d, q, codes.dimension, 2, link, kind)
    prompts = every_index(codes.count, d, q, seed=17)
    assert is_exact(network, prompts, codes, link)
    assert len(set(written_out(link, prompts)[:, 0].tolist())) > 3


@check(EXACT, grade="exact", target="printed", cases="N = 200, d = 1, q = 2, d_e = 16, 2 t (full: 40); floats, torch")
@check(STATES, grade="exact", target="printed", cases="eps = 0, N = 200, d = 1, q = 2, d_e = 16, 2 t (full: 40)")
@proof_steps("exact-recurrence.md: 7")
def test_two_hundred_tokens_are_held_without_error(effort: Effort) -> None:
    """Exactly; in float64 and in torch too, since all numbers here are multiples of 1/4 below 2^10."""
    import torch

    rng, codes = np.random.default_rng(5), quadratic_codes(200)
    n = effort.pick(quick=2, full=40)
    x = as_exact(rng.integers(-8, 9, (n, 200, 1))) / 4
    t = rng.integers(0, 200, (n, 1, 2))
    t[0], t[1] = (0, 199), (7, 7)
    prompts = Prompts(x, np.repeat(t, 200, axis=1))
    link = max_link([[3], [-1]], [[1], [2]])
    network = exact_network(1, 2, 16, 2, link, "sign")
    assert is_exact(network, prompts, codes, link)
    z, labels = encode(prompts, codes, "recurrent", "float"), to_float(written_out(link, prompts))
    assert (network.to_float()(z)[..., 0] == labels).all()
    with torch.no_grad():
        assert (network.to_torch()(torch.from_numpy(z)).numpy()[..., 0] == labels).all()


@check(EXACT, grade="exact", target="printed", cases="d = 1, 2, 4, q = 1, 2, 4, d_e = 4, 16")
@proof_steps("exact-recurrence.md: 6")
def test_the_widths_are_those_of_the_construction() -> None:
    for d, q, n in itertools.product((1, 2, 4), (1, 2, 4), (4, 16)):
        transition = exact_transition(d, q, n, 3)
        assert [layer.outputs for layer in transition.layers] == [2 * d + 2 * q * n, 2 * d + q, 2 * q * d, q * d]
        assert not (transition.layers[0].weight[: q * d] != 0).any()  # the state is not read
    network = exact_network(2, 2, 16, 3, LINKS[2, 2])
    assert isinstance(network.readout, FeedForward)
    assert len(network.readout.layers) == 5


@check(EXACT, grade="exact", target="printed", supporting=True, cases="d = q = 1, N = 8, d_e = 4: each of 551 weights")
@proof_steps("exact-recurrence.md: 9")
def test_every_single_weight_matters() -> None:
    """A change by 1/8 is seen in a state or an output, but for weights that only keep a unit at 0: there, one of sign.

    All numbers are dyadic and small, so that float64 computes exactly.
    """
    codes, N = all_signs(), 8
    codes.require_near_orthogonal()
    network = exact_network(1, 1, 4, 2, linear_link([[4]])).to_float()
    x = np.random.default_rng(0).choice([-2, 2, 0.75], (64, N, 1))
    prompts = Prompts(x, np.tile(np.arange(64)[:, None, None] % N, (1, N, 1)))
    orders = (codes, PositionCodes(codes.vectors[::-1], 4))
    z = np.concatenate([encode(prompts, order, "recurrent", "float") for order in orders])
    chosen, t = np.tile(prompts.selected()[:, :, 0], (2, 1, 1)), np.tile(prompts.indices, (2, 1, 1))
    i = np.arange(N)[:, None]

    def wrong(changed: RecurrentLayer) -> bool:
        past, future = changed.states(z)
        return bool(
            (past != chosen * (t < i)).any() or (future != chosen * (t > i)).any() or (changed(z) != 4 * chosen).any()
        )

    assert not wrong(network)
    count, by_sign = 0, 0
    for part in ("forward", "backward", "readout"):
        f: Any = network.readout if part == "readout" else getattr(network, part).transition
        for number, name in itertools.product(range(len(f.layers)), ("weight", "bias")):
            values = getattr(f.layers[number], name)
            for index in np.ndindex(values.shape):
                old, count = values[index], count + 1
                if any(wrong(_moved(network, part, number, name, index, new)) for new in (old + 0.125, old - 0.125)):
                    continue
                by_sign += 1
                assert old < 0
                assert wrong(_moved(network, part, number, name, index, -old))
    assert count == 551
    assert by_sign == 20


def _moved(network: RecurrentLayer, part: str, number: int, name: str, index: Any, value: float) -> RecurrentLayer:
    """The network with one weight replaced."""
    f: Any = network.readout if part == "readout" else getattr(network, part).transition
    values = getattr(f.layers[number], name).copy()
    values[index] = value
    layers = (*f.layers[:number], replace(f.layers[number], **{name: values}), *f.layers[number + 1 :])
    changed = replace(f, layers=layers)
    if part == "readout":
        return replace(network, readout=changed)
    return replace(network, **{part: replace(getattr(network, part), transition=changed)})


@check(
    EXACT, grade="exact", target="printed", supporting=True, cases="collisions, |x| > B, a threshold of 3/8: each wrong"
)
@proof_steps("exact-recurrence.md: 9")
def test_each_hypothesis_is_needed() -> None:
    codes, link = quadratic_codes(5), LINKS[1, 1]
    network = exact_network(1, 1, 16, 2, link)
    prompts = every_index(5, 1, 1, seed=3)
    assert is_exact(network, prompts, codes, link)
    collision = PositionCodes(codes.vectors[[0, 1, 2, 1, 4]], 16)
    assert collision.violations() == [(1, 3, fmpq(1))]
    assert not is_exact(network, prompts, collision, link)
    beyond = Prompts(prompts.tokens * fmpq(3, 2), prompts.indices)
    assert not is_exact(network, beyond, codes, link)
    assert is_exact(exact_network(1, 1, 16, 3, link), beyond, codes, link)
    cell = network.forward
    assert cell is not None
    second = cell.transition.layers[1]  # type: ignore[union-attr]
    gate = second.bias.copy()
    gate[-1] += fmpq(1, 4)  # relu(2 p - 3/4): open from p = 3/8 on
    assert not is_exact(_moved(network, "forward", 1, "bias", (len(gate) - 1,), gate[-1]), prompts, codes, link)


# ---- the update map and its errors


@check(
    PSI, grade="exact", target="printed", cases="200 codes with correlations 0, +-1/2, all pairs (i, t), x at 3 places"
)
@proof_steps("exact-recurrence.md: 1")
def test_the_gate_is_the_indicator() -> None:
    codes = quadratic_codes(200)
    products = as_exact(codes.gram) / 16
    for x in (fmpq(-7, 3), fmpq(1), fmpq(5)):
        found = gated_update(np.full((200, 1), x, dtype=object), products)
        assert (found[..., 0] == as_exact(np.eye(200, dtype=np.int64)) * x).all()


@check(
    PSI,
    grade="exact",
    target="printed",
    cases="d_e = 2 N + 2, N = 3, 5 codes with all correlations 1/2, q = 2, d = 1",
)
@proof_steps("exact-recurrence.md: 10")
def test_exact_zeros_keep_the_error_bounded_and_small_ones_do_not() -> None:
    """Uniform errors eps/2 add up to the number of steps times one of them; with exact zeros sqrt(q) eps remains."""
    eps = fmpq(1)
    for N in (3, 5):
        codes = extremal_codes(N)
        prompts = Prompts(np.full((1, N, 1), fmpq(1), dtype=object), np.tile([[N - 1, 1]], (1, N, 1)))
        z, (past, _) = encode(prompts, codes, "recurrent"), expected_states(prompts)
        off = []
        for rectified in (True, False):
            transition = approximate_transition(1, 2, codes.dimension, 1, eps, rectified=rectified)
            network = recurrent_network(transition, transition_readout(transition), 4 * N)
            off.append(network.states(z)[0][0] - past[0])
        squares = [(row * row).sum() for row in off[0]]
        assert max(squares) <= 2 * eps**2
        assert (off[0][:, 0] == 0).all()  # t_1 is still to come
        single = off[1][1, 0]
        assert 0 < single <= eps / 2
        assert (off[1][:, 0] == single * as_exact(np.arange(N))).all()


def transition_readout(transition: FeedForward) -> FeedForward:
    """Some read-out of the right width, which is not used."""
    m, D = transition.outputs, transition.inputs - transition.outputs
    return FeedForward((Affine(np.ones((2 * m + D, 1), dtype=np.int64)),))


# ---- the document's networks

BUDGETS = [(1, 1, 1, fmpq(1, 2)), (1, 2, 2, fmpq(1, 4)), (2, 1, 1, fmpq(1, 3)), (2, 2, 1, fmpq(3))]


@check(
    TRANSITION, grade="exact", target="printed", cases="4 choices of (d, q, r_x, eps), N = 5, all (i, t), random h, x"
)
@proof_steps("budgeted-recurrence.md: 3")
@pytest.mark.parametrize(("d", "q", "r", "eps"), BUDGETS)
def test_the_transition_is_close_and_exactly_zero_elsewhere(d: int, q: int, r: int, eps: fmpq) -> None:
    """In the 2-norm of a slot, by the error eps/sqrt(d) of its coordinates."""
    codes, rng = all_signs(), np.random.default_rng([d, q])
    transition = approximate_transition(d, q, 4, fmpq(r), eps / root_above(fmpq(d)))
    prompts = every_index(5, d, q, seed=1)
    x = tokens(rng, prompts.count, 5, d, bound=1) * r / root_above(fmpq(d))
    x[0, 0] = as_exact([r] + [0] * (d - 1))
    h = tokens(rng, prompts.count, 5, q * d, bound=9)
    z = encode(Prompts(x, prompts.indices), codes, "recurrent")
    found = transition(np.concatenate([h, z], axis=-1)).reshape(prompts.count, 5, q, d)
    here = prompts.indices == np.arange(5)[:, None]
    assert (found[~here] == 0).all()
    gaps = found - x[:, :, None, :]
    squares = (gaps * gaps).sum(axis=-1)[here]
    assert max(squares) <= eps**2
    assert max(squares) > 0


@check(
    TRANSITION,
    grade="exact",
    target="printed",
    cases="10 choices of (d, q, r_x, eps, d_e) against explicit polynomials",
)
@proof_steps("budgeted-recurrence.md: 4, 5")
def test_norms_and_widths_are_below_polynomials() -> None:
    """Steps 4 and 5 of the proof, rho = 1 + max(1, r_x), D = d + (q + 1) d_e, E = 1 + 1/min(eps, 2 max(1, r_x)).

    Also for tokens that are much shorter than the error, where a budget for the tokens alone would have no bound.
    """
    short: list[Any] = [(fmpq(1, 10**5), fmpq(2)), (fmpq(1, 10**5), fmpq(1, 2)), (fmpq(1, 100), 50), (fmpq(3), 50)]
    cases: list[Any] = [*((*b, 4) for b in BUDGETS), (1, 1, 4, fmpq(1, 4), 4), (1, 1, 1, fmpq(2), 16)]
    for d, q, r, eps, n in cases + [(1, 1, r, eps, 4) for r, eps in short]:
        first, second, third, last = approximate_transition(d, q, n, r, eps).layers
        most = max(fmpq(1), fmpq(r))
        rho, D, E = 1 + most, d + (q + 1) * n, 1 + 1 / min(fmpq(eps), 2 * most)
        m = [first.outputs, second.outputs, third.outputs]
        assert m[0] <= 21 * rho**2 * E * D**2
        assert m[1] <= fmpq(11, 2) * rho * E * D**2
        assert m[2] == 2 * q * d
        assert squared(first.weight) <= m[0]
        assert squared(first.bias) <= m[0]
        assert squared(second.weight) <= 66 * D * m[1]
        assert squared(second.bias) <= m[1]
        assert squared(third.weight) <= 2 * m[1] * (fmpq(12, 5) * rho**2) ** 2
        assert squared(third.bias) <= 2 * q * d * rho**2
        assert squared(last.weight) == 2 * q * d


def squared(array: np.ndarray) -> fmpq:
    return sum((fmpq(x) ** 2 for x in array.ravel().tolist()), fmpq(0))


@check(
    STATES, grade="exact", target="printed", cases="3 choices of (d, q, r_x, eps), N = 4, all t; the least radius r_h"
)
@proof_steps("exact-recurrence.md: 11")
@pytest.mark.parametrize(("d", "q", "r", "eps"), BUDGETS[:3])
def test_states_with_errors_that_do_not_add_up(d: int, q: int, r: int, eps: fmpq) -> None:
    codes = all_signs()
    transition = approximate_transition(d, q, 4, r, eps)
    radius = root_above(fmpq(q)) * (r + root_above(fmpq(d)) * eps)
    network = recurrent_network(transition, transition_readout(transition), radius)
    free = replace(network, **{name: replace(getattr(network, name), bound=None) for name in ("forward", "backward")})
    prompts = every_index(4, d, q, seed=2)
    prompts = Prompts(prompts.tokens * fmpq(r, 2) / root_above(fmpq(d)), prompts.indices)
    z, reached = encode(prompts, codes, "recurrent"), fmpq(0)
    held = expected_states(Prompts(prompts.tokens * 0 + 1, prompts.indices))  # 1 where a slot holds its token
    given = zip(network.states(z), free.states(z), expected_states(prompts), held, strict=True)
    for found, unbounded, wanted, present in given:
        assert (found == unbounded).all()  # the projection does nothing
        assert (found[present == 0] == 0).all()
        reached = max(reached, *np.abs(found - wanted)[present == 1].tolist())
        assert reached <= eps
    assert reached > 0


def _square_link(r: int, pieces: int) -> tuple[ReluLink, fmpq]:
    """The interpolant of x^2 on [-r, r] as a link of one token, and its error."""
    sums = square(r, pieces)
    return ReluLink(sums.coefficients, sums.directions[:, None, :1], sums.directions[:, 1]), sums.error


@check(WHOLE, grade="exact", target="printed", cases="x^2, d = q = 1, one piece (full: two), N = 4, all t, random x")
@proof_steps("budgeted-recurrence.md: 7, 8")
def test_the_whole_network_stays_within_twice_the_error_of_the_link(effort: Effort) -> None:
    """(C.11) for g = x^2, which no ReLU network is: within 2 e of g; the network without errors within e, attained."""
    codes, pieces = all_signs(), effort.pick(quick=1, full=2)
    link, e = _square_link(1, pieces)
    prompts = every_index(4, 1, 1, seed=4, draws=2)
    x = prompts.tokens / 2
    x[0] = fmpq(1, 2 * pieces)  # the middle of a piece, where the link is off by e
    x[1], x[2] = fmpq(1), fmpq(-1)
    prompts = Prompts(x, prompts.indices)
    z, chosen = encode(prompts, codes, "recurrent"), prompts.selected()[:, :, 0, 0]
    for network, factor in ((budgeted_network(1, 1, 4, 1, link, e), 2), (exact_network(1, 1, 4, 1, link), 1)):
        gaps = np.abs(network(z)[..., 0] - chosen * chosen)
        assert max(gaps.ravel().tolist()) <= factor * e
        assert max(gaps.ravel().tolist()) >= e * fmpq(9, 10)


@check(WHOLE, grade="exact", target="printed", cases="3 links, one with biases, d q <= 2, N = 3, all t; radius, budget")
@proof_steps("budgeted-recurrence.md: 7")
@pytest.mark.parametrize(
    ("d", "q", "link"),
    [
        (1, 2, max_link([[1], [2]], [[3], [-1]])),
        (2, 1, linear_link([[2, -1]])),
        (1, 1, ReluLink(np.array([2, -1, 1]), np.array([[[1]], [[-2]], [[1]]]), np.array([3, 1, -1]))),
    ],
)
def test_the_budget_suffices_for_links_without_error(d: int, q: int, link: ReluLink) -> None:
    codes, e = all_signs(), fmpq(5)
    network = budgeted_network(d, q, 4, 1, link, e)
    assert network.forward is not None
    bound: Any = network.forward.bound
    L = link_constant(link)
    assert link.output_radius * link.weight_radius <= float(L) <= link.output_radius * link.weight_radius + 0.01
    assert float(bound.radius) >= q**0.5 + float(e / L)
    eps_h, eps_y = budget(d, q, e, L)
    assert 2 * eps_h + eps_y == 4 * eps_h
    assert abs(float(4 * eps_h * L) * (q * d) ** 0.5 - float(e)) < 0.01
    prompts = every_index(3, d, q, seed=6)
    prompts = Prompts(prompts.tokens / (2 * root_above(fmpq(d))), prompts.indices)
    gaps = np.abs(network(encode(prompts, codes, "recurrent"))[..., 0] - written_out(link, prompts))
    assert 0 < max(gaps.ravel().tolist()) <= e


@check(
    WHOLE,
    grade="exact",
    target="printed",
    cases="7 choices of (d, q, d_e, link, e), r_x = 1 and 1/1000; links of up to 64 equal neurons",
)
@proof_steps("budgeted-recurrence.md: 6")
def test_norm_and_number_of_parameters_are_below_polynomials() -> None:
    """Those of step 6 of the proof; the norm does not grow with the number of neurons of the link."""
    single = max_link([[1]], [[-2]])
    copied = [
        ReluLink(
            np.repeat(as_exact(single.output), k) / k, np.repeat(single.weight, k, axis=0), np.repeat(single.bias, k)
        )
        for k in (1, 4, 64)
    ]
    norms = []
    cases: list[Any] = [(1, 1, 4, link, fmpq(4)) for link in copied]
    cases += [
        (1, 1, 16, single, fmpq(4)),
        (1, 2, 4, mean_link(2, as_exact([1])), fmpq(1)),
        (2, 1, 4, linear_link([[1, 1]]), 2),
    ]
    cases += [(1, 1, 4, single, fmpq(40))]  # errors far above the tokens for r_x = 1/1000
    for (d, q, n, link, e), radius in [*((case, fmpq(1)) for case in cases), (cases[-1], fmpq(1, 1000))]:
        network = budgeted_network(d, q, n, radius, link, e)
        eps_h, _ = budget(d, q, e, link_constant(link))
        rho, D, E = fmpq(2), d + (q + 1) * n, 1 + 1 / min(eps_h, fmpq(2))
        norm = sum((squared(array) for array in network.arrays()), fmpq(0))
        r_a, r_w = link.output_radius, link.weight_radius
        assert float(norm) <= 1500 * float(rho**5 * E * D**4) * (1 + r_a**2 + r_w**2)
        width = 25 * rho**2 * E * D**2 + link.width
        assert sum(array.size for array in network.arrays()) <= 15 * (width + 1) ** 2
        norms.append(float(norm))
        for cell in (network.forward, network.backward):
            assert cell is not None
            assert not (cell.transition.layers[0].weight[: q * d] != 0).any()  # type: ignore[union-attr]
    assert max(norms[:3]) <= 4 / 3 * norms[0]
