"""Lemmas C.3 and C.7 and claims C.4, C.5, C.6: the attention layers that find the last visit and the input symbol.

All rest on one identity: the score of D compared digits is D - 2 (number of digits that differ), the null key scores
D - 1. It is checked as an identity of bilinear forms in all coordinates, for the stated P. What remains is a fact on
binary numbers, checked for all numbers of the stated length, and the definition of the last visit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.compiled_layers import (
    attended,
    attention_norm,
    bilinear_form,
    compiled,
    functional,
    functional_norm,
    layer_named,
    null_form,
)

BITS = range(1, 9)


def _head(transformer: TuringTransformer, name: str) -> Head:
    layer = layer_named(transformer, name)
    (head,) = layer.attentions()
    assert (layer.cross_attention is head) == (name == "C.7")
    return head


def _expected_forms(
    layout: TuringLayout, pairs: list[tuple[str, str, int]], guess: int | None
) -> tuple[np.ndarray, np.ndarray, int]:
    """The bilinear form of the sum over digits of (2a - 1)(2b - 1), a of the query, b of the key; and the null form.

    With a guess j the digit j + 1 of the key's `pos1` is compared with 1.
    """
    d, stream = layout.width, layout.stream
    form, digits = np.zeros((d + 1, d + 1), dtype=int), 0
    for query, key, n in pairs:
        for r in range(n):
            a, b = stream[query].start + r, stream[key].start + r
            form[a, b] += 4
            form[a, d] -= 2
            form[d, b] -= 2
            form[d, d] += 1
            digits += 1
    if guess is not None:
        form[d, stream["pos1"].start + guess] += 2
        form[d, d] -= 1
        digits += 1
    null = np.zeros(d + 1, dtype=int)
    null[d] = digits - 1
    return form, null, digits


def _compared(bits: int) -> Iterator[tuple[str, list[tuple[str, str, int]], int | None]]:
    """Every attention layer, the digits that it compares, and its guess."""
    cell = ("pos3", "pos2", bits)
    yield "C.4", [cell], None
    for j in range(bits):
        yield f"C.5 bit {j + 1}", [cell, ("scr3", "pos1", j)], j
    yield "C.6", [cell, ("scr3", "pos1", bits)], None
    yield "C.7", [("pos3", "pos1", bits)], None


@check("turing:claim-C.4", grade="exact", target="printed")
@check("turing:claim-C.5", grade="exact", target="printed")
@check("turing:claim-C.6", grade="exact", target="printed")
@check("turing:lemma-C.7", grade="exact", target="printed")
@proof_steps("machine_layers.md: 7")
@pytest.mark.parametrize("bits", BITS)
def test_scores_count_the_digits_that_agree(bits: int) -> None:
    """For P = 1, ..., 8 and every layer, as an identity in all coordinates of query and key.

    So a token all of whose D digits agree scores D, the null pair D - 1, every other token at most D - 2: the gap is 1.
    """
    transformer = compiled(bits)
    for name, pairs, guess in _compared(bits):
        head = _head(transformer, name)
        form, null, digits = _expected_forms(transformer.layout, pairs, guess)
        assert np.array_equal(bilinear_form(head), form)
        assert np.array_equal(null_form(head), null)
        assert digits == head.key.weight.shape[1] - 1


@check("turing:claim-C.4", grade="symbolic", target="printed", supporting=True)
@proof_steps("machine_layers.md: 7")
def test_one_wrong_digit_costs_two() -> None:
    """(2a - 1)(2b - 1) = 1 - 2 [a != b] for bits: (a - b)^2 = [a != b], a^2 = a."""
    a, b = sp.symbols("a b")
    difference = sp.expand((2 * a - 1) * (2 * b - 1) - (1 - 2 * (a - b) ** 2))
    assert sp.expand(difference.subs({a**2: a, b**2: b})) == 0


@check("turing:claim-C.5", grade="exact", target="printed", supporting=True)
@proof_steps("machine_layers.md: 11")
@pytest.mark.parametrize("bits", range(1, 7))
def test_guessed_digit_is_right_exactly_if_a_visit_has_it(bits: int) -> None:
    """For all i', digits j and times t <= i' of P <= 6 bits: if t has the first j digits of i' and then a 1, so has i'.

    This is the step on binary numbers: the first digit in which two numbers differ decides which is larger. With it a
    visit t <= i' matches the guess only if digit j + 1 of i' is 1, and then i' itself matches.
    """
    numbers = [tuple(number >> (bits - 1 - r) & 1 for r in range(bits)) for number in range(2**bits)]
    for last, digits in enumerate(numbers):
        for j, t in itertools.product(range(bits), range(last + 1)):
            if numbers[t][: j + 1] == (*digits[:j], 1):
                assert digits[j] == 1


@check("turing:claim-C.5", grade="symbolic", target="printed", supporting=True)
@proof_steps("machine_layers.md: 11")
def test_guessed_digit_for_all_numbers_of_bits() -> None:
    """The same step for every P: let t and i' agree in the first j digits, t go on with 1 and i' with 0. Then t > i'.

    With m = P - j - 1 digits left, t - i' = 2^m + a - b for the rests 0 <= a, b <= 2^m - 1, and this is at least 1:
    below, b = 2^m - 1 - c with c >= 0. So a visit t <= i' with the first j digits of i' that goes on with 1 exists
    exactly if digit j + 1 of i' is 1 (then i' is one), and only then is a score of D met; all others are at most D - 2.
    """
    m, a, c = sp.symbols("m a c", integer=True, nonnegative=True)
    b = 2**m - 1 - c
    assert sp.expand(2**m + a - b) == a + c + 1


@check("turing:claim-C.5", grade="exact", target="printed", supporting=True)
def test_printed_case_two_is_false_for_68_triples_of_four_bits() -> None:
    """ "If t <= i' and digit j + 1 of i' is 0, then that of t is 0": false; but then t differs in an earlier digit."""
    false = []
    for last, j, t in itertools.product(range(16), range(4), range(16)):
        own, other = (f"{number:04b}" for number in (last, t))
        if own[j] == "0" and t <= last and other[j] == "1":
            false.append((last, j + 1, t))
            assert own[:j] != other[:j]  # the corrected sentence
    assert len(false) == 68
    assert {(2, 4, 1), (4, 3, 2), (4, 3, 3)} <= set(false)


@check("turing:claim-C.5", grade="exact", target="printed", supporting=True)
def test_query_without_a_visit_is_minus_one_and_not_zero() -> None:
    """With i' = 0 the block of the query that holds the first j digits is 2 * 0 - 1 = -1 in every place."""
    transformer = compiled(4)
    head = _head(transformer, "C.5 bit 4")
    token = transformer.layout.vector({"pos3": transformer.layout.binary(5)})
    assert (token @ head.query.weight + head.query.bias)[4:7].tolist() == [-1, -1, -1]


