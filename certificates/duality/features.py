"""Feature maps on all sign vectors, as exact tables.

A feature map Psi is a table of shape (2^n, D), one row for each input of {-1, 1}^n: given as numbers (`feature_table`),
by functions (`tabulate`), or as the gradient of a torch network in its parameters (`tangent_features`), whose inner
products are the neural tangent kernel. Floats count as the binary fractions that they are, so that everything computed
from a table is exact. `lemmata.certificates.duality.feature_fit` asks how well a linear predictor on a table fits a
parity.

Source: hidden-progress, theorem 5.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq, fmpz, fmpz_mat
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.inputs import sign_inputs
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction

if TYPE_CHECKING:
    import torch

__all__ = [
    "LARGEST_INPUTS",
    "FeatureTable",
    "feature_table",
    "normalised",
    "parity_labels",
    "sorted_support",
    "tabulate",
    "tangent_features",
]

LARGEST_INPUTS = 12
"""The largest number n of inputs: a table has 2^n rows."""


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Exact features over all inputs: Psi = numerators / denominator.

    Attributes:
        inputs: n.
        numerators: integers, shape (2^n, D), in the order of `lemmata.numerics.fourier.walsh`: bit i of the row is set
            where x_i = -1.
        denominator: a positive integer.
    """

    inputs: int
    numerators: fmpz_mat
    denominator: int

    @property
    def dimension(self) -> int:
        """D."""
        return self.numerators.ncols()

    def floats(self, unit: Fraction | int = 1) -> NDArray[np.float64]:
        """Psi / unit in float64, shape (2^n, D), for a unit > 0."""
        denominator, numerator = self.denominator * Fraction(unit).numerator, Fraction(unit).denominator
        entries = [int(x) * numerator / denominator for x in self.numerators.entries()]
        return np.array(entries).reshape(-1, self.dimension)

    def squared_norms(self) -> list[fmpq]:
        """|Psi(x)|^2 for every input, exactly."""
        square = self.denominator**2
        return [fmpq(sum((x * x for x in row), start=fmpz(0)), square) for row in self.numerators.tolist()]


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
        entries = [as_fraction(x) for x in as_exact(array).ravel().tolist()]
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


def parity_labels(support: tuple[int, ...], n: int) -> NDArray[Any]:
    """chi_S on all inputs, shape (2^n,), 1 or -1.

    Raises:
        ValueError: if n is out of range.
    """
    return _points(n)[:, list(support)].prod(axis=1)


def sorted_support(support: Iterable[int], n: int) -> tuple[int, ...]:
    """The set S of a parity, increasing; the empty set is that of the constant 1.

    Raises:
        ValueError: if it is no set of inputs 0, ..., n - 1.
    """
    members = tuple(sorted(support))
    if len(set(members)) < len(members) or any(i not in range(n) for i in members):
        raise ValueError(f"The support {list(members)} must be a set of inputs 0, ..., {n - 1}.")
    return members


def _points(n: int) -> NDArray[Any]:
    """All inputs, shape (2^n, n)."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= LARGEST_INPUTS:
        raise ValueError(f"The number of inputs must be an integer in 1, ..., {LARGEST_INPUTS}, not {n!r}.")
    return sign_inputs(n)
