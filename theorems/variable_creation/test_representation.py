"""Heads that select a few positions: lemmas A.19 to A.21, with all weights of the library.

The general statements are proved in proofs/representation.md. Here heads are certified for all strings at once by
balls, and compared with all strings one by one, or with closed forms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.sparse.network import certify_sparse
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.sparse.compact import compact_selection
from lemmata.constructions.sparse.compiler import SparseNetwork, compile_sparse
from lemmata.constructions.sparse.functions import is_strictly_monotone, separation, sparse_function
from lemmata.constructions.sparse.positions import (
    CodedPositions,
    Positions,
    PositionTable,
    coherence,
    orthonormal_positions,
)
from lemmata.numerics.exact.balls import as_balls, ball_max
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.exact.precision import precision
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.variable_creation.instances import (
    ROUNDING,
    general,
    kappa,
    sharpened,
    signs,
    squared_norms_within,
    strings,
    with_heads,
)

FAMILIES: list[tuple[Positions, int]] = [
    *((orthonormal_positions(12), s) for s in (1, 2, 3, 4)),
    (signs(12, 10, 0), 2),
    (signs(12, 14, 1), 3),
    (signs(40, 14, 1), 2),
    (CodedPositions(10_000, 16, 4), 3),
]
FAMILY_CASES = (
    "12 orthonormal positions with s = 1, 2, 3, 4; random signs with T = 12, s = 2, 3 and T = 40, s = 2; 10,000 codes "
    "with s = 3; gamma = 1/100 and the largest; all strings"
)


def family_coherence(positions: Positions) -> fmpq:
    if isinstance(positions, CodedPositions):
        return positions.coherence_bound
    return coherence(positions)[0]


@check("variable-creation:lemma-A.19a", grade="numeric", target="corrected", cases=FAMILY_CASES)
@proof_steps("representation.md: 2")
@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_one_head_selects_uniformly(number):
    positions, s = FAMILIES[number]
    T, delta = positions.count, family_coherence(positions)
    assert (2 * s - 1) * delta < 1
    for gamma in (fmpq(1, 100), min(fmpq(1), fmpq(2, s))):
        target = [fmpq(2 * r - s, s) for r in range(s + 1)]
        assert is_strictly_monotone(target, fmpq(2, s))
        network = compile_sparse(sparse_function(T, range(s), target), positions=positions, gamma=gamma)
        certificate = certify_sparse(network)
        assert certificate.error <= gamma / 4
        assert worst_float_error(network, target) <= float(certificate.error) + 1e-12
        largest = (8 * T / arb(gamma)).log() / arb(1 - kappa(s, delta)) + ROUNDING
        assert squared_norms_within(network, W_Q=largest, W_K=s, W_V=2, W_C=1)
        assert network.squared_norms()["W_K"] <= s / (1 - (s - 1) * delta)


def worst_float_error(network: SparseNetwork, target: list[fmpq]) -> float:
    """The distance of the head's first number from the target, on all strings or those with extreme symbols off I."""
    function = network.function
    T, s = function.length, function.sparsity
    if T > 1000:
        return 0.0
    if T <= 12:
        x = strings(T)
    else:
        x = np.concatenate([np.full((2**s, T), c) for c in (0, 1)])
        x[:, list(function.indices)] = np.tile(strings(s), (2, 1))
    found = network.to_float().selected(x)[:, 0]
    counts = x[:, list(function.indices)].sum(axis=1)
    return float(np.abs(found - to_float(target)[counts]).max())


@counterexample("variable-creation:lemma-A.19a", grade="exact", supporting=True)
@proof_steps("representation.md: 3")
def test_the_printed_values_decrease_with_the_number_of_ones():
    """W_V = E_0 - E_1: the limit of the head is (s - 2 r)/s, which is not monotone as the lemma says."""
    network = compile_sparse(sparse_function(6, (1, 4), [0, 1, 2]))
    printed = with_heads(network, lambda head: replace(head, value=Affine(-head.value.weight)))
    x = np.zeros((3, 6), dtype=int)
    x[1:, 1], x[2, 4] = 1, 1
    found = printed.to_balls().selected(x)[:, 0]
    assert found[0] > found[1] > found[2]
    assert not is_strictly_monotone([fmpq(2 - 2 * r, 2) for r in range(3)], 0)