@check("turing:lemma-C.7", grade="exact", target="printed", supporting=True)
def test_codes_of_zeros_and_ones_do_not_single_out_the_cell() -> None:
    """With queries and keys Bin instead of 2 Bin - 1, cell 3 scores as much as cell 1 does for the query 1."""
    layout = compiled(2).layout
    scores = [int(layout.binary(1) @ layout.binary(cell)) for cell in (1, 3)]
    assert scores[0] == scores[1]
    signed = [int((2 * layout.binary(1) - 1) @ (2 * layout.binary(cell) - 1)) for cell in (1, 3)]
    assert signed == [2, 0]


# ---- the layers on walks


def _walk_tokens(layout: TuringLayout, heads: list[int], rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    """The tokens of (C.5) at the times t = 1, ..., i of a walk l_0, ..., l_i, and the symbols written."""
    written = rng.integers(layout.symbols, size=len(heads)).tolist()
    rows = [
        layout.vector(
            {
                "st": np.eye(layout.states)[rng.integers(layout.states)],
                "sym2": np.eye(layout.symbols)[written[t]],
                "pos1": layout.binary(t),
                "pos2": layout.binary(heads[t - 1]),
                "pos3": layout.binary(heads[t]),
            }
        )
        for t in range(1, len(heads))
    ]
    return np.array(rows), written


def _added(layout: TuringLayout, z: np.ndarray, extra: list) -> np.ndarray:
    assert all(x.denominator == 1 for x in extra)  # tied values are equal
    return z + np.array([int(x) for x in extra])


@check("turing:claim-C.4", grade="exact", target="printed")
@check("turing:claim-C.5", grade="exact", target="printed")
@check("turing:claim-C.6", grade="exact", target="printed")
@check("turing:lemma-C.3", grade="exact", target="printed")
@proof_steps("machine_layers.md: 10, 12")
def test_last_visit_is_found_on_all_walks_of_six_steps(record_property) -> None:
    """All 729 walks with steps -1, 0, +1 from cell 8, P = 4: C.4, the P layers of C.5, and C.6, digit by digit.

    The memory of each layer holds all tokens at that layer; of these the heads read pos1, pos2 and sym2 alone (the
    bilinear forms above), which the layers before keep. Every gap below the largest score
    is at least 1, and 1 where a visit is found.
    """
    transformer = compiled(4)
    layout, stream = transformer.layout, transformer.layout.stream
    rng = np.random.default_rng(0)
    ties, none = 0, 0
    for steps in itertools.product((-1, 0, 1), repeat=6):
        heads = [8, *(8 + np.cumsum(steps)).tolist()]
        last = max((t for t in range(1, 7) if heads[t - 1] == heads[6]), default=0)
        memory, written = _walk_tokens(layout, heads, rng)
        z = memory[-1].copy()
        none += last == 0

        extra, gap, tied = attended(_head(transformer, "C.4"), z, memory)
        z = functional(transformer, ["C.4"], _added(layout, z, extra)[None])[0]
        ties += len(tied) > 1
        expected = memory[-1] + layout.vector({"scr4": [last > 0, 0, 0]})
        assert gap == 1 if last else gap >= 1
        assert np.array_equal(z, expected)
        for j in range(4):
            extra, gap, tied = attended(_head(transformer, f"C.5 bit {j + 1}"), z, memory)
            z = functional(transformer, [f"C.5 bit {j + 1}"], _added(layout, z, extra)[None])[0]
            found = layout.binary(last >> (3 - j) << (3 - j))
            assert gap >= 1
            assert np.array_equal(z, expected + layout.vector({"scr3": found}))
        extra, gap, tied = attended(_head(transformer, "C.6"), z, memory)
        z = functional(transformer, ["C.6"], _added(layout, z, extra)[None])[0]
        assert gap >= 1
        assert tied == [last]
        symbol = np.eye(layout.symbols)[written[last]] if last else np.zeros(layout.symbols)
        assert np.array_equal(z, expected + layout.vector({"scr1": symbol}))
        assert not z[stream["scr3"]].any()
    record_property("walks_with_ties", ties)
    assert ties > 100
    assert none > 50


@check("turing:lemma-C.7", grade="exact", target="printed")
@proof_steps("machine_layers.md: 15")
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_input_symbol_is_looked_up_for_all_cells_and_lengths(bits: int) -> None:
    """All cells 0, ..., 2^P - 1 and all lengths 0, ..., 2^P - 1 of the input; random symbols."""
    transformer = compiled(bits)
    layout = transformer.layout
    rng = np.random.default_rng(bits)
    for length, cell in itertools.product(range(2**bits), range(2**bits)):
        word = rng.integers(layout.symbols, size=length).tolist()
        encoded = transformer.encode(word)
        z = layout.vector(
            {
                "st": np.eye(layout.states)[0],
                "sym2": np.eye(layout.symbols)[0],
                "pos3": layout.binary(cell),
                "scr1": np.eye(layout.symbols)[1],
                "scr4": [1, 0, 0],
            }
        )
        extra, gap, _ = attended(_head(transformer, "C.7"), z, encoded)
        within = 1 <= cell <= length
        symbol = np.eye(layout.symbols)[word[cell - 1]] if within else np.zeros(layout.symbols)
        output = functional(transformer, ["C.7"], _added(layout, z, extra)[None])[0]
        assert np.array_equal(output, z + layout.vector({"scr2": symbol, "scr4": [0, within, 0]}))
        assert gap == 1 if within else gap >= 1 or not length


@check("turing:lemma-C.3", grade="exact", target="printed", supporting=True)
@proof_steps("machine_layers.md: 14")
def test_claim_c_5_as_the_last_layer_copies_no_symbol() -> None:
    """The printed last layer, that of Claim C.5, leaves scr1 empty although the cell was visited; C.6 fills it."""
    transformer = compiled(3)
    layout = transformer.layout
    memory, written = _walk_tokens(layout, [2, 3, 2], np.random.default_rng(0))
    z = memory[-1] + layout.vector({"scr4": [1, 0, 0], "scr3": layout.binary(1)})
    copied = {}
    for name in ("C.5 bit 3", "C.6"):
        before = layout.vector({"scr3": [0, 0, name == "C.5 bit 3"]})  # claim C.5 finds its digit still 0
        extra, _, _ = attended(_head(transformer, name), z, memory)
        output = functional(transformer, [name], _added(layout, z - before, extra)[None])
        copied[name] = output[0, layout.stream["scr1"]].tolist()
    assert copied == {"C.5 bit 3": [0, 0, 0], "C.6": np.eye(3, dtype=int)[written[1]].tolist()}


@check("turing:claim-C.4", grade="exact", target="printed", supporting=True)
@check("turing:claim-C.5", grade="exact", target="printed", supporting=True)
@check("turing:claim-C.6", grade="exact", target="printed", supporting=True)
@pytest.mark.parametrize("bits", [3, 6, 12])
def test_null_query_bias_flips_the_layer_beyond_one_over_the_null_key(bits: int) -> None:
    """b_Q[null] + s raises the null score by s (D - 1): a match wins below s = 1/(D - 1), ties there, loses above.

    D - 1 is P - 1 for C.4, P + j for C.5 and 2P - 1 for C.6, which is the cheapest attack of this kind.
    """
    transformer = compiled(bits)
    layout = transformer.layout
    token = layout.vector(
        {
            "sym2": np.eye(layout.symbols)[0],
            "pos1": np.ones(bits),
            "pos2": layout.binary(2),
            "pos3": layout.binary(2),
        }
    )
    for name, null in (("C.4", bits - 1), (f"C.5 bit {bits - 1}", 2 * bits - 2), ("C.6", 2 * bits - 1)):
        head = _head(transformer, name)
        assert head.null_key[-1] == null
        digits = bits if name == "C.6" else bits - 2
        found = np.where(np.arange(bits) < digits, 1, 0) if name != "C.4" else np.zeros(bits)
        z = token + layout.vector({"scr3": found})
        winners = []
        for slack in (Fraction(-1, 10**6), Fraction(0), Fraction(1, 10**6)):
            bias = head.query.bias.astype(object)
            bias[-1] += Fraction(1, null) + slack
            changed = replace(head, query=Affine(head.query.weight.astype(object), bias))
            winners.append(attended(changed, z, token[None])[2])
        assert winners == [[1], [0, 1], [0]]


# ---- sizes


@check("turing:claim-C.4", grade="exact", target="printed")
@check("turing:claim-C.5", grade="exact", target="printed")
@check("turing:claim-C.6", grade="exact", target="printed")
@check("turing:lemma-C.3", grade="exact", target="printed")
@check("turing:lemma-C.7", grade="exact", target="printed")
@proof_steps("machine_layers.md: 14, 15")
@pytest.mark.parametrize(("bits", "states", "symbols"), [(1, 1, 1), (2, 2, 3), (5, 3, 2), (8, 6, 4), (12, 9, 7)])
def test_attention_norms_are_linear_in_the_number_of_digits(bits: int, states: int, symbols: int) -> None:
    """7P + 1; 7(P + j) + 6; 14P + |A|; 7P + |A| + 1; P + 2 layers for the last visit, of norm O(P (|Z| + |A| + P))."""
    transformer = compiled(bits, states=states, symbols=symbols)
    norms = {layer.name: attention_norm(layer) for layer in transformer.layers if layer.attentions()}
    assert norms == {
        "C.4": 7 * bits + 1,
        **{f"C.5 bit {j + 1}": 7 * (bits + j) + 6 for j in range(bits)},
        "C.6": 14 * bits + symbols,
        "C.7": 7 * bits + symbols + 1,
    }
    search = [layer for layer in transformer.layers if layer.name[:3] in ("C.4", "C.5", "C.6")]
    assert len(search) == bits + 2
    total = sum(attention_norm(layer) + functional_norm(layer) for layer in search)
    assert total <= 60 * bits * (states + 1 + symbols + bits)
