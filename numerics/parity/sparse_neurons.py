"""The exact population gradient of a ReLU neuron with weights 0, 1 and epsilon on a sparse parity, for any size.

A neuron max(w.x + b, 0) has w_i = 1 on the set A of ones, w_i = epsilon on the set B of small weights and 0 elsewhere.
Its gradient, correlated with the parity chi_S of uniform signs x, is

    g_i = E[1{w.x + b > 0} x_i chi_S(x)] = E[1{p + epsilon q + b > 0} chi_T(x)],    T = S xor i,

with p the sum of x over A and q that over B. (`lemmata.numerics.parity.one_step` has -g, the gradient of the
correlation loss; under the hinge loss, at output 0, the gradient descent step is along +u g, u the weight of the neuron
in the output.)

It vanishes unless T lies within A and B. While epsilon |B| + |b| is below the smallest |p| > 0, the sign of p decides
wherever p is not 0, and p vanishes for even |A| only:

    g_i = E[1{p > 0} chi_(T n A)] [T n B empty] + Half_|A|(|T n A|) E[1{epsilon q + b > 0} chi_(T n B)].

Two families are used. **Over-sparse** (epsilon = 0, |A| = s odd, k < s): the second term is absent, and a neuron with
S inside A has g_i = Maj_s(k-1)/2 on S, Maj_s(k+1)/2 on the rest of A, and 0 elsewhere. **Under-sparse** (B the
complement of A, |A| = s < k, both even, epsilon < 1/(n-s)): the first term is absent as |T| > s, and a neuron with A
inside S has g_i = Half_s(s) Maj_(n-s)(k-s-1)/2 on S \\ A, Half_s(s) Maj_(n-s)(k-s+1)/2 outside of S, and 0 on A. Where
k and s are not both even, `odd_under_sparse_values` has what is left of it.

Two further routes share nothing with the closed form: `summed_gradient` (any epsilon and bias, sums over the numbers of
entries -1 in A and B) and `enumerated_gradient` (all 2^n inputs, in integers).

Source: pareto-frontiers, lemmas C.3, C.4, C.13, C.14, C.15, ext-odd-sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from flint import fmpq, fmpz_poly
from numpy.typing import NDArray

from lemmata.numerics.exact.rationals import as_fmpq, common_denominator
from lemmata.numerics.fourier.boolean import half_coefficient, threshold_coefficient
from lemmata.numerics.fourier.gaps import support_indices

__all__ = [
    "GradientValues",
    "SparseNeuron",
    "enumerated_gradient",
    "even_sparse_values",
    "is_good",
    "odd_under_sparse_values",
    "over_sparse_neuron",
    "over_sparse_values",
    "sparse_gradient",
    "summed_gradient",
    "under_sparse_neuron",
    "under_sparse_values",
]

_MOST_INPUTS = 26
"""Beyond this number of inputs the sum over all of them takes more than a minute."""


@dataclass(frozen=True)
class SparseNeuron:
    """A neuron with n inputs whose weights are 0, 1 and epsilon.

    Attributes:
        n: the number of inputs.
        ones: A, the indices with weight 1, increasing.
        small: B, the indices with weight epsilon, increasing; empty if epsilon = 0.
        epsilon: the small weight, a rational number from 0 to 1 (exclusive), held as fmpq.
        bias: a rational number, held as fmpq.

    Raises:
        ValueError: if an index repeats or leaves 0..n-1, the sets meet, epsilon is not in [0, 1) or is 0 beside small
            weights, or a number is not rational.
    """

    n: int
    ones: tuple[int, ...]
    small: tuple[int, ...] = ()
    epsilon: Any = 0
    bias: Any = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "ones", tuple(sorted(self.ones)))
        object.__setattr__(self, "small", tuple(sorted(self.small)))
        for name in ("epsilon", "bias"):
            number = as_fmpq(getattr(self, name))
            if number is None:
                raise ValueError(f"The {name} of a neuron must be a rational number, not {getattr(self, name)!r}.")
            object.__setattr__(self, name, number)
        if self.ones or self.small:
            support_indices(self.n, self.ones + self.small)
        if not 0 <= self.epsilon < 1:
            raise ValueError(f"The small weight must be at least 0 and below 1, the large one, not {self.epsilon}.")
        if self.small and self.epsilon == 0:
            raise ValueError("Weights epsilon = 0 are no small weights: leave the set of small weights empty.")

    @property
    def weights(self) -> NDArray[np.object_]:
        """w, shape (n,), fmpq."""
        w = np.full(self.n, fmpq(0), dtype=object)
        w[list(self.small)] = self.epsilon
        w[list(self.ones)] = fmpq(1)
        return w


def over_sparse_neuron(n: int, ones: Iterable[int], bias: Any = 0) -> SparseNeuron:
    """The neuron with weights 1 on the given indices and 0 elsewhere. Errors as `SparseNeuron`."""
    return SparseNeuron(n, tuple(ones), bias=bias)


def under_sparse_neuron(n: int, ones: Iterable[int], epsilon: Any, bias: Any = 0) -> SparseNeuron:
    """The neuron with weights 1 on the given indices and epsilon > 0 elsewhere. Errors as `SparseNeuron`."""
    chosen = tuple(ones)
    return SparseNeuron(n, chosen, tuple(i for i in range(n) if i not in set(chosen)), epsilon, bias)


def is_good(neuron: SparseNeuron, support: Iterable[int]) -> bool:
    """Whether the ones contain the support (if there are as many or more) or lie within it (if there are fewer).

    Raises:
        ValueError: if the support is no set of inputs.
    """
    S, A = set(support_indices(neuron.n, support)), set(neuron.ones)
    return S <= A if len(A) >= len(S) else A < S


# --- the two values at good neurons ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class GradientValues:
    """The two nonzero values of the population gradient of a good neuron; fmpq.

    Attributes:
        relevant: at the inputs of S that the gradient can tell.
        irrelevant: at the others; 0 if there are none.
    """

    relevant: fmpq
    irrelevant: fmpq

    @property
    def ratio(self) -> fmpq:
        """|relevant|/|irrelevant|. Raises ZeroDivisionError if there are no irrelevant inputs."""
        return abs(self.relevant / self.irrelevant)

    @property
    def gap(self) -> fmpq:
        """|relevant| - |irrelevant|; negative where the irrelevant inputs are the louder ones."""
        return abs(self.relevant) - abs(self.irrelevant)

    @property
    def samples(self) -> fmpq:
        """1/gap^2, the order of the number of samples that reveal the support.

        Raises:
            ValueError: if there is no positive gap.
        """
        if self.gap <= 0:
            raise ValueError(f"No number of samples reveals the support: the gap {self.gap} is not positive.")
        return 1 / self.gap**2


def over_sparse_values(s: int, k: int) -> GradientValues:
    """C = Maj_s(k-1)/2 on S and c = Maj_s(k+1)/2 on the other ones, for 0/1 neurons with S inside the s ones.

    |c|/|C| = (k-1)/(s-k), and C has the sign (-1)^((k-2)/2).

    Raises:
        ValueError: unless k is even, s is odd and 2 <= k < s.
    """
    if k % 2 or s % 2 == 0 or not 2 <= k < s:
        raise ValueError(
            f"The over-sparse values need an even k and an odd s with 2 <= k < s, not k = {k}, s = {s}: for odd k they "
            "vanish, and for even s the sum of the ones ties."
        )
    return GradientValues(threshold_coefficient(s, k - 1), threshold_coefficient(s, k + 1))


def even_sparse_values(s: int, k: int) -> GradientValues:
    """The same two values for an even s > k, k even or odd, and a bias in (-2, 0], so that a tie is not active.

    |c|/|C| = (k-1)/(s-k+1) for even k, where ties have no share in the values, and k/(s-k) for odd k, where they are
    all there is. Ours: the theorems are for odd s.

    Raises:
        ValueError: unless s is even and 2 <= k < s.
    """
    if s % 2 or not 2 <= k < s:
        raise ValueError(f"These values need an even s and 2 <= k < s, not k = {k}, s = {s}.")
    return GradientValues(threshold_coefficient(s, k - 1), threshold_coefficient(s, k + 1))


def under_sparse_values(n: int, k: int, s: int) -> GradientValues:
    """xi_rel on S \\ A and xi_irr outside of S, for neurons with s ones A inside S and epsilon < 1/(n-s) elsewhere.

    |xi_rel|/|xi_irr| = (n-k)/(k-s-1) for odd n and (n-k+1)/(k-s-1) for even n; xi_rel has the sign (-1)^((k-2)/2).

    Raises:
        ValueError: unless k and s are even and 0 <= s < k <= n.
    """
    check_under_sparse(n, k, s)
    half = half_coefficient(s, s)
    irrelevant = threshold_coefficient(n - s, k - s + 1) if k < n else fmpq(0)
    return GradientValues(half * threshold_coefficient(n - s, k - s - 1), half * irrelevant)


def odd_under_sparse_values(n: int, k: int, s: int) -> GradientValues:
    """The same two values where k or s is odd, for neurons with s ones A inside S, epsilon < 1/(n-s) and a bias <= 0.

    For odd k and even s and n they are -Half_s(s) Half_(n-s)(k-s-1)/2 and -Half_s(s) Half_(n-s)(k-s+1)/2: only inputs
    whose sums both tie show an odd parity. A positive bias (below 2 epsilon) turns both signs. |xi_irr|/|xi_rel| =
    (k-s)/(n-k), and |xi_rel| is of the order n^(-(k-s)/2), where for even k and s it is n^(-(k-s-1)/2). For s = k - 1
    odd the one missing input has Maj_s(s)/2, whatever n, and all others 0. In all other cases both are 0, as they are
    for every neuron with s ones.

    Raises:
        ValueError: unless 1 <= s < k <= n, and k or s is odd.
    """
    if not 1 <= s < k <= n:
        raise ValueError(f"An under-sparse neuron needs 1 <= s < k <= n, not n = {n}, k = {k}, s = {s}.")
    if k % 2 == s % 2 == 0:
        raise ValueError(f"Here k or s is odd, not k = {k} and s = {s}: `under_sparse_values` has the even ones.")
    if s % 2:
        return GradientValues(threshold_coefficient(s, s) if s == k - 1 else fmpq(0), fmpq(0))
    if n % 2:
        return GradientValues(fmpq(0), fmpq(0))
    tie = -half_coefficient(s, s) / 2
    return GradientValues(tie * half_coefficient(n - s, k - s - 1), tie * half_coefficient(n - s, k - s + 1))


def check_under_sparse(n: int, k: int, s: int) -> None:
    """Refuse sizes for which the under-sparse gradient does not reveal the support.

    Raises:
        ValueError: unless k and s are even and 0 <= s < k <= n.
    """
    if k % 2 or s % 2:
        raise ValueError(
            f"The under-sparse argument needs an even k and an even s, not k = {k}, s = {s}: the sum of an odd "
            "number of ones never ties, so that the small weights decide nothing, and for odd k only ties of all "
            "inputs show anything (`odd_under_sparse_values`)."
        )
    if not 0 <= s < k <= n:
        raise ValueError(f"The under-sparse argument needs 0 <= s < k <= n, not n = {n}, k = {k}, s = {s}.")


# --- three routes to the gradient -----------------------------------------------------------------------------------


def sparse_gradient(neuron: SparseNeuron, support: Iterable[int]) -> NDArray[np.object_]:
    """The gradient g, shape (n,), fmpq, by the closed form: at most six coefficients whatever the size.

    Args:
        neuron: weights and bias.
        support: S, as different indices from 0 to n-1.

    Raises:
        ValueError: if the small weights and the bias decide where the ones do not tie (epsilon too large), the bias
            more than ties of the small weights, or the support is no set of inputs.
    """
    _check_closed_form(neuron)
    a, b, positive = len(neuron.ones), len(neuron.small), neuron.bias > 0

    def coefficient(in_ones: int, in_small: int) -> fmpq:
        result = threshold_coefficient(a, in_ones) if in_small == 0 else fmpq(0)
        if a % 2 == 0:
            tie = threshold_coefficient(b, in_small)
            if positive and b % 2 == 0:
                tie += half_coefficient(b, in_small)
            result += half_coefficient(a, in_ones) * tie
        return result

    return _by_class(neuron, support, coefficient)


def summed_gradient(neuron: SparseNeuron, support: Iterable[int]) -> NDArray[np.object_]:
    """The gradient g, shape (n,), fmpq, for any epsilon and bias, by sums over the numbers of entries -1 in A and B.

    Raises:
        ValueError: if the support is no set of inputs.
    """
    a, b = len(neuron.ones), len(neuron.small)
    active = [[a - 2 * i + neuron.epsilon * (b - 2 * j) + neuron.bias > 0 for j in range(b + 1)] for i in range(a + 1)]

    def coefficient(in_ones: int, in_small: int) -> fmpq:
        in_a = _signed_counts(a, in_ones)
        in_b = _signed_counts(b, in_small)
        total = sum(
            x * sum(y for y, on in zip(in_b, row, strict=True) if on) for x, row in zip(in_a, active, strict=True)
        )
        return fmpq(total, 2 ** (a + b))

    return _by_class(neuron, support, coefficient)


def enumerated_gradient(neuron: SparseNeuron, support: Iterable[int]) -> NDArray[np.object_]:
    """The gradient g, shape (n,), fmpq, by a compiled loop over all 2^n inputs, in integers.

    Raises:
        ValueError: for more than 26 inputs, numbers too long for 64 bits, or a support that is no set of inputs.
    """
    n, S = neuron.n, support_indices(neuron.n, support)
    if n > _MOST_INPUTS:
        raise ValueError(f"There are 2^{n} inputs, too many to enumerate: give at most {_MOST_INPUTS}.")
    scale = common_denominator([neuron.epsilon, neuron.bias])
    weights = [int(w * scale) for w in neuron.weights]
    bias = int(neuron.bias * scale)
    if sum(map(abs, weights)) + abs(bias) >= 2**62:
        raise ValueError("The numbers of the neuron are too long for the compiled loop: round epsilon and the bias.")
    inside = np.isin(np.arange(n), S)
    counts = _enumerate(np.array(weights, dtype=np.int64), bias, inside)
    result = np.empty(n, dtype=object)
    result[:] = [fmpq(int(count), 2**n) for count in counts]
    return result


# --- private helpers ------------------------------------------------------------------------------------------------


def _check_closed_form(neuron: SparseNeuron) -> None:
    a, b = len(neuron.ones), len(neuron.small)
    size = abs(neuron.bias)
    reach = neuron.epsilon * b + size
    least = 1 if a % 2 else 2
    if a and reach >= least:
        raise ValueError(
            f"The closed form needs epsilon |B| + |bias| < {least}, the least nonzero sum of {a} ones, but it is "
            f"{reach}: epsilon (or the bias) is too large, and `summed_gradient` takes it."
        )
    if a % 2 == 0 and b and size >= neuron.epsilon * (1 if b % 2 else 2):
        raise ValueError(
            f"The closed form needs |bias| < {1 if b % 2 else 2} epsilon, the least nonzero sum of the small weights, "
            f"but the bias is {neuron.bias} and epsilon is {neuron.epsilon}; `summed_gradient` takes them."
        )


def _by_class(
    neuron: SparseNeuron, support: Iterable[int], coefficient: Callable[[int, int], fmpq]
) -> NDArray[np.object_]:
    """The entries g_i from the coefficient at a set T by |T n A| and |T n B|; 0 where T leaves A and B."""
    S, A, B = set(support_indices(neuron.n, support)), set(neuron.ones), set(neuron.small)
    in_ones, in_small, in_none = len(S & A), len(S & B), len(S - A - B)
    known: dict[tuple[int, int], fmpq] = {}
    result = np.full(neuron.n, fmpq(0), dtype=object)
    for i in range(neuron.n):
        step = -1 if i in S else 1
        sizes = (in_ones + step * (i in A), in_small + step * (i in B))
        if in_none + step * (i not in A and i not in B):
            continue
        if sizes not in known:
            known[sizes] = coefficient(*sizes)
        result[i] = known[sizes]
    return result


def _signed_counts(n: int, degree: int) -> list[int]:
    """The sums of chi_T over the inputs of n signs with 0, ..., n entries -1, |T| = degree."""
    counts = fmpz_poly([1, -1]) ** degree * fmpz_poly([1, 1]) ** (n - degree)
    return [int(counts[m]) for m in range(n + 1)]


@numba.njit(cache=True)
def _enumerate(weights: NDArray[np.int64], bias: int, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The sums of chi_S(x) x_i over the inputs with weights.x + bias > 0, along a Gray code."""
    n = len(weights)
    x = np.ones(n, dtype=np.int64)
    counts = np.zeros(n, dtype=np.int64)
    before, label = weights.sum() + bias, 1
    for index in range(1, (1 << n) + 1):
        if before > 0:
            for i in range(n):
                counts[i] += label * x[i]
        if index == 1 << n:
            break
        flipped, rest = 0, index
        while rest & 1 == 0:
            rest >>= 1
            flipped += 1
        before -= 2 * x[flipped] * weights[flipped]
        x[flipped] = -x[flipped]
        if inside[flipped]:
            label = -label
    return counts
