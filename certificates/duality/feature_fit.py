"""How well a linear predictor of bounded norm on fixed features fits a parity, with certificates from both sides.

Features are a table Psi of shape (2^n, D) over all inputs x of {-1, 1}^n: given as numbers, by functions
(`tabulate`), or as the neural tangent kernel of a torch network (`tangent_features`: its gradient in the parameters).
The best hinge loss of a parity chi_S under ||w|| <= R,

    v(S) = min_(||w|| <= R) E (1 - chi_S <w, Psi>)_+ = max_(0 <= alpha <= 1) E alpha - R ||E alpha chi_S Psi||,

with one alpha(x) for each input, is a second-order cone program. It is solved in floating point; its two solutions are
rounded, and what is returned is exact: `FitCertificate` holds a w within the ball and an alpha, hence an upper and a
lower bound, and `verify` checks both in integer arithmetic, without a root, whatever the solver did. Floats in the
table count as the binary fractions that they are.

At alpha = 1 the lower bound is 1 - R |a_S|, a_S = E chi_S Psi. The a_S over all S have squares of sum E |Psi|^2, so
over the C(n,k) sets of size k the largest v(S), and even the average, is at least

    1 - R sqrt(E |Psi|^2 / C(n,k))        (`theorem_bound`),

whatever the dimension D: if |Psi| <= 1 and R^2 < eps^2 C(n,k), it exceeds 1 - eps.

Source: hidden-progress, theorem 5.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, isqrt, lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, fmpq, fmpz, fmpz_mat
from numpy.typing import ArrayLike, NDArray

from numerics.exact.numbers import as_exact
from numerics.fourier.walsh import walsh_hadamard_inplace

if TYPE_CHECKING:
    import torch

LARGEST_INPUTS = 12
_GRID = 2**30
"""Solutions of the solver are rounded to multiples of 1/_GRID."""


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Exact features over all inputs: Psi = numerators / denominator.

    Attributes:
        inputs: n.
        numerators: integers, shape (2^n, D), in the order of `numerics.fourier.walsh` (bit i of the row is set where
        x_i = -1). denominator: a positive integer.
    """

    inputs: int
    numerators: fmpz_mat
    denominator: int

    @property
    def dimension(self) -> int:
        """D."""
        return self.numerators.ncols()

    def floats(self) -> NDArray[np.float64]:
        """Psi in float64, shape (2^n, D)."""
        entries = [int(x) / self.denominator for x in self.numerators.entries()]
        return np.array(entries).reshape(-1, self.dimension)

    def squared_norms(self) -> list[fmpq]:
        """|Psi(x)|^2 for every input, exactly."""
        square = self.denominator**2
        return [fmpq(sum((x * x for x in row), start=fmpz(0)), square) for row in self.numerators.tolist()]


@dataclass(frozen=True)
class FitCertificate:
    """An exact bracket of the best hinge loss v(S) of one parity under ||w|| <= R.

    Attributes:
        support: S, increasing.
        radius: R.
        weights: w, with ||w|| <= R and E (1 - chi_S <w, Psi>)_+ <= upper.
        dual: alpha in [0, 1]^(2^n), with E alpha - R ||E alpha chi_S Psi|| >= lower.
        lower: a lower bound on v(S).
        upper: an upper bound on v(S).
    """

    support: tuple[int, ...]
    radius: Fraction
    weights: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]
    lower: Fraction
    upper: Fraction


def feature_table(values: ArrayLike | Sequence[Any]) -> FeatureTable:
    """The table of features, shape (2^n, D), from finite floats (exactly as they are) or exact rational numbers.

    Raises:
        ValueError: if the shape is not (2^n, D) with 1 <= n <= 12 and D >= 1, or a number is not finite or not exact.
    """
    array = np.asarray(values)
    rows = array.shape[0] if array.ndim == 2 else 0
    if rows < 2 or rows & (rows - 1) or rows > 2**LARGEST_INPUTS or array.shape[1] < 1:
        raise ValueError(
            f"A table of features has shape (2^n, D) with 1 <= n <= {LARGEST_INPUTS} and D >= 1, not {array.shape}."
        )
    if array.dtype.kind == "f":
        if not np.all(np.isfinite(array)):
            raise ValueError("The features must be finite numbers.")
        entries = [Fraction(x) for x in array.ravel().tolist()]
    else:
        entries = [Fraction(int(x.p), int(x.q)) for x in as_exact(array).ravel().tolist()]
    denominator = lcm(*(x.denominator for x in entries))
    numerators = fmpz_mat(rows, array.shape[1], [int(x * denominator) for x in entries])
    return FeatureTable(rows.bit_length() - 1, numerators, denominator)


def tabulate(features: Iterable[Callable[[NDArray[Any]], ArrayLike]], n: int) -> FeatureTable:
    """The table of a list of features, each a function from all inputs, shape (2^n, n), to 2^n numbers.

    Raises:
        ValueError: if n is out of range, there is no feature, or one returns another number of values.
    """
    points = _points(n)
    columns = [np.asarray(feature(points)) for feature in features]
    wrong = [str(i) for i, column in enumerate(columns) if column.shape != (2**n,)]
    if not columns or wrong:
        raise ValueError(f"Every feature must return {2**n} numbers, one for each input; not so: {', '.join(wrong)}.")
    return feature_table(np.stack(columns, axis=1))


