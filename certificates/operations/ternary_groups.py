"""The sum of three elements modulo 2 and modulo 3: both sides of the maximum margin in closed form, and equal.

These are the groups with one nontrivial real irreducible representation, of dimension nu = n - 1. All multipliers are
equal, so that sum_k z_k T_k = c sum_g (u' * v' * s')(g) z'(g), c = 6/(n^2 (n - 1)), where u' is u without its mean. Let
X_1, X_2, X_3 be |u'|^2, |v'|^2, |s'|^2 and G the square of what is left of x. For any two of the three
|u' * v'|^2 = (n/nu) X_1 X_2, and so for z' and any one. With t = m/3, t' = m, m = c n/(3 nu),

    t (X_1 + X_2 + X_3)^2 = t/2 sum_(i<j) (X_i - X_j)^2 + m sum_(i<j) X_i X_j,
    m X_i X_j - 2c/3 sum_g (u' * v')(g) (s' o z')(g) + t' X_l |z'|^2 = m nu/n |u' * v' - s' o z'|^2,

where (s' o z')(g) = sum_a s'(a) z'(a + g), and the three ways to choose (i, j; l) add up to the target but for terms
with G or the mean of z, which are sums of squares. The margin is at most sqrt(27/256 t t') = m sqrt(9/256) = 3 m/16:
3/16 for n = 2 and 1/32 for n = 3, which networks of turned and signed copies of one vector reach.

Source: UNIVERSAL_MARGIN.md, for k = 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, product
from math import lcm, prod

import numpy as np

from lemmata.certificates import ternary_kernel
from lemmata.certificates.operations.ternary_columns import TernaryNetwork
from lemmata.certificates.operations.ternary_program import TernaryBound
from lemmata.numerics.groups.tables import cyclic
from lemmata.numerics.operations.ternary import ternary_product

__all__ = ["cyclic_bound", "cyclic_network"]

Linear = dict[int, Fraction]
Quadratic = Counter[tuple[int, ...]]

BEST = {2: (1, -1), 3: (2, -1, -1)}
"""The vector of each group whose turns and signs are the optimal neurons."""


def cyclic_network(n: int) -> TernaryNetwork:
    """Equal masses at all (u_i, e u_j, f u_k, e f u_(i + j + k)), u_i the turns of the best vector and e, f = 1, -1.

    Raises:
        ValueError: for n other than 2 and 3.
    """
    _refuse(n)
    turns = [np.roll(BEST[n], i) for i in range(n)]
    neurons = set()
    for shifts, signs in product(product(range(n), repeat=3), product((1, -1), repeat=2)):
        parts = [e * turns[i] for e, i in zip((1, *signs, prod(signs)), (*shifts, sum(shifts) % n), strict=True)]
        neuron = [int(x) for part in parts for x in part]
        neurons.add(max(tuple(neuron), tuple(-x for x in neuron)))  # of two that have the same outputs
    return TernaryNetwork(tuple(sorted(neurons)), (1,) * len(neurons))


def cyclic_bound(n: int) -> TernaryBound:
    """The proof of this module.

    Raises:
        ValueError: for n other than 2 and 3.
    """
    _refuse(n)
    table = ternary_kernel.Table(ternary_product(cyclic(n)).document())
    vectors = ternary_kernel.basis(table.sides)
    last, square = len(vectors) - 1, sum(x * x for x in vectors[-1])
    nu = n - 1
    m = Fraction(6 * n, n * n * (n - 1) * 3 * nu)
    t, t_prime = m / 3, m
    x = []
    for i in range(3):
        forms: list[Linear] = [{j: Fraction(e[n * i + a]) for j, e in enumerate(vectors)} for a in range(n)]
        x.append([_less_mean(forms, a) for a in range(n)])
    z = [{last + 1 + k: Fraction(1)} for k in range(n)]
    apart = [_less_mean(z, k) for k in range(n)]
    lengths = [_sum(_times(form, form) for form in forms) for forms in x]
    terms = [(t / 2, _sum([p, _scaled(q, -1)])) for p, q in combinations(lengths, 2)]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        for g in range(n):
            left = _sum(_times(x[i][a], x[j][(g - a) % n]) for a in range(n))
            right = _sum(_times(x[k][a], apart[(a + g) % n]) for a in range(n))
            terms.append((m * nu / n, _sum([left, _scaled(right, -1)])))
    common: Linear = {last: Fraction(1)}
    mean: Linear = {last + 1 + k: Fraction(1) for k in range(n)}
    terms += [(2 * t * square, _times(common, form)) for forms in x for form in forms]
    terms += [(t * square**2, _times(common, common))]
    terms += [(t_prime * square, _times(common, form)) for form in z]
    terms += [(t_prime / n, _times(form, mean)) for forms in x for form in forms]
    vector = ternary_kernel.monomials(table, 0)
    P = np.zeros((len(vector), len(vector)), object)
    for weight, quadratic in terms:
        row = np.array([quadratic[monomial] for monomial in vector], object)
        P += weight * np.outer(row, row)
    unit = lcm(*(Fraction(entry).denominator for entry in P.ravel()))
    whole = np.array([[int(entry * unit) for entry in row] for row in P], object)
    return TernaryBound((1,) * len(table.tests), 4, t, t_prime, unit, whole)


def _refuse(n: int) -> None:
    if n not in BEST:
        raise ValueError(f"The closed form is for the groups of order 2 and 3, not {n}.")


def _less_mean(forms: list[Linear], place: int) -> Linear:
    """A form less the mean of all."""
    result: Linear = dict(forms[place])
    for form in forms:
        for variable, value in form.items():
            result[variable] = result.get(variable, Fraction(0)) - value / len(forms)
    return result


def _times(p: Linear, q: Linear) -> Quadratic:
    result: Quadratic = Counter()
    for (i, a), (j, b) in product(p.items(), q.items()):
        result[min(i, j), max(i, j)] += a * b  # type: ignore[assignment]
    return result


def _scaled(p: Quadratic, factor: int) -> Quadratic:
    return Counter({m: factor * value for m, value in p.items()})


def _sum(parts: Iterable[Quadratic]) -> Quadratic:
    result: Quadratic = Counter()
    for part in parts:
        for m, value in part.items():
            result[m] += value
    return result
