"""What a sparse start costs: how likely its good neurons are, and the width and the samples that one step needs.

A start draws r/2 pairs of neurons with s ones each; a pair is good with a probability p and then sits at one of B
biases, each equally likely. It is **over-sparse** for s > k: good means S inside the ones, the relevant and irrelevant
gradients are C and c, and B = k/2, or (k+1)/2 for odd k. It is **under-sparse** for s < k: good means the ones inside
S, the gradients are xi_rel and xi_irr, and B = k. The theorems are for even k, odd s above k and even s below it. An
even s > k tells the inputs apart just as well, and for odd k only an even s does (`even_sparse_values`,
`odd_kink_grid`). Below k there is also s = k - 1 for even k, and for odd k every even s if n is even
(`odd_under_sparse_values`, `one_step_network`). Truncation at gamma = |relevant|/2 keeps just the relevant entries of
a good neuron if every estimated gradient is within

    tau < |relevant|/2 - |irrelevant|

of the population gradient. Where the irrelevant gradient is too large for that but still the smaller one, gamma is
midway between the two, and tau < (|relevant| - |irrelevant|)/2: k is not too large a share of s, 2k < s <= 3k for odd k
and 2k - 1 < s <= 3k - 2 or so for even k. For s from k + 1 to 2k or so no truncation serves: the inputs of A outside of
S are the louder ones, and only their opposite sign tells them from S. So one step finds S, at every bias, under two
conditions that are nearly independent of the algorithm, and both are computed exactly or rounded the safe way:

    width      every bias has ``copies`` or more good pairs: a sum over the biases that fall short, by inclusion and
               exclusion, P = sum_j (-1)^j C(B,j) sum_d a_jd N!/(N-d)! (1 - jp/B)^(N-d), N = r/2, a_jd the coefficient
               of z^d in (sum_(i < copies) (pz/B)^i/i!)^j;
    samples    m >= (2/tau^2) log(2 n N/delta), by Hoeffding's inequality for the n N entries of all pairs.

`proof_sizes` has the constants of the repaired theorems beside these, `printed_sizes` those of the printed proof.
`hidden_samples` is the other side: below it gradient noise of the size that sampling costs can hide some parity.

Source: pareto-frontiers, lemmas C.2, C.3, C.5, C.6, C.9, C.10, C.15, theorems C.11 and C.16, proposition 6.3; what is
not in these theorems is ours (ext-odd-sizes).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, perm
from typing import Any, Literal

from flint import arb, arb_poly, fmpq

from lemmata.constructions.parity.bias_grids import offset_grid, solve_readout
from lemmata.constructions.parity.over_sparse_sizes import over_sparse_sizes
from lemmata.numerics.exact.integers import checked_integer, smallest_integer
from lemmata.numerics.exact.numbers import ceiling, exact_midpoint, exact_number
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.rationals import as_fmpq
from lemmata.numerics.parity.good_neurons import check_over_sparse, good_probability
from lemmata.numerics.parity.sparse_neurons import (
    GradientValues,
    even_sparse_values,
    odd_under_sparse_values,
    over_sparse_values,
    under_sparse_values,
)
from lemmata.numerics.parity.under_sparse_sizes import under_sparse_sizes

__all__ = [
    "ProofSizes",
    "SparseStart",
    "frontier_point",
    "hidden_samples",
    "printed_sizes",
    "proof_sizes",
    "sparse_start",
    "usable_sparsities",
]

_BITS = 256
_MOST_INPUTS, _MOST_RELEVANT = 4096, 64


@dataclass(frozen=True)
class SparseStart:
    """A sparse start for a parity of k of n inputs.

    Attributes:
        n, k, s: inputs, inputs of the parity, ones of a neuron.
        regime: "over" for s > k, "under" for s < k.
        good: the probability p of a good neuron.
        biases: B.
        values: the relevant and the irrelevant gradient of a good neuron.
    """

    n: int
    k: int
    s: int
    regime: Literal["over", "under"]
    good: fmpq
    biases: int
    values: GradientValues

    @property
    def in_theorems(self) -> bool:
        """Whether theorem C.11 or C.16 speaks of it: k even, s odd above k or even below, gamma = |relevant|/2."""
        return self.k % 2 == 0 and self.s % 2 == (self.regime == "over") and not self.midway

    @property
    def midway(self) -> bool:
        """Whether truncation at |relevant|/2 cannot tell the inputs apart, so that it is midway between the two."""
        return 2 * abs(self.values.irrelevant) >= abs(self.values.relevant)

    @property
    def threshold(self) -> fmpq:
        """gamma: truncation zeroes the entries of at most this size."""
        relevant, irrelevant = abs(self.values.relevant), abs(self.values.irrelevant)
        return (relevant + irrelevant) / 2 if self.midway else relevant / 2

    @property
    def tolerance(self) -> fmpq:
        """threshold - |irrelevant|: gradient errors below it are harmless; positive where |irrelevant| is smaller."""
        return self.threshold - abs(self.values.irrelevant)

    def coverage(self, pairs: int, copies: int = 1) -> arb:
        """The probability that every bias has so many good pairs or more, as a ball; 0 exactly if pairs are too few.

        Raises:
            ValueError: unless pairs >= 0 and copies >= 1.
        """
        checked_integer("The number of pairs", pairs, 0)
        checked_integer("The number of copies", copies, 1)
        if pairs < self.biases * copies:
            return arb(0)
        share = self.good / self.biases
        total = arb(0)
        with precision(_BITS + pairs.bit_length()):  # a power loses as many bits as its exponent has
            short, power = arb_poly([arb(share) ** i / perm(i, i) for i in range(copies)]), arb_poly([1])
            for j in range(self.biases + 1):
                left = 1 - j * share
                inner = arb(0)
                for d, coefficient in enumerate(power.coeffs()):
                    rest = arb(left) ** (pairs - d) if left else arb(int(pairs == d))
                    inner += coefficient * perm(pairs, d) * rest
                total += (-1) ** j * comb(self.biases, j) * inner
                power *= short
        return total

    def width(self, delta: Any, copies: int = 1) -> int:
        """The least even width at which every bias has its copies with probability 1 - delta or more.

        Raises:
            ValueError: unless 0 < delta < 1 is rational, or as `coverage`.
        """
        failure = _probability(delta)
        # one bias alone lacks good pairs with probability (1 - q)^N >= exp(-N q/(1 - q)), q = p/B: N must exceed this
        share = self.good / self.biases
        floor = ((1 - share) / share * arb(1 / failure).log()).lower().floor()
        least = max(1, int(exact_midpoint(floor)))
        with precision(_BITS + 2 * least.bit_length()):  # for the comparison as well
            return 2 * smallest_integer(least, lambda pairs: bool(self.coverage(pairs, copies) >= 1 - failure))

    def samples(self, pairs: int, delta: Any) -> int:
        """The number of samples after which all estimated gradients are within the tolerance, but for delta.

        Raises:
            ValueError: unless pairs >= 1 and 0 < delta < 1 is rational.
        """
        checked_integer("The number of pairs", pairs, 1)
        return ceiling(2 / self.tolerance**2 * arb(2 * self.n * pairs / _probability(delta)).log())

    def missed(self, pairs: int, samples: int) -> arb:
        """Hoeffding's bound, at most 1, for the probability that some estimated gradient is off by more than allowed.

        Raises:
            ValueError: unless pairs >= 1 and samples >= 1.
        """
        checked_integer("The number of pairs", pairs, 1)
        checked_integer("The number of samples", samples, 1)
        bound = 2 * self.n * pairs * (-arb(samples * self.tolerance**2) / 2).exp()
        return bound if bound < 1 else arb(1)


def usable_sparsities(n: int, k: int) -> list[int]:
    """The s for which truncation at half of the relevant gradient tells relevant from irrelevant inputs, increasing.

    For even k some even ones below k, and all above 3k - 3 (|c|/|C| is (k-1)/(s-k) for odd s, (k-1)/(s-k+1) for even
    ones); for odd k the even ones above 3k (|c|/|C| = k/(s-k)), and for even n some even ones below k. `sparse_start`
    takes two further kinds: s = k - 1 for even k, and truncation midway between the two gradients.

    Raises:
        ValueError: unless 2 <= k <= 64 and k < n <= 4096.
    """
    _check(n, k)
    starts = [SparseStart(n, k, s, "under", fmpq(0), k, _under_values(n, k, s)) for s in range(2, k, 2)]
    under = [start.s for start in starts if not start.midway]
    return [*under, *(range(3 * k + 1, n + 1, 2) if k % 2 else range(3 * k - 2, n + 1))]


def sparse_start(n: int, k: int, s: int) -> SparseStart:
    """The start with s ones per neuron.

    Raises:
        ValueError: unless 2 <= k <= 64, k < n <= 4096, s is in 1..k-1 or k+1..n, and the relevant gradient is larger
            than the irrelevant one. Both vanish for odd k unless s, and below k also n, is even, and for even k where
            s < k - 1 is odd.
    """
    _check(n, k)
    if s == k:
        raise ValueError(f"At s = k = {k} good neurons have the support already; the step is for s below or above k.")
    if k < s <= n:
        if k % 2 and s % 2:
            raise ValueError(
                f"For an odd k = {k} a neuron with an odd number s = {s} of ones shows nothing in its first gradient "
                "(coefficients of majority at even degrees vanish): take an even s, whose ties show it."
            )
        values = over_sparse_values(s, k) if s % 2 else even_sparse_values(s, k)
        start = SparseStart(n, k, s, "over", good_probability(n, k, s), (k + 1) // 2, values)
    elif 1 <= s < k:
        start = SparseStart(n, k, s, "under", fmpq(comb(k, s), comb(n, s)), k, _under_values(n, k, s))
        if start.values.relevant == 0:
            raise ValueError(_nothing_shown(n, k, s))
    else:
        raise ValueError(f"A sparse neuron on {n} inputs has 1 <= s < {k} ones or {k} < s <= {n}, not {s}.")
    if start.tolerance <= 0:
        usable = usable_sparsities(n, k)
        raise ValueError(
            f"At n = {n}, k = {k}, s = {s} the gradient is {float(start.values.relevant):.3g} for relevant inputs and "
            f"{float(start.values.irrelevant):.3g} for others, as much or more: no truncation tells them apart. Their "
            "signs do, being opposite, but no read-out for that is here. Truncation can for s in "
            f"{', '.join(map(str, usable[:12])) or 'no set'}{' and larger ones' if len(usable) > 12 else ''}."
        )
    return start


def _under_values(n: int, k: int, s: int) -> GradientValues:
    """The gradients of a good neuron with s < k ones."""
    return (odd_under_sparse_values if k % 2 or s % 2 else under_sparse_values)(n, k, s)


def _nothing_shown(n: int, k: int, s: int) -> str:
    """Why a start with s < k ones shows nothing, and which one does."""
    if s % 2:
        why = f"the sum of {s} ones, an odd number, never ties, so that the small weights decide nothing"
        what = "an even s and an even n" if k % 2 else f"an even s, or s = {k - 1}, which shows the one missing input"
    else:
        why, what = "an odd parity shows only where all inputs tie, which an odd number of them never does", "an even n"
    return f"At n = {n}, k = {k}, s = {s} the first gradient of every neuron is 0 at every input: {why}. Take {what}."


def frontier_point(start: SparseStart, delta: Any, copies: int = 1) -> tuple[int, int]:
    """A width and a number of samples with which one step finds S at every bias with probability 1 - delta.

    Half of delta goes to each of the two conditions. Errors as `SparseStart.width`.
    """
    half = _probability(delta) / 2
    width = start.width(half, copies)
    return width, start.samples(width // 2, half)


@dataclass(frozen=True)
class ProofSizes:
    """The sizes that a proof writes down.

    Attributes:
        width: r.
        samples: m.
        steps: the steps T of the second layer; None where it is given.
        least_s: the least sparsity that the proof accepts for this epsilon; None where it depends on k alone.
    """

    width: int
    samples: int
    steps: int | None = None
    least_s: int | None = None


def proof_sizes(start: SparseStart, epsilon: Any, delta: Any) -> ProofSizes:
    """The constants of the two theorems as the ledger repairs and proves them, end to end.

    Over-sparse: `lemmata.constructions.parity.over_sparse_sizes`, with truncation, for a hinge loss of epsilon after
    training the second layer. Under-sparse: `lemmata.numerics.parity.under_sparse_sizes`, for an output within epsilon.

    Raises:
        ValueError: unless 0 < epsilon < 1 and 0 < delta < 1 are rational, or as these.
    """
    accuracy, failure = _accuracy(epsilon), _probability(delta)
    if start.regime == "under":
        under = under_sparse_sizes(start.n, start.k, start.s, accuracy, failure)
        return ProofSizes(under.width, under.samples)
    over = over_sparse_sizes(start.n, start.k, start.s, accuracy, failure)
    return ProofSizes(over.width, over.samples, over.steps)


def printed_sizes(start: SparseStart, epsilon: Any, delta: Any, offset: Any = "1/16") -> ProofSizes:
    """The literal constants of the printed over-sparse proof, which has no truncation.

    The two repairs without which it names no numbers are made: the bias beta_0, and r' = r p/k. Then r = 20k (2n/s)^k
    log(2k/delta), with B the norm of the read-out for kinks ``offset`` below the even numbers, eta = 1/(2k|C|),
    tau = min(epsilon/(4 B k r' n eta), 1/(16 eta k n)), m = (4/tau^2) log(4nr/delta), s >= 4 k r' B^2/epsilon^2,
    T/log T >= (100 B^2/epsilon^2) (sqrt(8 k r') + 1/B)^2. Further errors of that proof stay as they are.

    Raises:
        ValueError: for an under-sparse start, whose theorem prints no constants; as `proof_sizes`, or for an offset
            that is not in (0, 2].
    """
    accuracy, failure = _accuracy(epsilon), _probability(delta)
    n, k, s = start.n, start.k, start.s
    if start.regime == "under":
        raise ValueError(f"The theorem on under-sparse starts (s = {s} < k = {k}) is printed without constants.")
    check_over_sparse(n, k, s)
    width = ceiling(20 * k * fmpq(2 * n, s) ** k * arb(2 * k / failure).log())
    width += width % 2
    per_bias = width * start.good / k
    norm = solve_readout(k, offset_grid(k, offset)).norm_squared
    eta = 1 / (2 * k * abs(start.values.relevant))
    with precision(_BITS):
        tau = accuracy / (4 * arb(norm).sqrt() * k * per_bias * n * eta)
        if not tau < 1 / (16 * eta * k * n):
            tau = arb(1 / (16 * eta * k * n))
        samples = ceiling(4 / tau**2 * arb(4 * n * width / failure).log())
        needed = 100 * norm / accuracy**2 * (arb(8 * k * per_bias).sqrt() + 1 / arb(norm).sqrt()) ** 2
        least = ceiling(arb(4 * k * per_bias * norm / accuracy**2))
        steps = smallest_integer(3, lambda T: bool(arb(T) / arb(T).log() >= needed))
    return ProofSizes(width, samples, steps, least)


def hidden_samples(n: int, k: int, width: int, steps: int = 1, delta: Any = "1/2") -> int:
    """The number of samples up to which some parity can stay hidden in first-layer steps of the hinge loss.

    The r n first-layer weights of a network with output weights +-1 take T steps while the margin is below 1. Let tau^2
    = 8 r n T/(delta C(n,k)); by proposition 6.3, with 1/4 for 1/2, noise of size tau hides some parity but for a
    probability delta/2 of the start. Gradients from m samples are within tau/2 but for delta/2 if
    m >= 8 log(4 r n T/delta)/tau^2, which is the number here, rounded down; with fewer samples the errors of sampling
    are larger still. The noise is adversarial: the statement is not one on plain SGD.

    Raises:
        ValueError: unless 1 <= k <= n, width >= 1, steps >= 1 and 0 < delta < 1 is rational.
    """
    checked_integer("k", k, 1)
    if not k <= n <= _MOST_INPUTS:
        raise ValueError(f"A parity of k = {k} inputs needs k <= n <= {_MOST_INPUTS}, not n = {n}.")
    queries = checked_integer("The width", width, 1) * n * checked_integer("The number of steps", steps, 1)
    failure = _probability(delta)
    return int(exact_midpoint((failure * comb(n, k) / queries * arb(4 * queries / failure).log()).lower().floor()))


def _check(n: int, k: int) -> None:
    if not isinstance(k, int) or k < 2:
        raise ValueError(f"The parity must have a number k >= 2 of inputs, not {k}.")
    if k > _MOST_RELEVANT:
        raise ValueError(f"The exact sums over biases are for k <= {_MOST_RELEVANT} relevant inputs, not {k}.")
    if not k < n <= _MOST_INPUTS:
        raise ValueError(
            f"The number n of inputs must be above k = {k} and at most {_MOST_INPUTS} (the exact numbers have about n "
            f"bits, for n/2 sparsities), not {n}."
        )


def _probability(delta: Any) -> fmpq:
    number = _rational(delta)
    if number is None or not 0 < number < 1:
        raise ValueError(f'delta must be a rational number or a string such as "0.01", 0 < delta < 1, not {delta!r}.')
    return number


def _accuracy(epsilon: Any) -> fmpq:
    number = _rational(epsilon)
    if number is None or not 0 < number < 1:
        raise ValueError(
            f'epsilon must be a rational number or a string such as "0.1", 0 < epsilon < 1, not {epsilon!r}.'
        )
    return number


def _rational(value: Any) -> fmpq | None:
    """A rational number or a string of one; None for anything else, floats included, as `as_exact` has it."""
    try:
        return as_fmpq(exact_number(value))
    except ValueError:
        return None