def tangent_features(network: torch.nn.Module, n: int) -> NDArray[np.float64]:
    """The gradient of a torch network of n signs in all its parameters, at every input: shape (2^n, parameters).

    The inner product of two rows is the neural tangent kernel. The network gets a batch (2^n, n) in its own dtype.

    Raises:
        ValueError: if n is not in 1, ..., 10, the network has no parameter, or it does not return one number for each
            input.
    """
    import torch  # slow to import

    if not 1 <= n <= 10:
        raise ValueError(f"The tangent features are tabulated for 1 <= n <= 10 inputs, not {n}.")
    parameters = {name: p.detach() for name, p in network.named_parameters()}
    if not parameters:
        raise ValueError("The network has no parameter, hence no tangent features.")
    dtype = next(iter(parameters.values())).dtype
    points = torch.tensor(_points(n), dtype=dtype)

    def outputs(weights: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.func.functional_call(network, weights, (points,)).reshape(-1)

    if outputs(parameters).shape != (2**n,):
        raise ValueError(f"The network must return one number for each of the {2**n} inputs.")
    jacobian = torch.func.jacrev(outputs)(parameters)
    return torch.cat([block.reshape(2**n, -1) for block in jacobian.values()], dim=1).double().numpy()


def normalised(values: ArrayLike) -> NDArray[np.float64]:
    """The features divided by slightly more than their largest norm over the inputs, so that |Psi| <= 1 exactly.

    Raises:
        ValueError: if the features are no (2^n, D) table of finite numbers, or all vanish.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not array.size or not np.all(np.isfinite(array)):
        raise ValueError(
            f"The features must be a table of finite numbers, not of shape {array.shape}, NaN or infinite."
        )
    largest = float(np.sqrt((array**2).sum(axis=1).max()))
    if largest == 0:
        raise ValueError("All features are 0, so that they cannot be normalised.")
    return array / (largest * (1 + 2.0**-40))


def parity_correlations(table: FeatureTable) -> NDArray[np.float64]:
    """|a_S| = |E chi_S Psi| for all sets S as bit masks, shape (2^n,), in float64."""
    columns = np.ascontiguousarray(table.floats().T)
    for column in columns:
        walsh_hadamard_inplace(column)
    return np.sqrt((columns**2).sum(axis=0)) / 2**table.inputs


def theorem_bound(table: FeatureTable, k: int, radius: Fraction | int | str) -> arb:
    """1 - R sqrt(E |Psi|^2 / C(n,k)): below the average, hence the largest, v(S) over all S of size k.

    Raises:
        ValueError: if k is not in 0, ..., n, or the radius is negative.
    """
    if not 0 <= k <= table.inputs:
        raise ValueError(f"The size k of the sets must be in 0, ..., {table.inputs}, not {k}.")
    norms = table.squared_norms()
    mean = sum(norms, start=fmpq(0)) / len(norms)
    R = _radius(radius)
    return 1 - fmpq(R.numerator, R.denominator) * arb(mean / comb(table.inputs, k)).sqrt()


def best_fit(table: FeatureTable, support: Iterable[int], radius: Fraction | int | str) -> FitCertificate:
    """Solve for v(S) and return a verified bracket of it.

    Raises:
        ValueError: if the support is no set of inputs, the radius is negative, or the solver returns no solution.
    """
    import cvxpy  # slow to import

    S, R = _support(support, table.inputs), _radius(radius)
    psi, labels = table.floats(), _labels(S, table.inputs)
    rows = len(psi)
    w, slack = cvxpy.Variable(table.dimension), cvxpy.Variable(rows, nonneg=True)
    margins = slack >= 1 - cvxpy.multiply(labels, psi @ w)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(slack) / rows), [margins, cvxpy.norm(w, 2) <= float(R)])
    problem.solve(solver=cvxpy.CLARABEL)
    if w.value is None or margins.dual_value is None:
        raise ValueError(f"The solver found no solution for the parity of {S}: {problem.status}.")
    multipliers = rows * np.asarray(margins.dual_value, dtype=np.float64)
    dual = tuple(_rounded(x) for x in np.clip(multipliers, 0, 1).tolist())
    return certify(table, S, R, w.value.tolist(), dual)


def certify(
    table: FeatureTable,
    support: Iterable[int],
    radius: Fraction | int | str,
    weights: Sequence[float],
    dual: Sequence[Fraction],
) -> FitCertificate:
    """The certificate with the best bounds that these weights (shrunk into the ball) and this dual vector prove.

    Raises:
        ValueError: as `verify`.
    """
    S, R = _support(support, table.inputs), _radius(radius)
    w = [_rounded(x) for x in weights]
    norm = _root_above(sum((x * x for x in w), start=Fraction(0)))
    shrunk = tuple(x * R / norm if norm > R else x for x in w)
    alpha = tuple(Fraction(x) for x in dual)
    _check_sizes(table, alpha, w)
    mean = sum(alpha, start=Fraction(0)) / len(alpha)
    lower = max(Fraction(0), mean - R * _root_above(_squared_correlation(table, S, alpha)))
    certificate = FitCertificate(S, R, shrunk, alpha, lower, _hinge_loss(table, S, shrunk))
    verify(table, certificate)
    return certificate


def verify(table: FeatureTable, certificate: FitCertificate) -> None:
    """Return if the certificate proves lower <= v(S) <= upper for these features, in integer arithmetic.

    Raises:
        ValueError: naming what fails: the sizes, a dual entry outside [0, 1], the norm of the weights, a bound.
    """
    S, R = _support(certificate.support, table.inputs), _radius(certificate.radius)
    alpha, w = certificate.dual, certificate.weights
    _check_sizes(table, alpha, w)
    outside = [i for i, x in enumerate(alpha) if not 0 <= x <= 1]
    if outside:
        raise ValueError(f"Entry {outside[0]} of the dual vector is {alpha[outside[0]]}, outside [0, 1].")
    if sum((x * x for x in w), start=Fraction(0)) > R * R:
        raise ValueError(f"The weights have a norm above the radius {R}.")
    gap = sum(alpha, start=Fraction(0)) / len(alpha) - certificate.lower
    proved = gap >= 0 and gap * gap >= R * R * _squared_correlation(table, S, alpha)
    if not proved and certificate.lower > 0:  # a loss is never negative
        raise ValueError(f"The dual vector does not prove the lower bound {float(certificate.lower)}.")
    if _hinge_loss(table, S, w) > certificate.upper:
        raise ValueError(f"The weights do not prove the upper bound {float(certificate.upper)}.")


def fit_all_parities(table: FeatureTable, k: int, radius: Fraction | int | str) -> list[FitCertificate]:
    """The certificates of all S of size k; their largest and their average loss are bounded by `theorem_bound`.

    Raises:
        ValueError: as `best_fit` and `theorem_bound`.
    """
    if not 0 <= k <= table.inputs:
        raise ValueError(f"The size k of the sets must be in 0, ..., {table.inputs}, not {k}.")
    return [best_fit(table, S, radius) for S in combinations(range(table.inputs), k)]


# ---- helpers


def _points(n: int) -> NDArray[Any]:
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= LARGEST_INPUTS:
        raise ValueError(f"The number of inputs must be an integer in 1, ..., {LARGEST_INPUTS}, not {n!r}.")
    return 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


def _labels(support: tuple[int, ...], n: int) -> NDArray[Any]:
    return _points(n)[:, list(support)].prod(axis=1)


def _support(support: Iterable[int], n: int) -> tuple[int, ...]:
    members = tuple(sorted(support))
    if len(set(members)) < len(members) or any(i not in range(n) for i in members):
        raise ValueError(f"The support {list(members)} must be a set of inputs 0, ..., {n - 1}.")
    return members


def _radius(radius: Fraction | int | str) -> Fraction:
    R = Fraction(radius)
    if R < 0:
        raise ValueError(f"The radius must not be negative, but it is {radius}.")
    return R


def _check_sizes(table: FeatureTable, alpha: Sequence[Fraction], w: Sequence[Fraction]) -> None:
    if len(alpha) != 2**table.inputs or len(w) != table.dimension:
        raise ValueError(
            f"The certificate must have {2**table.inputs} dual entries and {table.dimension} weights, "
            f"not {len(alpha)} and {len(w)}."
        )


def _rounded(x: float) -> Fraction:
    return Fraction(round(x * _GRID), _GRID)


def _root_above(x: Fraction) -> Fraction:
    """A rational upper bound of the square root, within 2^-60 of it."""
    scaled = x * 4**60
    return Fraction(isqrt(-(-scaled.numerator // scaled.denominator)) + 1, 2**60) if x else Fraction(0)


def _integers(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """(numerators, common denominator)."""
    common = lcm(*(x.denominator for x in values))
    return [int(x * common) for x in values], common


def _squared_correlation(table: FeatureTable, support: tuple[int, ...], alpha: Sequence[Fraction]) -> Fraction:
    """|E alpha chi_S Psi|^2, exactly."""
    numerators, common = _integers(alpha)
    signs = _labels(support, table.inputs).tolist()
    row = fmpz_mat(1, len(signs), [s * a for s, a in zip(signs, numerators, strict=True)])
    total = sum(int(x) ** 2 for x in (row * table.numerators).entries())
    return Fraction(total, (common * table.denominator * len(signs)) ** 2)


def _hinge_loss(table: FeatureTable, support: tuple[int, ...], weights: Sequence[Fraction]) -> Fraction:
    """E (1 - chi_S <w, Psi>)_+, exactly."""
    numerators, common = _integers(weights)
    column = table.numerators * fmpz_mat(len(numerators), 1, numerators)
    one = common * table.denominator
    signs = _labels(support, table.inputs).tolist()
    losses = (max(0, one - s * int(f)) for s, f in zip(signs, column.entries(), strict=True))
    return Fraction(sum(losses), one * len(signs))
