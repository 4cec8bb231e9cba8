"""Heads that select a few positions (A.19 to A.21), and networks that compute sparse functions with them (4.12, A.18).

The general statements are proved in proofs/representation.md. Here the networks of the library are certified for all
strings at once by balls and exact ranges, and compared with all strings one by one, or with closed forms.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from certificates.sparse.exhaustive import certify_exhaustively
from certificates.sparse.network import SparseCertificate, certify_sparse
from constructions.networks.affine import Affine
from constructions.networks.head import Head
from constructions.sparse.compiler import SparseNetwork, compile_sparse
from constructions.sparse.functions import is_strictly_monotone, separation, sparse_function
from constructions.sparse.positions import (
    CodedPositions,
    Positions,
    PositionTable,
    coherence,
    orthonormal_positions,
    random_sign_positions,
)
from numerics.exact.balls import as_balls, ball_max
from numerics.exact.numbers import as_exact, to_float
from numerics.exact.precision import precision
from theorems.evidence import check, counterexample

MAPS: tuple[Any, ...] = ("deterministic", "trainable", "bag")
ROUNDING = arb(1) / 1024
"""R is rounded up to a multiple of 1/1024."""


def strings(length: int, alphabet: int = 2) -> np.ndarray:
    return np.array(list(product(range(alphabet), repeat=length)))


def kappa(s: int, delta: fmpq) -> fmpq:
    return s * delta / (1 - (s - 1) * delta)


@cache
def signs(T: int, root: int, seed: int) -> PositionTable:
    return random_sign_positions(T, root, seed)


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


def squared_norms_within(network: SparseNetwork, **bounds: Any) -> bool:
    """Whether squared Frobenius norms are at most those of the bounds, balls or exact numbers, and 2^-40."""
    squares = network.squared_norms()
    with precision(192):
        return all(arb(squares[name]) <= arb(bound) ** 2 + arb(2) ** -40 for name, bound in bounds.items())


@check("variable-creation:lemma-A.19a", grade="enclosed", target="corrected", cases=FAMILY_CASES)
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
        assert worst_float_error(network, target) <= float(gamma) / 4
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


@counterexample("variable-creation:lemma-A.19a", grade="exact")
def test_the_printed_values_decrease_with_the_number_of_ones():
    """W_V = E_0 - E_1: the limit of the head is (s - 2 r)/s, which is not monotone as the lemma says."""
    network = compile_sparse(sparse_function(6, (1, 4), [0, 1, 2]))
    printed = with_heads(network, lambda head: replace(head, value=Affine(-head.value.weight)))
    x = np.zeros((3, 6), dtype=int)
    x[1:, 1], x[2, 4] = 1, 1
    found = printed.to_balls().selected(x)[:, 0]
    assert found[0] > found[1] > found[2]
    assert not is_strictly_monotone([fmpq(2 - 2 * r, 2) for r in range(3)], 0)


@counterexample("variable-creation:lemma-A.19a", grade="enclosed")
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


def with_heads(network: SparseNetwork, change: Any) -> SparseNetwork:
    return replace(network, attention=network.attention.change(Head, change))


@check("variable-creation:lemma-A.19b", grade="enclosed", target="corrected", cases=FAMILY_CASES)
@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_one_head_for_each_position(number):
    positions, s = FAMILIES[number]
    T, delta = positions.count, family_coherence(positions)
    words = strings(s)
    assert separation(1 - 2 * words) == 2
    for gamma in (fmpq(1, 100), fmpq(1)):
        network = general(T, range(s), positions=positions, gamma=gamma)
        assert certify_sparse(network).error <= gamma / 4
        assert len(network.attention.heads) == s
        if T <= 12:
            found = network.to_float().selected(strings(T))
            assert np.abs(found - (1 - 2 * strings(T)[:, :s])).max() <= float(gamma) / 4
        largest = (8 * T / arb(gamma)).log() / arb(1 - delta) + ROUNDING
        assert squared_norms_within(network, W_Q=largest, W_K=1, W_V=2, W_C=1)


def general(T: int, read: Any, alphabet: int = 2, **options: Any) -> SparseNetwork:
    """The network of a function with different values at all words, not taken for a symmetric one."""
    count = alphabet ** len(list(read))
    function = sparse_function(T, read, list(range(count)), alphabet=alphabet)
    return compile_sparse(replace(function, symmetric=False), **options)


@counterexample("variable-creation:lemma-A.19b", grade="enclosed")
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
    target="corrected",
    cases="s = 1, 2, 3; T = 4, 12, 10,000; gamma = 1 or as far as the nodes are apart, and 1/7; all strings",
)
@pytest.mark.parametrize(("s", "T", "gamma"), TRAINABLE)
def test_trainable_positions_have_the_error_of_a_closed_form(s, T, gamma):
    """One head: |(E sum chi + off)/(s E + T + 1 - s) - mean chi| is largest where all chi off I are opposite."""
    apart = min(gamma, fmpq(2, s))
    network = compile_sparse(sparse_function(T, range(s), list(range(s + 1))), inputs="trainable", gamma=apart)
    certificate = certify_sparse(network, 256)
    several = general(T, range(s), inputs="trainable", gamma=gamma)
    with precision(256):
        E = arb(network.sharpness).exp()
        errors = [abs((E * (2 * r - s) - (T - s)) / (s * E + T + 1 - s) - arb(2 * r - s) / s) for r in range(s + 1)]
        assert abs(arb(certificate.error) - ball_max(errors)) < arb("1e-40")
        assert certificate.error <= apart / 4
        E = arb(several.sharpness).exp()
        error = 1 - (E - (T - 1)) / (E + T)
        assert abs(arb(certify_sparse(several, 256).error) - error) < arb("1e-40")
        assert error <= arb(gamma) / 4
    for one, step in ((network, apart), (several, gamma)):
        assert squared_norms_within(one, W_Q=(8 * T / arb(step)).log() + ROUNDING, W_K=1, W_V=2, W_C=1)
        rows = one.inputs.positions
        assert isinstance(rows, PositionTable)
        assert sum(arb(int((row**2).sum())).sqrt() for row in rows.numerators[:s]) <= s
        assert not rows.numerators[s:].any()


@counterexample("variable-creation:lemma-A.20a", grade="enclosed")
def test_the_printed_trainable_head_decreases_too():
    network = compile_sparse(sparse_function(4, (0, 2), [0, 1, 2]), inputs="trainable")
    printed = with_heads(network, lambda head: replace(head, value=Affine(-head.value.weight)))
    found = printed.to_balls().selected([[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]])[:, 0]
    assert found[0] > found[1] > found[2]


@counterexample("variable-creation:lemma-A.20b", grade="enclosed")
def test_positions_in_the_space_of_the_symbols_spoil_the_scores():
    """d = 4, s = 2, T = 5, E_0 = e_1, E_1 = e_2, v_CLS = e_3, P = e_1, e_2 on I = {0, 1}; gamma = 1."""
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


@check("variable-creation:lemma-A.21a", grade="enclosed", target="corrected", cases=FAMILY_CASES)
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
        assert certify_sparse(network).error <= gamma / 4
        assert T <= 12 or worst_float_error(network, target) <= float(gamma) / 4
        largest = (8 * T * s / arb(gamma)).log() / arb(1 - kappa(s, delta)) + ROUNDING
        assert squared_norms_within(network, W_Q=largest, W_K=s + 1, W_V=2 * s, W_C=s)


@check("variable-creation:lemma-A.21b", grade="enclosed", target="corrected", cases=FAMILY_CASES)
@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_a_bag_of_vectors_gives_all_bits(number):
    positions, s = FAMILIES[number]
    T, delta = positions.count, family_coherence(positions)
    words = as_exact(strings(s))
    assert separation((words - 1) / (words.sum(axis=1)[:, None] + 1)) == fmpq(1, s)
    for gamma in (fmpq(1, 100), fmpq(1, s)):
        network = general(T, range(s), inputs="bag", positions=positions, gamma=gamma)
        assert len(network.attention.heads) == 1
        assert certify_sparse(network).error <= gamma / 4
        if T <= 12 and s <= 2:
            x = strings(T)[::7]
            target = (x[:, :s] - 1) / (x[:, :s].sum(axis=1) + 1)[:, None]
            assert np.abs(network.to_float().selected(x) - target).max() <= float(gamma) / 4
        largest = (8 * T / arb(gamma)).log() / arb(1 - kappa(s, delta)) + ROUNDING
        assert squared_norms_within(network, W_Q=largest, W_K=s + 1, W_V=2 * s, W_C=s)


@counterexample("variable-creation:lemma-A.21a", "variable-creation:lemma-A.21b", grade="enclosed")
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


# ---- networks


def certified(T: int, read: Any, inputs: Any, **options: Any) -> SparseCertificate:
    return certify_sparse(general(T, read, inputs=inputs, **options))


def all_values(count: int) -> np.ndarray:
    """The truth tables of all Boolean functions with so many words, shape (2^count, count)."""
    return strings(count)


@check(
    "variable-creation:proposition-A.18",
    grade="enclosed",
    target="corrected",
    cases="all 16 functions of 2 bits and all 256 of 3 bits, T = 12, three input maps, orthonormal and sign vectors; "
    "all strings, by certificate and, in float64 with orthonormal ones, one by one",
)
@pytest.mark.parametrize("inputs", MAPS)
@pytest.mark.parametrize("s", [2, 3])
def test_every_function_of_two_and_three_bits(inputs, s):
    x, read = strings(12), [11, 4, 7][:s]
    tables = all_values(2**s)
    families: list[Any] = [None] if inputs == "trainable" else [None, signs(12, 14, 0)]
    for positions in families:
        certificate = certified(12, read, inputs, positions=positions)
        hidden, n = certificate.hidden, 2**s
        assert (as_exact(hidden) @ np.concatenate([tables, -tables], axis=1).T == tables.T).all()
        outputs = hidden_in_floats(certificate.network, x if positions is None else x[::5])
        places = (x if positions is None else x[::5])[:, read] @ (2 ** np.arange(s)[::-1])
        found = outputs @ np.concatenate([tables, -tables], axis=1).T
        assert np.abs(found - tables.T[places]).max() < 1e-9
        assert hidden.shape == (n, 2 * n)


def hidden_in_floats(network: SparseNetwork, x: np.ndarray) -> np.ndarray:
    """The second layer of the perceptron at strings, by the forward pass of the network."""
    floats = network.to_float()
    return floats.transformer.stream(floats.tokens(x))[:, 0, :]


@check(
    "variable-creation:proposition-A.18",
    grade="enclosed",
    target="corrected",
    cases="a symmetric and a general function of 3 bits, T = 8, with --effort full 12, deep 16, three input maps; all "
    "strings one by one, in balls",
)
@pytest.mark.parametrize("inputs", MAPS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_all_strings_one_by_one(inputs, symmetric, effort):
    for T in effort.pick(quick=(8,), full=(8, 12), deep=(8, 12, 16)):
        function = sparse_function(T, (T - 1, 2, 5), [3, -1, 4, 1] if symmetric else "01101001")
        network = compile_sparse(function, inputs=inputs)
        found = certify_exhaustively(network)
        assert found.strings == 2**T
        assert found.error <= certify_sparse(network).error + fmpq(1, 10**20)


@check(
    "variable-creation:proposition-A.18",
    grade="enclosed",
    target="corrected",
    cases="symmetric functions of s = 1, ..., 12 bits, all of them by linearity in the last layer, T = 16 and 200, "
    "three input maps; all strings",
)
@pytest.mark.parametrize("inputs", MAPS)
def test_symmetric_functions_up_to_twelve_bits(inputs):
    for s in range(1, 13):
        for T in (16, 200):
            function = sparse_function(T, range(s), list(range(s + 1)))
            certificate = certify_sparse(compile_sparse(function, inputs=inputs))
            n = s + 1
            assert len(certificate.network.attention.heads) == 1
            assert (certificate.hidden[:, :n] - certificate.hidden[:, n:] == np.eye(n, dtype=int)).all()


@check(
    "variable-creation:proposition-A.18",
    grade="enclosed",
    target="corrected",
    cases="T = 10,000 codes of coherence 3/16 and s = 2, general and symmetric, three maps; T = 1,000,000 trainable, "
    "and, with --effort full, codes of coherence 1/4; 200 random functions of 4 and 5 bits, seeds 4 and 5; all strings",
)
def test_long_strings_and_random_functions(effort):
    sizes = [(10_000, CodedPositions(10_000, 16, 4), MAPS), (10**6, None, ("trainable",))]
    if effort.name != "quick":
        sizes += [(10**6, CodedPositions(10**6, 16, 5), ("deterministic", "bag"))]
    for T, positions, maps in sizes:
        for inputs in maps:
            given = None if inputs == "trainable" else positions
            for values in ("0110", [1, 5, 2]):
                function = sparse_function(T, (3, T - 1), values)
                certificate = certify_sparse(compile_sparse(function, inputs=inputs, positions=given))
                assert certificate.values.tolist() == [int(value) for value in values]
    for s in (4, 5):
        rng = np.random.default_rng(s)
        for inputs in MAPS:
            certificate = certified(20, rng.permutation(20)[:s].tolist(), inputs)
            for values in rng.integers(0, 2, (200, 2**s)):
                assert certificate.of_function(values).values.tolist() == values.tolist()


@counterexample("variable-creation:proposition-A.18", "variable-creation:proposition-4.12", grade="exact")
def test_bounded_norms_have_bounded_outputs():
    """Norms of poly(s) 2^s cannot do for all real-valued functions: the outputs of such networks are bounded.

    With Frobenius norms c_1, c_2, c_3 (biases included) and a head of norm h, |output| <= c_3 c_2 (c_1 (h + 1) + 1).
    Functions with larger values exist already for s = T = 1. The library's networks obey the bound, so it is none too
    small, and their w grows with max |f|.
    """

    def bound(h: fmpq, *c: fmpq) -> fmpq:
        return c[2] * c[1] * (c[0] * (h + 1) + 1)

    for size in (1, 10**3, 10**6):
        network = compile_sparse(sparse_function(1, (0,), [0, size]))
        squares = network.squared_norms()
        c = [fmpq(int(arb(squares[name]).sqrt().upper().ceil().fmpz())) for name in ("W_1", "W_2", "w")]
        assert size <= bound(fmpq(3), *c)
        assert squares["w"] == 2 * size**2
    assert bound(fmpq(3), *[fmpq(100)] * 3) < 10**7


@check(
    "variable-creation:proposition-4.12",
    grade="enclosed",
    target="corrected",
    cases="s = 1, 2, 3, T = 10, 100, 1,000 (trainable also 10^4, with --effort full 10^6, codes 10^4), three maps, "
    "orthonormal or codes with (2s-1) Delta <= 1/2, symmetric and general; all strings",
)
@pytest.mark.parametrize("inputs", MAPS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_norms_of_heads_and_perceptrons(inputs, symmetric, effort):
    largest = effort.pick(quick=3, full=4) if inputs != "trainable" else effort.pick(quick=4, full=6)
    for s in (1, 2, 3):
        for exponent in range(1, largest + 1):
            T = 10**exponent
            positions = None if inputs == "trainable" or T <= 100 else CodedPositions(T, 64, 3)
            values = list(range(1, s + 2)) if symmetric else list(range(1, 2**s + 1))
            function = replace(sparse_function(T, range(s), values), symmetric=symmetric)
            network = compile_sparse(function, inputs=inputs, positions=positions)
            assert certify_sparse(network).values.tolist() == values
            assert norms_as_claimed(network, T, s)


def norms_as_claimed(network: SparseNetwork, T: int, s: int) -> bool:
    """W_Q within 2 log(8 T s/gamma); the explicit bounds of the perceptron, with n nodes of k coordinates."""
    gamma = network.gamma
    n = len(network.function.values)
    k = network.perceptron.inputs
    B = s if network.inputs.name == "bag" and network.function.symmetric else 1
    delta = gamma / 4
    squares = network.squared_norms()
    last = 2 * n * max(abs(x) for x in network.function.values.tolist()) ** 2
    return (
        squared_norms_within(network, W_Q=2 * (8 * T * s / arb(gamma)).log() + ROUNDING, W_K=s + 1, W_V=2 * s, W_C=s)
        and squares["W_1"] <= 4 * n * k * (1 / delta**2 + (B / delta + 2) ** 2)
        and squares["W_2"] == n * (8 * k + k**2 + (k - 1) ** 2)
        and squares["w"] <= last
    )


@check("variable-creation:proposition-4.12", grade="numeric", target="corrected", supporting=True)
def test_the_query_grows_like_the_logarithm_of_the_length(record_property):
    """log ||W_Q|| against log log(8 T/gamma) has the slope 1: T = 10^2, ..., 10^6, and R is rounded to 1/1024."""
    lengths = [10**exponent for exponent in range(2, 7)]
    norms = []
    for T in lengths:
        network = compile_sparse(sparse_function(T, (0, 1), [0, 1, 2]), inputs="trainable")
        norms.append(float(arb(network.squared_norms()["W_Q"]).sqrt()))
    slope = np.polyfit(np.log(np.log(8 * np.array(lengths))), np.log(norms), 1)[0]
    record_property("slope", float(slope))
    record_property("slope in log T", float(np.polyfit(np.log(np.log(lengths)), np.log(norms), 1)[0]))
    assert abs(slope - 1) < 1e-3


@check(
    "variable-creation:setup-4.5",
    grade="enclosed",
    target="printed",
    cases="s = 1, 2, 3, T = 50, 300, 2,000, random sign vectors with d the next square above 4 log(T)/Delta^2, Delta = "
    "1/(2s), and T = 10^4 codes with d = 256; general functions; all strings",
)
def test_random_signs_of_logarithmic_dimension_are_enough():
    for s in (1, 2, 3):
        for T in (50, 300, 2000):
            root = int(np.ceil(np.sqrt(4 * np.log(T)) * 2 * s))
            positions = signs(T, root, 3)
            assert coherence(positions, among=s)[0] < fmpq(1, 2 * s)
            assert positions.dimension <= 17 * s**2 * np.log(T) + 20 * s * np.sqrt(np.log(T))
            certificate = certified(T, range(s), "deterministic", positions=positions)
            assert certificate.values.tolist() == list(range(2**s))
    certified(10_000, (5, 77, 9_999), "deterministic", positions=CodedPositions(10_000, 16, 4))


@check(
    "variable-creation:setup-A.2.1a",
    grade="enclosed",
    target="corrected",
    cases="T = 4, sign vectors with d = 16, six strings, all 24 orders of the rows of diag(b) V, a function of 2",
)
def test_a_bag_does_not_depend_on_the_order_of_its_tokens():
    network = general(4, (0, 2), inputs="bag", positions=signs(4, 4, 1)).to_balls()
    for word in strings(4)[::3]:
        tokens = network.tokens(word)
        outputs = [network.transformer.stream(tokens[list(order)], 1)[0] for order in permutations(range(4))]
        assert all(a.overlaps(b) for row in outputs for a, b in zip(row, outputs[0], strict=True))
        (value,) = network.transformer(tokens[None])
        assert abs(value - int(2 * word[0] + word[2])) < arb("1e-12")


@counterexample("variable-creation:setup-A.2.1a", grade="enclosed")
def test_other_vectors_for_the_same_bits_are_another_string():
    """T = 3, I = {0}, b = (1, 0, 0): V Pi diag(b) for the swap of 0 and 1 puts the bit on the vector of position 1."""
    network = compile_sparse(sparse_function(3, (0,), [-1, 0]), inputs="bag").to_balls()
    V, b = np.eye(3, dtype=int), np.array([1, 0, 0])
    with pytest.raises(ValueError, match="matmul"):
        np.matmul(np.ones((3, 4)), np.diag(b))  # V diag(b) with T rows of width d
    swapped = as_balls(network.inputs.tokens(b) * 0)
    swapped[:, network.inputs.stream["position"]] = as_balls(b[:, None] * V[[1, 0, 2]])
    right, wrong = network.transformer(np.array([network.tokens(b), swapped]))
    assert abs(right) < arb("1e-12")
    assert abs(wrong + 1) < arb("1e-12")


@check(
    "variable-creation:setup-A.2.1c",
    grade="enclosed",
    target="corrected",
    cases="T = 5, s = 2, three input maps, symmetric and general, 32 strings each",
)
@pytest.mark.parametrize("inputs", MAPS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_network_is_the_formula_of_its_weights(inputs, symmetric):
    """Scores, mixture, sum of heads and perceptron by loops in float64, from matrices with shapes d_i x d_(i+1)."""
    values = [4, -1, 2] if symmetric else [4, -1, 2, 7]
    network = compile_sparse(sparse_function(5, (1, 3), values), inputs=inputs).to_float()
    v = to_float(network.inputs.class_token)[0]
    W_1, W_2, w = ((to_float(part.weight), to_float(part.offset)) for part in network.perceptron.layers)
    assert W_1[0].shape[1] == W_2[0].shape[0]
    assert W_2[0].shape[1] == w[0].shape[0]
    for word in strings(5):
        X = np.vstack([v, to_float(network.inputs.tokens(word))])
        y = 0
        for head in network.attention.heads:
            assert head.output is not None
            scores = [float(v @ head.query.weight @ head.key.weight.T @ x) for x in X]
            shares = np.exp(scores) / np.exp(scores).sum()
            y = y + shares @ X @ head.value.weight @ head.output.weight
        hidden = np.maximum(np.maximum(y @ W_1[0] + W_1[1], 0) @ W_2[0] + W_2[1], 0)
        assert abs(float((hidden @ w[0])[0]) - network(word)) < 1e-9


@counterexample("variable-creation:setup-A.2.1c", grade="exact")
def test_the_printed_shapes_do_not_fit():
    """W_i of shape d_(i+1) x d_i cannot be multiplied by a row of width d_i from the left unless d_i = d_(i+1)."""
    first = compile_sparse(sparse_function(2, (0,), "01")).perceptron.layers[0]
    y = as_exact([1])
    assert first(y).shape == (8,)
    with pytest.raises(ValueError, match="matmul"):
        np.matmul(y, as_exact(first.weight).T)


@check(
    "variable-creation:remark-A.2.4",
    grade="enclosed",
    target="printed",
    cases="M = 3 and 4 symbols, s = 1, 2, T = 6 and 500, deterministic and trainable positions, all functions by "
    "linearity in the last layer; all strings",
)
@pytest.mark.parametrize("alphabet", [3, 4])
@pytest.mark.parametrize("inputs", ["deterministic", "trainable"])
def test_more_symbols(alphabet, inputs):
    for s in (1, 2):
        n = alphabet**s
        for T in (6, 500):
            certificate = certified(T, range(s), inputs, alphabet=alphabet)
            network = certificate.network
            assert len(network.attention.heads) == s
            assert [layer.outputs for layer in network.perceptron.layers] == [4 * s * n, 2 * n, 1]
            assert (certificate.hidden[:, :n] - certificate.hidden[:, n:] == np.eye(n, dtype=int)).all()
            assert network.perceptron.layers[1].count == (8 * s + (1 if s == 1 else 2)) * n
        x = strings(6, alphabet)[::11]
        outputs = certified(6, range(s), inputs, alphabet=alphabet).network.to_float()(x)
        assert np.abs(outputs - x[:, :s] @ (alphabet ** np.arange(s)[::-1])).max() < 1e-9