@counterexample("variable-creation:lemma-A.19a", grade="enclosed", supporting=True)
@proof_steps("representation.md: 3")
def test_the_printed_key_is_not_uniform():
    """s = 3, T = 400, a coherence below 1/3: with the printed key and R the head is off by more than gamma/4."""
    function = sparse_function(400, (0, 1, 2), [0, 1, 2, 3])
    printed = compile_sparse(function, positions=signs(400, 12, 1), key="printed")
    x = np.zeros((8, 400), dtype=int)
    x[:, :3] = strings(3)
    target = (2 * x[:, :3].sum(axis=1) - 3) / 3
    worst = int(np.argmax(np.abs(printed.to_float().selected(x)[:, 0] - target)))
    found = printed.to_balls().selected(x[worst : worst + 1])[0, 0]
    assert abs(found - arb(fmpq(2 * int(x[worst, :3].sum()) - 3, 3))) > arb(printed.gamma) / 4
    assert certify_sparse(compile_sparse(function, positions=signs(400, 12, 1))).error <= fmpq(1, 24)


COHERENT: tuple[Positions, int] = (signs(12, 5, 0), 2)


@check(
    "variable-creation:lemma-A.19b",
    grade="numeric",
    target="printed",
    cases=FAMILY_CASES + "; and 12 sign vectors with s = 2 and Delta = 11/25, between 1/3 and 1/2",
)
@proof_steps("representation.md: 4")
@pytest.mark.parametrize("number", range(len(FAMILIES) + 1))
def test_one_head_for_each_position(number):
    """R = log(8 T/gamma)/(1 - Delta), rounded down to a multiple of 2^-32, is below the printed norm of W_Q."""
    positions, s = [*FAMILIES, COHERENT][number]
    T, delta = positions.count, family_coherence(positions)
    assert s * delta < 1
    assert (number < len(FAMILIES)) == ((2 * s - 1) * delta < 1)
    words = strings(s)
    assert separation(1 - 2 * words) == 2
    for gamma in (fmpq(1, 100), fmpq(1)):
        largest = (8 * T / arb(gamma)).log() / arb(1 - s * delta)
        sufficient = (8 * T / arb(gamma)).log() / arb(1 - delta)
        network = sharpened(general(T, range(s), positions=positions, gamma=gamma), sufficient)
        certificate = certify_sparse(network)
        assert certificate.error <= gamma / 4
        assert len(network.attention.heads) == s
        if T <= 12:
            found = network.to_float().selected(strings(T))
            assert np.abs(found - (1 - 2 * strings(T)[:, :s])).max() <= float(certificate.error) + 1e-12
        assert arb(network.squared_norms()["W_Q"]) <= largest**2
        assert squared_norms_within(network, W_K=1, W_V=2, W_C=1)


@check("variable-creation:lemma-A.19b", grade="enclosed", target="printed", supporting=True)
@proof_steps("representation.md: 4")
def test_the_printed_values_in_another_coordinate_are_lost():
    """W_V = (E_0 - E_1) e_2^T and W_C = e_1 e_h^T: the product is 0, and so are all outputs."""
    network = general(5, (1, 3))
    two = np.zeros((1, 2), dtype=int)
    two[0, 1] = 1

    def printed(head: Head) -> Head:
        assert head.output is not None
        padded = Affine(np.concatenate([head.output.weight, 0 * head.output.weight]))
        return replace(head, value=Affine(head.value.weight @ as_exact(two)), output=padded)

    for head in with_heads(network, printed).attention.heads:
        assert head.output is not None
        assert not (head.value.weight @ as_exact(head.output.weight)).any()
    found = with_heads(network, printed).to_balls().selected(strings(5))
    assert all(part == 0 for part in found.ravel())


TRAINABLE = [(s, T, gamma) for s in (1, 2, 3) for T in (4, 12, 10_000) for gamma in (fmpq(1), fmpq(1, 7))]


