"""Legal files that cost the kernel of three arguments much: every limit, and pairs of limits, driven to the end.

The table says whether u_a + v_b + s_c > 0 for one neuron, which therefore has a positive margin; it is repeated with
other lengths. All multipliers are equal, and t is so large that the matrix is dominated by its diagonal.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lemmata.certificates import ternary_kernel
from tests.certificates.ternary_kernel.forgeries import mend_decimals

Document = dict[str, Any]


@dataclass(frozen=True)
class Worst:
    """A family: which limits it drives, its exit status, a small file and a large one."""

    limits: str
    status: int
    small: Callable[[], Document]
    large: Callable[[], Document]


def threshold(sides: tuple[int, int, int], r: int, neurons: int = 1, growth: int = 0) -> Document:
    """A document of degree 4 + 2r; ``growth`` makes the lengths of neurons different."""
    lines = [[4 * a - 2 * side + 2 for a in range(side)] for side in sides]
    lines[0] = [entry + 1 for entry in lines[0]]  # all sums are odd
    values = [
        [[int(lines[0][a] + lines[1][b] + lines[2][c] > 0) for c in range(sides[2])] for b in range(sides[1])]
        for a in range(sides[0])
    ]
    table = {"name": "threshold", "labels": 2, "values": values}
    given = ternary_kernel.Table(table)
    x = [entry for line in lines for entry in line]
    listed = [[*x, -1 - i * growth, 1 + i * growth] for i in range(neurons)]
    Q = len(given.tests)
    vector = ternary_kernel.monomials(given, r)
    place = {m: i for i, m in enumerate(vector)}
    forms = ternary_kernel.cubic_forms(given, [1] * Q)
    zero, one = (ternary_kernel.target(given, forms, 1, Fraction(t), Fraction(t), r) for t in (0, 1))
    matrix = [[0] * (i + 1) for i in range(len(vector))]
    for m, coefficient in zero.items():
        if coefficient:
            i, j = place[m[: 2 + r]], place[m[2 + r :]]
            matrix[j][i] += int(coefficient / 2)
    sizes = [sum(map(abs, row)) for row in matrix]
    for row in matrix:
        for j, entry in enumerate(row):
            sizes[j] += abs(entry)
    t = max(sizes)
    for i, m in enumerate(vector):
        matrix[i][i] += t * int(one[tuple(sorted(m + m))])
    value = {
        "format": ternary_kernel.FORMAT,
        "version": 1,
        "table": table,
        "network": {"neurons": listed, "masses": [1 + i for i in range(neurons)]},
        "multipliers": [1] * Q,
        "proof": {
            "kind": f"degree {4 + 2 * r}",
            "t": str(Fraction(t, Q)),
            "t_prime": str(Fraction(t, Q)),
            "denominator": Q,
            "matrix": matrix,
        },
        "margin": {"exact": None, "lower": "0." + "0" * 40, "upper": "0." + "0" * 40},
        "gap": "0",
        "grade": "enclosed",
    }
    mend_decimals(value)
    return value


WORST = {
    "a large matrix of degree 4": Worst(
        "order, tests", 0, lambda: threshold((2, 3, 2), 0), lambda: threshold((10, 10, 10), 0)
    ),
    "a large matrix of degree 6": Worst("order", 0, lambda: threshold((2, 2, 2), 1), lambda: threshold((4, 5, 4), 1)),
    "many neurons": Worst(
        "products, bits", 0, lambda: threshold((2, 2, 2), 0, 9, 1), lambda: threshold((10, 10, 10), 0, 700, 1)
    ),
    "long lengths": Worst(
        "bits of the common multiple",
        0,
        lambda: threshold((1, 2, 2), 0, 20, 3),
        lambda: threshold((1, 2, 2), 0, 2400, 7),
    ),
}


def worst_bytes(value: Document) -> bytes:
    """The file."""
    return json.dumps(value, separators=(",", ":")).encode()
