"""The bounds that the arithmetic of the kernel rests on, each against an independent computation.

Edits of one token of the kernel that no test can see, because they change no verdict:

| line | edit | why the verdict stays |
|---|---|---|
| `check_game`, sum of a row's weights | from class 0 on, not class 1 | the identity has no weight, checked above |
| `check_game`, `roots = {1}` | `{0}` | 1 is the w of the trivial character, and no weight has the key 0 |
| `sign`, `roots[m] + (q > 0)`, `(q < 0)` | `q >= 0`, `q <= 0` | no coefficient of `Radicals` is 0 |
| `sign`, `sum(q * (roots[m] + (q < 0)) ..) > 0` | `>= 0` | the sum is a lower bound of x 2^bits, and x is not 0 |
| `separating_classes`, `kind = [0 for ..]` | `[-1 for ..]`, `[1 for ..]` | only equality of kinds counts |
| `times_z`, `(packed << shift) - packed` | `packed - (packed << shift)` | both sides of each equation have the sign |
| `check_order`, `if g in known: continue` | `pass` | what is not needed costs time alone |
| `check_order`, `by_generator[-1:]` | `by_generator` | old elements times old generators are known |
| `check_order`, `document.generators[0]` | `[-1]` | all generators have the same degree |
| `check_characters`, `document.representatives[0]` | `[1]` | so have all representatives |
| `main`, `status = 0 if paths`, or `code = 0` | `-1` | the largest of both counts |
| `square_part`, `if a % p == 0` | `== -1` | a prime that is left over is only divided out to save time |
| `parse`, `str(error)[:200]` | `[:199]`, `[:201]` | the messages of the JSON reader are shorter |
"""

import json
import math
from fractions import Fraction

import pytest

from lemmata.certificates import kernel
from tests.certificates.documents import margin_document


@pytest.mark.parametrize("factors", range(2, 65))
@pytest.mark.parametrize("degree", [1, 2, 3, 8, 30])
def test_scales_of_all_types_and_numbers_of_factors(degree, factors):
    """w = d^((k+1)/2) / s^(k-1), s = 1 or 1/sqrt 2: its square is an integer."""
    for indicator in (1, 0, -1):
        ((root, coefficient),) = kernel.payoff_scale(degree, indicator, factors).items()
        expected = degree ** (factors + 1) * (1 if indicator == 1 else 2 ** (factors - 1))
        assert coefficient > 0
        assert coefficient**2 * root == expected


@pytest.mark.parametrize("order", [1, 2, 4, 6, 30, 105, 210])
@pytest.mark.parametrize("bound", [1, 7, 2**40])
def test_packing_is_wide_enough_for_the_proof(order, bound):
    """What is compared has coefficients of at most 2^(number of primes) bound: below half of 2^width."""
    primes = [p for p in range(2, order + 1) if order % p == 0 and all(p % q for q in range(2, p))]
    packing = kernel.Packing(order, bound)
    assert 2 ** (packing.width - 1) > 2 ** len(primes) * bound
    assert packing.modulus == 2 ** (packing.width * order) - 1
    assert 2 ** (packing.width - 1) <= 2 * 2 ** len(primes) * bound  # and no wider: width is time


@pytest.mark.parametrize("order", [1, 2, 6, 15])
def test_reduction_gives_the_residue_from_0_to_the_modulus(order):
    """Equal numbers have to be stored as equal integers, whatever their sign and size."""
    packing = kernel.Packing(order, 7)
    m = packing.modulus
    for x in {k * m + r for k in (-(m**2), -m, -2, -1, 0, 1, 2, m, m**2) for r in range(-3, 4)}:
        assert packing.reduce(x) == x % m


@pytest.mark.parametrize("order", [2, 3, 4, 6, 12, 15])
def test_packed_numbers_vanish_exactly_where_the_numbers_do(order):
    """Polynomials with two terms, and sums over roots of unity of prime order, against floating point."""
    packing = kernel.Packing(order, 2000)
    zeta = complex(math.cos(2 * math.pi / order), math.sin(2 * math.pi / order))
    pairs = ((1, 1), (1, -1), (999, 1), (999, -1), (-1, 999), (500, 500), (500, -500))
    cases = [{e: c, f: d} for e in range(order) for f in range(e) for c, d in pairs]
    for p in (p for p in (2, 3, 5) if order % p == 0):
        cases += [{i * order // p: 7 if i else c for i in range(p)} for c in (7, 6, -7)]
    zeros = 0
    for terms in cases:
        zero = abs(sum(c * zeta**e for e, c in terms.items())) < 1e-9
        assert (packing.times_z(terms) == 0) == zero
        zeros += zero
    assert 0 < zeros < len(cases)


@pytest.mark.parametrize("name", ["S5", "PSL(2,7)", "SL(2,3)", "C7:C3", "Z2", "Z2^2"])
def test_the_packing_is_asked_for_what_is_compared(name, monkeypatch):
    """Sums of absolute coefficients of |C| chi chi' - d sum chi'' over all rows and classes stay below the bound."""
    document = margin_document(name)
    asked = []
    packing = kernel.Packing
    monkeypatch.setattr(kernel, "Packing", lambda order, bound: asked.append(bound) or packing(order, bound))
    kernel.check(json.dumps(document).encode())
    sizes = [entry["size"] for entry in document["classes"]]
    largest = 0
    for row in document["characters"]["rows"]:
        lengths = [abs(v) if isinstance(v, int) else sum(abs(c) for c, _ in v) for v in row["values"]]
        products = max(size * x * y for size, x in zip(sizes, lengths, strict=True) for y in lengths)
        largest = max(
            largest,
            products + lengths[0] * max(sizes) * max(lengths),
            2 * sum(size * x * x for size, x in zip(sizes, lengths, strict=True)),
        )
    assert asked[0] >= largest
    every = [v for row in document["characters"]["rows"] for v in row["values"]]
    longest = max(abs(v) if isinstance(v, int) else sum(abs(c) for c, _ in v) for v in every)
    assert asked[0] == 2 * document["group"]["order"] * longest**2
    if name in ("Z2", "Z2^2"):  # all values are 1 and -1: the sum for the norm attains the bound
        assert asked[0] == largest == 2 * document["group"]["order"]


def test_a_common_denominator_that_is_too_long_is_refused_at_once(monkeypatch):
    """Dozens of fractions whose denominators have no common factor: two are enough to tell, and no more are taken."""
    document = margin_document("Z63")
    primes = [p for p in range(10**5, 2 * 10**5) if all(p % q for q in range(2, 450))]
    for i, row in enumerate(document["characters"]["rows"]):
        row["scaled_mass"] = str(Fraction(1, math.prod(primes[60 * i : 60 * i + 60]) ** 6))
    taken = []
    monkeypatch.setattr(kernel, "lcm", lambda a, b: taken.append(b) or math.lcm(a, b))
    with pytest.raises(kernel.MalformedError, match="common denominator of over 2000 digits"):
        kernel.check(json.dumps(document).encode())
    assert len(taken) == 2


def test_bounds_in_the_wrong_order_are_refused():
    """No feasible masses and weights give such bounds, by weak duality; the kernel compares them all the same."""
    document = kernel.Document(margin_document("S3"))
    masses, weights = {1: Fraction(1, 2)}, {1: Fraction(2)}
    document.value = kernel.text(masses), kernel.text(weights)
    with pytest.raises(kernel.ViolatedError, match="the lower bound is above the upper bound"):
        kernel.check_margin(document, masses, weights)
