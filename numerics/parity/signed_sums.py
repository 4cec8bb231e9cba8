"""The law of a sum of signs: how many of the 2^d sign vectors z give each value of u . z, for integer weights u.

Two algorithms: `signed_sum_counts` adds the weights to a dictionary of values, equal ones at once by their binomial
coefficients, which takes weights of any size while there are few values; `signed_sum_law` multiplies the polynomials
z^u_j + z^-u_j, equal weights at once as a power, which takes thousands of small weights. The tests compare them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from flint import fmpz, fmpz_poly

from lemmata.numerics.runs.memory import require_memory

__all__ = ["signed_sum_counts", "signed_sum_law"]

_MANY, _BYTES = 2**18, 300  # from so many values on the memory is checked; bytes for each: two dictionaries, integers


def signed_sum_counts(weights: Sequence[int]) -> dict[int, int]:
    """The number of sign vectors z for each value of weights . z, value by value; the numbers add up to 2^d.

    Raises:
        ValueError: if the values do not fit in the memory of the machine (saying how much they need): there are up to
            min(2^d, sum |weights| + 1).
    """
    values = min(2 ** len(weights), sum(map(abs, weights)) + 1)
    if values > _MANY:
        require_memory(_BYTES * values, f"The law of a sum of {len(weights)} signs, with up to {values} values,")
    counts = {0: 1}
    for weight, copies in Counter(map(abs, weights)).items():
        following: dict[int, int] = defaultdict(int)
        ways = [1]  # of choosing the copies with sign -1
        for j in range(copies):
            ways.append(ways[-1] * (copies - j) // (j + 1))
        for total, count in counts.items():
            for j, chosen in enumerate(ways):
                following[total + (copies - 2 * j) * weight] += count * chosen
        counts = dict(following)
    return counts


def signed_sum_law(weights: Iterable[int]) -> dict[int, int]:
    """The number of sign vectors z for each value of weights . z, by powers of polynomials: fast for equal weights.

    Raises:
        ValueError: if the polynomial, of degree 2 sum |weights|, does not fit in the memory of the machine.
    """
    absolute = Counter(abs(int(weight)) for weight in weights)
    degree = 2 * sum(weight * count for weight, count in absolute.items())
    bits = sum(absolute.values())
    require_memory(3 * (degree + 1) * (8 + bits // 8), f"The law of a sum of {bits} signs, of degree {degree},")
    product = fmpz_poly([1])
    for weight, count in absolute.items():
        product *= fmpz_poly([1] + [0] * (2 * weight - 1) + [1]) ** count if weight else fmpz_poly([fmpz(2) ** count])
    return {i - degree // 2: int(c) for i, c in enumerate(product.coeffs()) if c != 0}
