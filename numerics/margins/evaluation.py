"""Margins of one-hidden-layer networks over every input, in mass form.

Group tasks have neurons (u, v, w) and the network f(a, b)[c] = sum_i masses_i (u_i(a) + v_i(b))^2 w_i(c); the right
label of (a, b) is table[a, b]. Parity has f(x) = sum_i masses_i (hidden_i . x)^k readout_i on all 2^n sign vectors;
label 0 means y = +1, y the product of the coordinates in `support`. Nothing is divided by a norm: these are margins of
the raw sums.

The cost of `group_margins` is one product of an (n^2, m) by an (m, n) matrix, done in blocks of rows that stay in
cache: a kernel squares, BLAS multiplies, a kernel reduces. Below `FEW_NUMBERS` the kernels are plain NumPy, because
loading the compiled ones takes longer than all the sums, and compiling them on first use much longer.

Source: feature-emergence, definitions 7.2 and 7.3; class weights as in definition 7.3.2.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lemmata.numerics.groups.tables import FiniteGroup, group_from_table, square_table
from lemmata.numerics.margins import arrays

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BLOCK_BYTES = 8 * 2**20  # squares and outputs of one block: in cache, and few waits of the threads of BLAS
FEW_NUMBERS = 2**21  # squares and outputs, n^2 (m + n), up to which NumPy takes less time than loading compiled loops
MAX_SIGNS = 24  # 2^24 inputs
LOW_BITS = 8  # inputs that differ in these coordinates are handled together


@dataclass(frozen=True)
class MarginSummary:
    """The extremes of f[right label] - f[wrong label].

    Attributes:
        minimum: the margin h of the network.
        argmin: where it is attained: (a, b, wrong c) for groups (the first in lexicographic order), the sign vector for
            parity (the first in the order of the index bits).
        maximum: the largest difference over all points and all wrong labels.
        argmax: where that is attained.
        point_maximum: the largest margin of a point (the smallest is `minimum`); they agree iff all points tie.
        class_minimum: the smallest difference over the triples with a b c^-1 in each class, in the order of
            `group.classes`; entry 0 (no wrong label there) is 0. None unless the labels come from a FiniteGroup.
        class_maximum: the largest such differences.
    """

    minimum: float
    argmin: tuple[int, ...]
    maximum: float
    argmax: tuple[int, ...]
    point_maximum: float
    class_minimum: FloatArray | None = None
    class_maximum: FloatArray | None = None


def _finite_matrix(name: str, value: npt.ArrayLike, shape: tuple[int | None, ...]) -> FloatArray:
    """The float64 array `value` of the wanted shape (None: any).

    Raises:
        ValueError: naming the first violation.
    """
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold real numbers; its dtype is {array.dtype}.")
    fits = array.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have shape ({wanted}); its shape is {array.shape}.")
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        where = ", ".join(str(int(i)) for i in bad[0])
        raise ValueError(f"{name}[{where}] is {array[tuple(bad[0])]}; every weight must be finite.")
    return np.ascontiguousarray(array, dtype=np.float64)


def _masses(masses: npt.ArrayLike | None, m: int) -> FloatArray:
    if masses is None:
        return np.ones(m)
    array = _finite_matrix("masses", masses, (m,))
    negative = np.flatnonzero(array < 0)
    if negative.size:
        i = int(negative[0])
        raise ValueError(f"masses[{i}] is {array[i]}; masses must be nonnegative (a sign belongs to the readout).")
    return array


def _group_neurons(
    u: npt.ArrayLike, v: npt.ArrayLike, w: npt.ArrayLike, n: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    first = _finite_matrix("u", u, (None, n))
    m = len(first)
    if m == 0:
        raise ValueError("The network has no neurons; at least one is needed.")
    return first, _finite_matrix("v", v, (m, n)), _finite_matrix("w", w, (m, n))


def _refuse_overflow(bound: float) -> None:
    """Refuse a bound of all partial sums of the forward pass that is not finite; else no inf or NaN can occur."""
    if not np.isfinite(bound):
        raise ValueError("The weights are so large that the outputs overflow double precision; scale them down.")


def _wrong_label(row: FloatArray, right: int, largest: bool) -> int:
    """The first wrong label with the largest (or smallest) output of one point."""
    masked = row.copy()
    masked[right] = -np.inf if largest else np.inf
    return int(np.argmax(masked) if largest else np.argmin(masked))


def group_margins(
    hidden_u: npt.ArrayLike,
    hidden_v: npt.ArrayLike,
    readout: npt.ArrayLike,
    table: FiniteGroup | npt.ArrayLike,
    masses: npt.ArrayLike | None = None,
) -> MarginSummary:
    """The margin of a network for a binary operation, over all n^2 points and all wrong labels.

    It takes 2 m n^3 floating-point operations, and `BLOCK_BYTES` more memory than the arguments.

    Args:
        hidden_u: u, (m, n), finite.
        hidden_v: v, (m, n), finite.
        readout: w, (m, n), finite.
        table: a FiniteGroup (then the extremes per class are reported too) or any (n, n) integer matrix of labels
            0..n-1, n >= 2.
        masses: (m,), nonnegative, all 1 by default.

    Raises:
        ValueError: naming the first violation, or if the outputs could overflow.
    """
    group = table if isinstance(table, FiniteGroup) else None
    labels = table.table if isinstance(table, FiniteGroup) else square_table(table)
    u, v, w = _group_neurons(hidden_u, hidden_v, readout, len(labels))
    weights = _masses(masses, len(u))
    with np.errstate(over="ignore"):
        squared = np.maximum((np.abs(u).max(axis=1) + np.abs(v).max(axis=1)) ** 2, 1.0)
        _refuse_overflow(4 * float(np.sum(squared * (weights * np.abs(w).max(axis=1)))))
    return _group_extremes(u, v, weights[:, None] * w, labels, group)


def _group_extremes(
    u: FloatArray, v: FloatArray, weighted: FloatArray, labels: IntArray, group: FiniteGroup | None
) -> MarginSummary:
    """The summary for validated neurons (m, n), the masses multiplied into the readout, block by block."""
    (m, n), right = u.shape, labels.reshape(-1)
    ut, vt = np.ascontiguousarray(u.T), np.ascontiguousarray(v.T)
    classes = 0 if group is None else len(group.classes)
    class_low, class_high = np.full(classes, np.inf), np.full(classes, -np.inf)
    wrong_class = None if group is None else group.class_of[group.table[:, group.inverse]]

    if n * n * (m + n) <= FEW_NUMBERS:
        kernels = arrays
    else:
        from lemmata.numerics.margins import loops as kernels  # Numba is slow to import
    rows = min(n * n, max(1, BLOCK_BYTES // (8 * (m + n))))
    squares, outputs = np.empty((rows, m)), np.empty((rows, n))
    low, high = np.empty(rows), np.empty(rows)
    minimum, maximum, point_maximum = np.inf, -np.inf, -np.inf
    argmin = argmax = (0, 0, 0)
    for start in range(0, n * n, rows):
        size = min(rows, n * n - start)
        f, block = outputs[:size], right[start : start + size]
        kernels.squares(ut, vt, start, squares[:size])
        np.dot(squares[:size], weighted, out=f)
        kernels.reduce_rows(f, block, low, high)
        worst, best = int(np.argmin(low[:size])), int(np.argmax(high[:size]))
        if low[worst] < minimum:
            minimum = float(low[worst])
            argmin = (*divmod(start + worst, n), _wrong_label(f[worst], block[worst], largest=True))
        if high[best] > maximum:
            maximum = float(high[best])
            argmax = (*divmod(start + best, n), _wrong_label(f[best], block[best], largest=False))
        point_maximum = max(point_maximum, float(low[:size].max()))
        if wrong_class is not None:
            kernels.reduce_classes(f, block, wrong_class, class_low, class_high)
    if group is None:
        return MarginSummary(minimum, argmin, maximum, argmax, point_maximum)
    return MarginSummary(minimum, argmin, maximum, argmax, point_maximum, class_low, class_high)


def expected_class_margins(
    u: npt.ArrayLike,
    v: npt.ArrayLike,
    w: npt.ArrayLike,
    table: FiniteGroup | npt.ArrayLike,
    tau: npt.ArrayLike,
) -> FloatArray:
    """The class-weighted margin of each neuron, averaged over uniform points, by its definition; shape (m,).

    This is E_(a,b) (u(a) + v(b))^2 (w(ab) - sum_(c != ab) tau(a b c^-1) w(c)), in O(m n^2) operations.

    Args:
        u: (m, n).
        v: (m, n).
        w: (m, n).
        table: a group, or its Cayley table.
        tau: (n,) the weight of each element, 0 at the identity, sum 1; it need be neither nonnegative nor constant on
            classes.

    Raises:
        ValueError: naming the first violation, also when `table` is not a group.
    """
    group = table if isinstance(table, FiniteGroup) else group_from_table(table)
    n = group.order
    first, second, third = _group_neurons(u, v, w, n)
    weight = _finite_matrix("tau", tau, (n,))
    if weight[group.identity] != 0:
        raise ValueError(
            f"tau[{group.identity}] is {weight[group.identity]}; the identity stands for the right label and "
            "must have weight 0."
        )
    # Half of the digits: a sum farther from 1 is a wrong normalisation, not rounding.
    if abs(weight.sum() - 1) > np.sqrt(np.finfo(float).eps):
        raise ValueError(f"tau sums to {weight.sum()}; the weights of the elements (not of the classes) must sum to 1.")
    kappa = -weight
    kappa[group.identity] = 1.0
    targets = third @ kappa[group.table[:, group.inverse]].T  # targets_i(x) = sum_c kappa(x c^-1) w_i(c)
    with np.errstate(over="ignore"):
        sums = np.abs(first).max(axis=1) + np.abs(second).max(axis=1)
        _refuse_overflow(4 * n * n * float(np.sum(sums**2 * np.abs(targets).max(axis=1))))
    from lemmata.numerics.margins import loops as kernels  # Numba is slow to import

    return kernels.class_margin_means(first, second, targets, group.table)


def _sign_tables(hidden: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The parts low (m, 2^l) and high (2^(n-l), m) of hidden_i . x, with index bit j set where x_j = -1."""

    def partial_sums(columns: FloatArray) -> FloatArray:
        sums = columns.sum(axis=1, keepdims=True)
        for column in columns.T:
            sums = np.concatenate([sums, sums - 2 * column[:, None]], axis=1)
        return sums

    split = min(LOW_BITS, hidden.shape[1])
    low, high = partial_sums(hidden[:, :split]), partial_sums(hidden[:, split:])
    return np.ascontiguousarray(low), np.ascontiguousarray(high.T)


