"""Which biases allow a read-out that computes a parity: exact solutions, Farkas certificates, and least norms.

A read-out v of the ramps `lemmata.constructions.parity.bias_grids.ramp_features` has hinge loss 0 if and only if its
margins y_z v.phi(z) are at least 1 at all k + 1 sums z. For a given grid that is a system of linear inequalities, which
`decide` settles: by a read-out, or by multipliers that prove that there is none.

For grids of the printed kind, without the kink below k, the multipliers are explicit (`missing_kink_multipliers`): with
f(2q) - f(2q-2) = D_q, q = 1, ..., m + 1, the ramps satisfy D_(m+1) = (2/c) sum_(q<=m) (-rho)^(m-q) D_q, rho = (2-c)/c.

The least norm: among the read-outs of margin at least 1, with m_j neurons for each ramp j (and one constant), the
least squared norm is sum_z lambda_z for any lambda >= 0 for which v_j = m_j sum_z lambda_z y_z phi_j(z) has margins of
at least 1, and exactly 1 where lambda_z > 0 (the conditions of Karush, Kuhn and Tucker), because for any other v'

    |v'|^2 >= 2 <v', v> - |v|^2 = 2 sum_z lambda_z y_z v'.phi(z) - |v|^2 >= 2 sum_z lambda_z - |v|^2 = |v|^2.

Source: pareto-frontiers, lemma C.6 and claim-C.6b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from flint import fmpq, fmpq_mat

from lemmata.certificates.duality import farkas
from lemmata.certificates.duality.hinge_loss import HingeCertificate, least_hinge_loss
from lemmata.certificates.duality.inequalities import Constraint, FarkasCertificate, FeasiblePoint
from lemmata.constructions.parity.bias_grids import (
    averaged_ramp_features,
    even_kink_grid,
    offset_grid,
    ramp_features,
    ramp_labels,
    ramp_law,
)
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction

__all__ = [
    "LeastNorm",
    "decide",
    "design_grid",
    "least_norm_readout",
    "least_ramp_loss",
    "least_step_loss",
    "margin_constraints",
    "missing_kink_multipliers",
    "verify_least_norm",
]


@dataclass(frozen=True)
class LeastNorm:
    """A read-out of margin at least 1 at every sum, and multipliers that prove that none has a smaller norm.

    Attributes:
        weights: the constant, then the weight of each ramp summed over its neurons, as in `ramp_features`.
        multipliers: lambda_z for z = -k, -k+2, ..., k.
        norm_squared: v_0^2 + sum_j v_j^2/m_j.
    """

    weights: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]
    norm_squared: Fraction


def margin_constraints(k: int, biases: Sequence[object]) -> list[Constraint]:
    """The inequalities y_z v.phi(z) >= 1, named "z = -4", in the unknowns "constant", "plus 0", ..., "minus 0", ....

    Raises:
        ValueError: as `ramp_features`.
    """
    names = ["constant", *(f"{sign} {j}" for sign in ("plus", "minus") for j in range(len(biases)))]
    constraints = []
    for z, y, row in zip(range(-k, k + 1, 2), ramp_labels(k), ramp_features(k, biases), strict=True):
        scale = lcm(*(int(x.q) for x in row))
        terms = {name: int((y * x * scale).p) for name, x in zip(names, row, strict=True)}
        constraints.append(Constraint(f"z = {z}", terms, ">=", scale))
    return constraints


def decide(k: int, biases: Sequence[object]) -> FarkasCertificate | FeasiblePoint:
    """A read-out of hinge loss 0 for a grid of biases, or a certificate that there is none; both are verified.

    They belong to `margin_constraints`, and `lemmata.certificates.duality.farkas` has the checkers.

    Raises:
        ValueError: as `ramp_features`.
    """
    return farkas.decide(margin_constraints(k, biases))


def missing_kink_multipliers(k: int, offset: object = fmpq(1, 16)) -> FarkasCertificate:
    """The certificate that `offset_grid(k, offset, first=1)` has no read-out, in closed form; verified.

    On differences D_q of neighbours it is (2/c) rho^(m-q) for q <= m = k/2 - 1 and 1 for q = m + 1; the multiplier of
    f(2q) is the sum of those of its two differences, in the proportion 32, 33, 1 for k = 4 and c = 1/16. No
    negative z has one.

    Raises:
        ValueError: for k = 2 or other k and offsets than `offset_grid` takes.
    """
    grid = offset_grid(k, offset, first=1)
    if k < 4:
        raise ValueError("The printed grid is empty for k = 2: the only feature is the constant.")
    c, last = as_exact([offset])[0], k // 2 - 1
    ratio = (2 - c) / c
    steps = [fmpq(0), *(2 / c * ratio ** (last - q) for q in range(1, last + 1)), fmpq(1), fmpq(0)]
    points = {2 * q: steps[q] + steps[q + 1] for q in range(k // 2 + 1)}
    constraints = margin_constraints(k, grid)
    # a constraint is its inequality times its bound
    used = constraints[k // 2 :]
    shares = [points[2 * q] / constraint.bound for q, constraint in enumerate(used)]
    scale = lcm(*(int(x.q) for x in shares))
    named = zip(used, shares, strict=True)
    certificate = FarkasCertificate({constraint.name: int((x * scale).p) for constraint, x in named})
    farkas.verify(constraints, certificate)
    return certificate


def least_ramp_loss(k: int, biases: Sequence[object]) -> HingeCertificate:
    """The least hinge loss E (1 - chi_S f)_+ over all read-outs of the ramps, for uniform inputs, with a certificate.

    Raises:
        ValueError: as `ramp_features`.
    """
    return least_hinge_loss(ramp_features(k, biases), ramp_labels(k), ramp_law(k))


def least_step_loss(k: int, biases: Sequence[object], s: int) -> HingeCertificate:
    """A lower bound of the hinge loss of every read-out after a population step without truncation, with a certificate.

    However many good neurons there are and wherever their ones lie: by convexity E (1 - chi_S f)_+ is at least the loss
    of the mean of f given the sum over S, which is a read-out of `averaged_ramp_features`. Bad neurons are silent.

    Args:
        k: even.
        biases: all at most -1/(2k), so that bad neurons are silent.
        s: the odd number of ones of each neuron, above k.

    Raises:
        ValueError: as `averaged_ramp_features`, or if a bias is larger.
    """
    table = averaged_ramp_features(k, biases, s)
    if len(biases) and any(b > fmpq(-1, 2 * k) for b in as_exact(list(biases))):
        raise ValueError(f"Bad neurons are silent at biases of at most -1/{2 * k} only, and one is larger.")
    return least_hinge_loss(table, ramp_labels(k), ramp_law(k))


def least_norm_readout(k: int, biases: Sequence[object], neurons: Sequence[int] | None = None) -> LeastNorm:
    """The read-out of hinge loss 0 of least norm for k/2 biases, with its certificate.

    Args:
        k: even.
        biases: k/2 biases whose features are independent.
        neurons: m_j for each bias, the pairs that share it; 1 each if None.

    Raises:
        ValueError: for another number of biases, dependent features (`decide` settles all grids), numbers of neurons
            below 1, or if the read-out with all margins equal to 1 is not the least one.
    """
    table = ramp_features(k, biases)
    counts = [1] * len(biases) if neurons is None else list(neurons)
    if len(counts) != len(biases) or any(m < 1 for m in counts):
        raise ValueError(f"Give one number of neurons, at least 1, for each of the {len(biases)} biases, not {counts}.")
    if table.shape[0] != table.shape[1]:
        raise ValueError(
            f"A least norm is computed for {k // 2} biases, not for {len(biases)}; `decide` takes any grid."
        )
    labels, shared = ramp_labels(k), [1, *counts, *counts]
    features = fmpq_mat(k + 1, k + 1, table.ravel().tolist())
    try:
        weights = features.solve(fmpq_mat(k + 1, 1, labels)).entries()
        divided = [v / m for v, m in zip(weights, shared, strict=True)]
        slopes = features.transpose().solve(fmpq_mat(k + 1, 1, divided)).entries()
    except ZeroDivisionError as error:
        raise ValueError("The features of these biases are linearly dependent; `decide` settles such grids.") from error
    multipliers = [y * x for y, x in zip(labels, slopes, strict=True)]
    norm = sum((v * x for v, x in zip(weights, divided, strict=True)), fmpq(0))
    found = LeastNorm(
        tuple(as_fraction(v) for v in weights), tuple(as_fraction(x) for x in multipliers), as_fraction(norm)
    )
    verify_least_norm(k, biases, found, counts)
    return found


def verify_least_norm(k: int, biases: Sequence[object], found: LeastNorm, neurons: Sequence[int] | None = None) -> None:
    """The check of a least norm by the conditions in the head of the module, in fractions.

    Raises:
        ValueError: naming the condition that fails, or for lengths that do not fit.
    """
    table = [[as_fraction(x) for x in row] for row in ramp_features(k, biases)]
    counts = [1] * len(biases) if neurons is None else list(neurons)
    shared, labels = [1, *counts, *counts], ramp_labels(k)
    weights, multipliers = found.weights, found.multipliers
    if len(weights) != len(table[0]) or len(multipliers) != len(table) or len(shared) != len(weights):
        raise ValueError(f"There must be {len(table[0])} weights and {len(table)} multipliers.")
    if any(x < 0 for x in multipliers):
        raise ValueError("A multiplier is negative.")
    for j, (v, m) in enumerate(zip(weights, shared, strict=True)):
        if v != m * sum(x * y * row[j] for x, y, row in zip(multipliers, labels, table, strict=True)):
            raise ValueError(f"Weight {j} is not the combination of the features that the multipliers give.")
    for z, y, x, row in zip(range(-k, k + 1, 2), labels, multipliers, table, strict=True):
        margin = y * sum(v * phi for v, phi in zip(weights, row, strict=True))
        if margin < 1 or (x > 0 and margin != 1):
            raise ValueError(f"The margin at the sum {z} is {margin}, where the multiplier is {x}.")
    if found.norm_squared != sum(v * v / Fraction(m) for v, m in zip(weights, shared, strict=True)):
        raise ValueError("The squared norm is not that of the weights.")


def design_grid(k: int, slack: object = fmpq(1, 2)) -> tuple[tuple[fmpq, ...], LeastNorm]:
    """The best grid with one kink in each interval [2q - 2, 2q) and all biases at most -(1 + slack)/(2k), certified.

    It is `even_kink_grid` with the offset 1 - slack: |P_q| = (4k + (2 - c_q) |P_(q-1)|)/c_q falls with every offset,
    only the first of which the slack bounds, and the read-out has the weights |P_q| + |P_(q-1)|, so that no other such
    grid has a smaller least norm. A neuron with one weight of size (1 + slack)/(2k) is silent at all these biases: the
    slack is the error of the gradient, in units of |C|, that silence survives.

    Args:
        k: even.
        slack: a rational number, 0 <= slack < 1.

    Raises:
        ValueError: for other k and slack.
    """
    free = as_exact([slack])[0]
    if not isinstance(free, fmpq) or not 0 <= free < 1:
        raise ValueError(f"The slack must be a rational number with 0 <= slack < 1, not {slack!r}.")
    grid = even_kink_grid(k, 1 - free)
    return grid, least_norm_readout(k, grid)