@check(
    "variable-creation:lemma-A.20a",
    "variable-creation:lemma-A.20b",
    grade="enclosed",
    target="printed",
    cases="d >= s + 3: s = 1, 2, 3; T = 4, 12, 10,000; gamma = 1 or the distance of the nodes, and 1/7; all strings",
)
@proof_steps("representation.md: 5")
@pytest.mark.parametrize(("s", "T", "gamma"), TRAINABLE)
def test_trainable_positions_have_the_error_of_a_closed_form(s, T, gamma):
    """One head: |(E sum chi + off)/(s E + T + 1 - s) - mean chi| is largest where all chi off I are opposite.

    R is rounded down to a multiple of 2^-32 below the printed norm of W_Q.
    """
    apart = min(gamma, fmpq(2, s))
    bounds = [(8 * T / arb(step)).log() for step in (apart, gamma)]
    single = compile_sparse(sparse_function(T, range(s), list(range(s + 1))), inputs="trainable", gamma=apart)
    network = sharpened(single, bounds[0])
    certificate = certify_sparse(network, 256)
    several = sharpened(general(T, range(s), inputs="trainable", gamma=gamma), bounds[1])
    with precision(256):
        E = arb(network.sharpness).exp()
        errors = [abs((E * (2 * r - s) - (T - s)) / (s * E + T + 1 - s) - arb(2 * r - s) / s) for r in range(s + 1)]
        assert abs(arb(certificate.error) - ball_max(errors)) < arb("1e-40")
        assert certificate.error <= apart / 4
        E = arb(several.sharpness).exp()
        error = 1 - (E - (T - 1)) / (E + T)
        assert abs(arb(certify_sparse(several, 256).error) - error) < arb("1e-40")
        assert error <= arb(gamma) / 4
    for one, bound in ((network, bounds[0]), (several, bounds[1])):
        assert arb(one.squared_norms()["W_Q"]) <= bound**2
        assert squared_norms_within(one, W_K=1, W_V=2, W_C=1)
        rows = one.inputs.positions
        assert isinstance(rows, PositionTable)
        assert sum(arb(int((row**2).sum())).sqrt() for row in rows.numerators[:s]) <= s
        assert not rows.numerators[s:].any()


COMPACT = [(3, 1, 6), (3, 2, 5), (3, 3, 6), (4, 2, 5), (4, 4, 6), (5, 5, 7), (6, 4, 6)]
COMPACT_CASES = (
    "(d, s, T) = (3, 1, 6), (3, 2, 5), (3, 3, 6), (4, 2, 5), (4, 4, 6), (5, 5, 7), (6, 4, 6), and T = 10,000; "
    "gamma = 1, 1/50; all strings, for T <= 7 one by one"
)


