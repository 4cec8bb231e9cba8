"""Networks that compute sparse functions exactly: setup 4.5, propositions 4.12 and A.18, and appendix A.2.1.

The general statements are proved in proofs/representation.md. Here networks are certified for all strings at once by
balls and exact ranges, and compared with all strings one by one.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.sparse.exhaustive import certify_exhaustively
from lemmata.certificates.sparse.network import SparseCertificate, certify_sparse
from lemmata.constructions.sparse.compiler import SparseNetwork, compile_sparse
from lemmata.constructions.sparse.functions import sparse_function
from lemmata.constructions.sparse.positions import (
    CodedPositions,
    coherence,
)
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.learning.attention_capacity import HeadNorms, multi_head_capacity
from lemmata.theorems.evidence import check, counterexample, proof_steps
from lemmata.theorems.records import Record
from lemmata.theorems.variable_creation.instances import (
    MAPS,
    ROUNDING,
    general,
    signs,
    squared_norms_within,
    strings,
)


def certified(T: int, read: Any, inputs: Any, **options: Any) -> SparseCertificate:
    return certify_sparse(general(T, read, inputs=inputs, **options))


def all_values(count: int) -> np.ndarray:
    """The truth tables of all Boolean functions with so many words, shape (2^count, count)."""
    return strings(count)


@check(
    "variable-creation:proposition-A.18",
    grade="numeric",
    target="corrected",
    cases="all 16 functions of 2 bits and all 256 of 3 bits, T = 12, three input maps, orthonormal and sign vectors; "
    "all strings, by certificate and, in float64 with orthonormal ones, one by one",
)
@proof_steps("representation.md: 10")
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
@proof_steps("representation.md: 10")
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
@proof_steps("representation.md: 10")
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
@proof_steps("representation.md: 10")
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
@proof_steps("representation.md: 11")
def test_bounded_norms_have_bounded_outputs(record: Record):
    """Norms of poly(s) 2^s cannot do for all real-valued functions: the outputs of such networks are bounded.

    With Frobenius norms c_1, c_2, c_3 (biases included) and a head of norm h, |output| <= c_3 c_2 (c_1 (h + 1) + 1).
    Functions with larger values exist already for s = T = 1. The library's networks obey the bound, so it is none too
    small, and their w grows with max |f|.
    """

    def bound(h: fmpq, *c: fmpq) -> fmpq:
        return c[2] * c[1] * (c[0] * (h + 1) + 1)

    head, norms, token = fmpq(3), {}, fmpq(0)
    for size in (1, 10**3, 10**6):
        network = compile_sparse(sparse_function(1, (0,), [0, size]))
        squares = network.squared_norms()
        c = [fmpq(int(arb(squares[name]).sqrt().upper().ceil().fmpz())) for name in ("W_1", "W_2", "w")]
        norms[size], token = c, max((network.inputs.tokens(np.array([1])) ** 2).sum(axis=1))
        assert size <= bound(head, *c)
        assert squares["w"] == 2 * size**2
    s = 1
    largest = bound(head, *[fmpq(100)] * 3)
    assert largest < 10**7
    function = sparse_function(1, (0,), [0, 10**7])
    record.hypothesis("f depends on s = 1 of its inputs: the length of I", len(function.indices), "=", s)
    record.hypothesis("s <= T, the length", function.sparsity, "<=", function.length)
    says = "heads of the printed norms are bounded by 3: ||W_C|| ||W_V|| |x_t|, with s, 2s and |x_t|^2 of the input map"
    record.hypothesis(says, s * 2 * s * arb(token).sqrt(), "<=", head)
    says = "W_1, W_2, w of norms O(2^s poly(s)) at s = 1, for instance 100: those of the network of f/10^7 are"
    record.hypothesis(says, max(norms[1]), "<=", 100)
    record.violated(
        "perceptrons of norms up to 100 represent f at s = 1: max |f| <= their outputs",
        max(function.values),
        "<=",
        largest,
    )


@check(
    "variable-creation:proposition-4.12",
    grade="enclosed",
    target="corrected",
    cases="s = 1, 2, 3, T = 10, 100, 1,000 (trainable also 10^4, with --effort full 10^6, codes 10^4), three maps, "
    "orthonormal or codes with (2s-1) Delta <= 1/2, symmetric and general; all strings",
)
@proof_steps("representation.md: 11, 12")
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


@check(
    "variable-creation:proposition-4.12",
    grade="enclosed",
    target="corrected",
    supporting=True,
    cases="s = floor(sqrt(log T)), T = m = 10^e, d = 17 s^2 log T, e = 100, 1,000, 10,000, 100,000; eps = 1/10",
)
@proof_steps("representation.md: 17")
def test_the_capacity_of_sparse_functions_is_a_small_power_of_the_length():
    """Sums of s heads with the norms of the proposition, before a perceptron of fixed weights: log N = T^o(1).

    The perceptron has at most the Lipschitz constant ||W_1|| ||W_2|| ||w||, for 2^s nodes in s dimensions, gamma = 1/s.
    """
    shares = []
    for e in (100, 1000, 10_000, 100_000):
        log_T = arb(10).log() * e
        s = int(log_T.sqrt().floor().fmpz())
        n, T, delta = 2**s, 10**e, fmpq(1, 4 * s)
        lipschitz = (arb(4 * n * s) / delta**2 * n * (8 * s + s**2 + (s - 1) ** 2) * 2 * n).sqrt()
        heads = [HeadNorms(2 * s**2, 2 * s**2, 2 * (s + 1) * (arb(8 * s**2).log() + log_T))] * s
        at = {"tokens": 2, "samples": T, "length": T, "width": int((17 * s**2 * log_T).ceil().fmpz())}
        bound = multi_head_capacity(heads, **at).constant * (10 * lipschitz) ** 2
        shares.append(float((bound.log() / log_T).mid()))
    assert all(later < earlier for earlier, later in pairwise(shares))
    assert shares[0] < 1
    assert shares[-1] < 0.01
    for s in (1, 2, 3):
        network = general(s + 2, range(s), inputs="bag")
        squares = network.squared_norms()
        n, delta = 2**s, fmpq(1, 4 * s)
        slopes = sum((x * x for x in as_exact(network.perceptron.layers[0].weight).ravel()), start=fmpq(0))
        assert slopes == 4 * n * s / delta**2
        assert squares["W_2"] == n * (8 * s + s**2 + (s - 1) ** 2)


@check("variable-creation:proposition-4.12", grade="numeric", target="corrected", supporting=True)
@proof_steps("representation.md: 12")
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
@proof_steps("representation.md: 13")
def test_random_signs_of_logarithmic_dimension_are_enough():
    for s in (1, 2, 3):
        for T in (50, 300, 2000):
            root = int(np.ceil(np.sqrt(4 * np.log(T)) * 2 * s))
            positions = signs(T, root, 3)
            rows, d = positions.numerators, positions.dimension
            products = rows[:s] @ rows.T - d * np.eye(s, T, dtype=int)
            assert coherence(positions, among=s)[0] == fmpq(int(abs(products).max()), d) < fmpq(1, 2 * s)
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
@proof_steps("representation.md: 6")
def test_a_bag_does_not_depend_on_the_order_of_its_tokens():
    network = general(4, (0, 2), inputs="bag", positions=signs(4, 4, 1)).to_balls()
    for word in strings(4)[::3]:
        tokens = network.tokens(word)
        outputs = [network.transformer.stream(tokens[list(order)], 1)[0] for order in permutations(range(4))]
        assert all(a.overlaps(b) for row in outputs for a, b in zip(row, outputs[0], strict=True))
        (value,) = network.transformer(tokens[None])
        assert abs(value - int(2 * word[0] + word[2])) < arb("1e-12")


@counterexample("variable-creation:setup-A.2.1a", grade="enclosed")
@proof_steps("representation.md: 6")
def test_other_vectors_for_the_same_bits_are_another_string(record: Record, Pi: tuple[int, int, int] = (1, 0, 2)):
    """T = 3, I = {0}, b = (1, 0, 0): V Pi diag(b) for the swap of 0 and 1 puts the bit on the vector of position 1."""
    network = compile_sparse(sparse_function(3, (0,), [-1, 0]), inputs="bag").to_balls()
    V, b = np.eye(3, dtype=int), np.array([1, 0, 0])
    with pytest.raises(ValueError, match="matmul"):
        np.matmul(np.ones((3, 4)), np.diag(b))  # V diag(b) with T rows of width d
    swapped = as_balls(network.inputs.tokens(b) * 0)
    swapped[:, network.inputs.stream["position"]] = as_balls(b[:, None] * V[list(Pi)])
    right, wrong = network.transformer(np.array([network.tokens(b), swapped]))
    assert abs(right) < arb("1e-12")
    assert abs(wrong + 1) < arb("1e-12")
    record.hypothesis("Pi is a permutation of all rows", len(set(Pi)), "=", len(V))
    record.violated("f(V diag(b)) = f(V Pi diag(b))", wrong, "=", right)


@check(
    "variable-creation:setup-A.2.1c",
    grade="numeric",
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
def test_the_printed_shapes_do_not_fit(record: Record):
    """W_i of shape d_(i+1) x d_i cannot be multiplied by a row of width d_i from the left unless d_i = d_(i+1)."""
    first = compile_sparse(sparse_function(2, (0,), "01")).perceptron.layers[0]
    y = as_exact([1])
    assert first(y).shape == (8,)
    with pytest.raises(ValueError, match="matmul"):
        np.matmul(y, as_exact(first.weight).T)
    record.hypothesis("the input has d_1 entries", y.size, "=", first.inputs)
    record.violated("W_1 of shape d_2 x d_1 has a row for each of them", first.weight.T.shape[0], "=", y.size)


@check(
    "variable-creation:remark-A.2.4",
    grade="numeric",
    target="printed",
    cases="M = 3 and 4 symbols, s = 1, 2, T = 6 and 500, deterministic and trainable positions, all functions by "
    "linearity in the last layer; all strings",
)
@proof_steps("representation.md: 14")
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


# ---- a single gate

GATES = {
    "AND": (0, 0, 1),
    "OR": (0, 1, 1),
    "NAND": (1, 1, 0),
    "NOR": (1, 0, 0),
    "XOR": (0, 1, 0),
    "XNOR": (1, 0, 1),
}
"""The values of the symmetric gates of two bits, for 0, 1 and 2 ones."""


@check(
    "variable-creation:remark-single-gate",
    grade="enclosed",
    target="printed",
    cases="AND, OR, NAND, NOR, XOR, XNOR; T = 30, 200, 1,000, sign vectors with d <= 170 log(T) + 50 and coherence <= "
    "1/6 with the pair for two input maps, and trainable positions; one pair of positions each, all strings",
)
@proof_steps("representation.md: 19")
@pytest.mark.parametrize("inputs", MAPS)
def test_one_head_computes_a_gate_of_two_bits(inputs):
    """The norms are those of step 11 with three nodes, and |f| = 1."""
    for T in (30, 200, 1000):
        positions = None if inputs == "trainable" else signs(T, int(np.ceil(12 * np.sqrt(np.log(T)))), 5)
        read = (0, 1)  # of random positions, of which the coherence with all others is asked
        for values in GATES.values():
            network = compile_sparse(sparse_function(T, read, list(values)), inputs=inputs, positions=positions)
            assert network.attention.head_count == 1
            assert network.attention.inputs <= 170 * np.log(T) + 50
            if positions is not None:
                assert 3 * coherence(positions, among=2)[0] <= fmpq(1, 2)
            assert certify_sparse(network).values.tolist() == list(values)
            assert norms_as_claimed(network, T, 2)


@check(
    "variable-creation:remark-single-gate",
    grade="enclosed",
    target="printed",
    cases="T = m = 10^e, d = 17 * 4 log(T), e = 10, 100, 1,000, 10,000, eps = 1/10, perceptrons of these norms",
)
@proof_steps("representation.md: 19")
def test_a_gate_takes_a_power_of_the_logarithm_of_samples():
    """The capacity of step 17 at s = 2 against log(T)^3: the share does not grow, and is positive."""
    network = compile_sparse(sparse_function(8, (0, 1), list(GATES["XOR"])), inputs="bag")
    squares = network.squared_norms()
    lipschitz = (arb(squares["W_1"]) * squares["W_2"] * squares["w"]).sqrt()
    shares = []
    for e in (10, 100, 1000, 10_000):
        log_T = arb(10).log() * e
        heads = [HeadNorms(8, 8, 6 * (arb(32).log() + log_T))]
        at = {"tokens": 2, "samples": 10**e, "length": 10**e, "width": int((68 * log_T).ceil().fmpz())}
        shares.append(float((multi_head_capacity(heads, **at).constant * (10 * lipschitz) ** 2 / log_T**3).mid()))
    assert all(0 < later < earlier for earlier, later in pairwise(shares))