def _parity_network(
    hidden: npt.ArrayLike,
    readout: npt.ArrayLike,
    masses: npt.ArrayLike | None,
    degree: int,
    support: npt.ArrayLike,
) -> tuple[FloatArray, FloatArray, int]:
    """The validated hidden (m, n), the readout differences times masses (m,), and the mask of the support."""
    directions = _finite_matrix("hidden", hidden, (None, None))
    m, n = directions.shape
    if m == 0 or n == 0 or n > MAX_SIGNS:
        raise ValueError(
            f"Enumerating all sign vectors needs at least one neuron and 1 to {MAX_SIGNS} inputs; "
            f"hidden has shape {directions.shape}."
        )
    outputs = _finite_matrix("readout", readout, (m, 2))
    weights = _masses(masses, m)
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 1:
        raise ValueError(f"The degree of the activation must be a positive integer; got {degree!r}.")
    indices = np.asarray(support)
    if indices.ndim != 1 or len(indices) == 0 or indices.dtype.kind not in "iu":
        raise ValueError(f"The support must be a nonempty list of coordinates; got {support!r}.")
    if indices.min() < 0 or indices.max() >= n or len(set(indices.tolist())) != len(indices):
        raise ValueError(f"The support must list distinct coordinates in 0..{n - 1}; got {indices.tolist()}.")
    with np.errstate(over="ignore"):
        differences = weights * (outputs[:, 0] - outputs[:, 1])
        reach = np.maximum(np.abs(directions).sum(axis=1), 1.0) ** float(degree)
        _refuse_overflow(2.0 ** (n + 2) * float(np.sum(np.maximum(np.abs(differences), 1.0) * reach)))
    return directions, differences, sum(1 << int(i) for i in indices)