@check("variable-creation:lemma-A.20b", grade="numeric", target="printed", cases=COMPACT_CASES)
@proof_steps("representation.md: 16")
@pytest.mark.parametrize("gamma", [fmpq(1), fmpq(1, 50)])
@pytest.mark.parametrize(("d", "s", "T"), COMPACT)
def test_positions_in_the_plane_of_the_symbols_and_the_class_token(d, s, T, gamma):
    """Every s <= d, d >= 3: scores do not depend on bits, and all but one are lower by R at least; so is the error."""
    read = list(range(T))[:s]
    network = compact_selection(T, read, d, gamma=gamma)
    assert_printed_norms(network, d, s, (8 * T / arb(gamma)).log())
    x = strings(T)
    with precision(128):
        found = network.to_balls()(x[:: max(1, len(x) // 32)])
        wanted = 1 - 2 * x[:: max(1, len(x) // 32), read]
        assert all(abs(a - int(b)) <= arb(gamma) / 4 for a, b in zip(found.ravel(), wanted.ravel(), strict=True))
        errors = np.abs(network.to_float()(x) - (1 - 2 * x[:, read]))
        assert errors.max() <= float(gamma / 4)
        worst = [worst_error(network, head, h, T) for h, head in enumerate(heads_of(network))]
        assert abs(float(ball_max(worst).mid()) - errors.max()) <= 1e-9
        long = compact_selection(10_000, read, d, gamma=gamma)
        assert_printed_norms(long, d, s, (80_000 / arb(gamma)).log())
        shares = [worst_error(long, head, h, 10_000) for h, head in enumerate(heads_of(long))]
        assert all(share <= arb(gamma) / 4 for share in shares)


def heads_of(network: Transformer) -> tuple[Head, ...]:
    return network.layers[0].heads


def assert_printed_norms(network: Transformer, d: int, s: int, R: arb) -> None:
    """s for the sum of the norms of positions, R, 1, 2 and 1 for every head; equal to s and 1 where they are.

    E_0, E_1 and v_CLS are orthonormal vectors of d dimensions, as all tokens are, so that s <= d is what is printed.
    """
    with precision(128):
        fixed = np.concatenate([as_exact(network.embedding), as_exact(network.prefix)])
        assert fixed.shape == (3, d)
        assert (fixed @ fixed.T == np.eye(3, dtype=int)).all()
        assert as_exact(network.positions).shape[1] == d
        assert all(head.query.weight.shape[0] == head.key.weight.shape[0] == d for head in heads_of(network))
        rows = as_exact(network.positions)[:s]
        assert len(rows) == s
        assert not as_exact(network.positions)[s:].any()
        assert all((row * row).sum() == 1 for row in rows)
        for head in heads_of(network):
            assert head.output is not None
            squares = [(as_exact(one.weight) ** 2).sum() for one in (head.query, head.key, head.value, head.output)]
            assert arb(squares[0]) <= R**2
            assert squares[1:] == [1, 2, 1]
            assert (head.key.weight[0] == head.key.weight[1]).all()  # orthogonal to E_0 - E_1
        assert not (rows[:, 0] - rows[:, 1]).any()


def worst_error(network: Transformer, head: Head, h: int, T: int) -> arb:
    """2 (mass of the other tokens) + (mass of the class token), from the products of keys by hand."""
    key, rows = as_exact(head.key.weight)[:, 0], as_exact(network.positions)
    R = as_exact(head.query.weight)[2, 0]
    distinct = [rows[i] for i in range(min(T, len(heads_of(network))))]
    lower = [1 - (key * row).sum() for i, row in enumerate(distinct) if i != h]
    others = [as_balls([R * gap])[0] for gap in lower]
    mass = sum(((-gap).exp() for gap in others), start=arb(0)) + (T - len(distinct)) * (-arb(R)).exp()
    of_class = (-as_balls([R * (1 + key[0] - key[2])])[0]).exp()
    return (2 * mass + of_class) / (1 + mass + of_class)


@check("variable-creation:lemma-A.20a", grade="numeric", target="printed", cases=COMPACT_CASES)
@proof_steps("representation.md: 16")
@pytest.mark.parametrize("gamma", [fmpq(1), fmpq(1, 50)])
@pytest.mark.parametrize(("d", "s", "T"), COMPACT)
def test_one_position_opposite_to_the_class_token(d, s, T, gamma):
    """One head with the position and the key -v_CLS, for every d >= 3: (E (2 r - s) + off)/(s E + T - s + 1/E)."""
    read, largest = list(range(T))[:s], (8 * T / arb(gamma)).log()
    network = compact_selection(T, read, d, gamma=gamma, symmetric=True)
    assert len(heads_of(network)) == 1
    assert_printed_norms(network, d, s, largest)
    x = strings(T)
    found = network.to_float()(x)[:, 0]
    target = (2 * x[:, read].sum(axis=1) - s) / s
    assert np.abs(found - target).max() <= float(gamma / 4)
    assert is_strictly_monotone([fmpq(2 * r - s, s) for r in range(s + 1)], fmpq(2, s))
    for length in (T, 10_000):
        one = compact_selection(length, read, d, gamma=gamma, symmetric=True)
        E = arb(as_exact(heads_of(one)[0].query.weight)[2, 0]).exp()
        assert 8 * length / arb(gamma) >= E
        errors = [
            abs((E * (2 * r - s) + side * (length - s)) / (s * E + length - s + 1 / E) - arb(2 * r - s) / s)
            for r in range(s + 1)
            for side in (1, -1)
        ]
        assert all(error <= arb(gamma) / 4 for error in errors)
        if length == T:
            assert abs(float(ball_max(errors).mid()) - np.abs(found - target).max()) <= 1e-9


@check("variable-creation:lemma-A.20a", grade="enclosed", target="printed", supporting=True)
@proof_steps("representation.md: 5")
def test_the_printed_trainable_head_decreases_too():
    network = compile_sparse(sparse_function(4, (0, 2), [0, 1, 2]), inputs="trainable")
    printed = with_heads(network, lambda head: replace(head, value=Affine(-head.value.weight)))
    found = printed.to_balls().selected([[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]])[:, 0]
    assert found[0] > found[1] > found[2]


@check("variable-creation:lemma-A.20b", grade="enclosed", target="printed", supporting=True)
@proof_steps("representation.md: 5")
def test_positions_in_the_space_of_the_symbols_spoil_the_scores():
    """The printed weights: d = 4, s = 2, T = 5, E_0 = e_1, E_1 = e_2, v_CLS = e_3, P = e_1, e_2 on I; gamma = 1.

    Positions of `compact_selection` in the same 4 dimensions do not.
    """
    eye = np.eye(4, dtype=int)
    R = fmpq(int((arb(40).log() * 1024).upper().ceil().fmpz()), 1024)
    heads = [
        Head(
            Affine(R * as_exact(eye[:, 2:3])),
            Affine(eye[:, h : h + 1]),
            Affine(eye[:, :1] - eye[:, 1:2]),
            causal=False,
        )
        for h in range(2)
    ]
    worst = arb(0)
    for word in strings(5):
        tokens = eye[word]
        tokens[:2] += eye[:2]
        z = as_balls(np.concatenate([eye[2:3], tokens]))
        for h, head in enumerate(heads):
            (found,) = head.map(as_balls)(z[:1], memory=z)[0]
            worst = worst.max(abs(found - (1 - 2 * int(word[h]))))
    assert worst > arb("1.7")
    right = compact_selection(5, (0, 1), 4).to_float()(strings(5))
    assert np.abs(right - (1 - 2 * strings(5)[:, :2])).max() <= 0.25


@check("variable-creation:lemma-A.21a", grade="numeric", target="corrected", cases=FAMILY_CASES)
@proof_steps("representation.md: 8")
@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_a_bag_of_vectors_gives_one_number(number):
    positions, s = FAMILIES[number]
    T, delta = positions.count, family_coherence(positions)
    target = [fmpq(r - s, r + 1) for r in range(s + 1)]
    assert is_strictly_monotone(target, fmpq(1, s))
    assert max(abs(x) for x in target) == s
    for gamma in (fmpq(1, 100), fmpq(1, s)):
        function = sparse_function(T, range(s), target)
        network = compile_sparse(function, inputs="bag", positions=positions, gamma=gamma)
        certificate = certify_sparse(network)
        assert certificate.error <= gamma / 4
        assert worst_float_error(network, target) <= float(certificate.error) + 1e-12
        largest = (8 * T * s / arb(gamma)).log() / arb(1 - kappa(s, delta)) + ROUNDING
        assert squared_norms_within(network, W_Q=largest, W_K=s + 1, W_V=2 * s, W_C=s)


@check("variable-creation:lemma-A.21b", grade="numeric", target="corrected", cases=FAMILY_CASES)
@proof_steps("representation.md: 9", "selection.md: 13")
@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_a_bag_of_vectors_gives_all_bits(number):
    positions, s = FAMILIES[number]
    T, delta = positions.count, family_coherence(positions)
    words = as_exact(strings(s))
    assert separation((words - 1) / (words.sum(axis=1)[:, None] + 1)) == fmpq(1, s)
    trivial = (2 * words - 1) / fmpq(2 * s)  # the head 0 is within 1/(2 s) of this target
    assert separation(trivial) == fmpq(1, s)
    assert max(abs(x) for x in trivial.ravel()) == fmpq(1, 2 * s)
    for gamma in (fmpq(1, 100), fmpq(1, s)):
        network = general(T, range(s), inputs="bag", positions=positions, gamma=gamma)
        assert len(network.attention.heads) == 1
        certificate = certify_sparse(network)
        assert certificate.error <= gamma / 4
        if T <= 12 and s <= 2:
            x = strings(T)
            target = (x[:, :s] - 1) / (x[:, :s].sum(axis=1) + 1)[:, None]
            assert np.abs(network.to_float().selected(x) - target).max() <= float(certificate.error) + 1e-12
        largest = (8 * T / arb(gamma)).log() / arb(1 - kappa(s, delta)) + ROUNDING
        assert squared_norms_within(network, W_Q=largest, W_K=s + 1, W_V=2 * s, W_C=s)


@counterexample("variable-creation:lemma-A.21a", "variable-creation:lemma-A.21b", grade="enclosed", supporting=True)
@proof_steps("representation.md: 8, 9")
@pytest.mark.parametrize("several", [False, True])
def test_printed_vectors_in_a_bag_are_not_uniform(several):
    """s = 2, T = 6, sign vectors with d = 196, gamma = 1/2: printed keys, values and R miss gamma/4."""
    positions, s, gamma = signs(6, 14, 5), 2, fmpq(1, 2)
    delta = coherence(positions)[0]
    assert s * delta < gamma
    function = replace(sparse_function(6, (0, 1), [0, 1, 2, 3] if several else [0, 1, 2]), symmetric=not several)
    network = compile_sparse(function, inputs="bag", positions=positions, gamma=gamma)
    stream, rows = network.inputs.stream, positions.rows([0, 1])
    R = (8 * 6 * s * (1 + arb(delta)) / arb(gamma - s * delta)).log() / arb(1 - s * delta)
    printed_R = fmpq(int((R * 1024).upper().ceil().fmpz()), 1024)

    def printed(head: Head) -> Head:
        query = stream.readout(1, {"class": np.array([[printed_R]], dtype=object)})
        key = stream.readout(1, {"position": rows.sum(axis=0)[:, None], "class": [[1]]})
        value = stream.readout(2, {"position": rows.T, "class": [[-1, -1]]})
        return replace(head, query=Affine(query), key=Affine(key), value=Affine(value))

    found = with_heads(network, printed).to_balls().selected([[1, 1, 0, 0, 0, 0]])[0]
    assert max(abs(part) for part in found.tolist()) > arb(gamma) / 4
    right = network.to_balls().selected([[1, 1, 0, 0, 0, 0]])[0]
    assert max(abs(part) for part in right.tolist()) <= arb(gamma) / 4