def parity_margins(
    hidden: npt.ArrayLike,
    readout: npt.ArrayLike,
    masses: npt.ArrayLike | None,
    degree: int,
    support: npt.ArrayLike,
) -> MarginSummary:
    """The margin of a parity network over all 2^n sign vectors, by enumeration.

    It takes O(m degree 2^n) operations and memory for 2^(n-8) rows.

    Args:
        hidden: (m, n), n <= 24.
        readout: (m, 2), column 0 for y = +1.
        masses: (m,), nonnegative, or None for all 1.
        degree: the power k >= 1.
        support: the coordinates whose product is y.

    Raises:
        ValueError: naming the first violation.
    """
    directions, weights, mask = _parity_network(hidden, readout, masses, degree, support)
    from lemmata.numerics.margins import loops as kernels  # Numba is slow to import

    low, high = _sign_tables(directions)
    smallest, where_smallest, largest, where_largest = kernels.parity_extremes(low, high, weights, int(degree), mask)
    first, last = int(np.argmin(smallest)), int(np.argmax(largest))

    def signs(index: int) -> tuple[int, ...]:
        return tuple(-1 if index >> i & 1 else 1 for i in range(directions.shape[1]))

    maximum = float(largest[last])
    return MarginSummary(
        float(smallest[first]),
        signs(int(where_smallest[first])),
        maximum,
        signs(int(where_largest[last])),
        maximum,
    )


def expected_parity_margins(
    hidden: npt.ArrayLike, readout: npt.ArrayLike, degree: int, support: npt.ArrayLike
) -> FloatArray:
    """The margin of each neuron averaged over all 2^n sign vectors, by enumeration; shape (m,).

    This is E_x y (readout_0 - readout_1) (hidden . x)^degree, with arguments and errors as in `parity_margins`.
    """
    directions, weights, mask = _parity_network(hidden, readout, None, degree, support)
    from lemmata.numerics.margins import loops as kernels  # Numba is slow to import

    low, high = _sign_tables(directions)
    return kernels.parity_margin_means(low, high, weights, int(degree), mask)
