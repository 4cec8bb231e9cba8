"""Legal tables that keep the kernel busy: those of cyclic groups, each value once with many sums that vanish."""

from typing import Any

from sympy import primerange

PRIME = 3  # of the vanishing sums: all cube roots of unity times one root


def padded_cyclic(n: int, roots: int, length: int, maps: int) -> dict[str, Any]:
    """The true table of Z_n in roots of unity of the order ``roots``, a multiple of n and of 3.

    Args:
        length: characters of the first text of each value, about.
        maps: the number of power maps, for the least primes.
    """
    step = roots // n

    def short(k: int) -> str:
        return f"E({roots})^{step * k}" if k else "1"

    def padded(k: int) -> str:
        parts = [short(k)]
        size = len(parts[0])
        for j in range(roots // PRIME):
            zero = "".join(f"+E({roots})^{j + i * roots // PRIME}" for i in range(PRIME))
            size += len(zero)
            if size > length:
                break
            parts.append(zero)
        return "".join(parts)

    seen: set[int] = set()
    characters = []
    for i in range(n):
        row = []
        for j in range(n):
            k = i * j % n
            row.append(short(k) if k in seen or not k else padded(k))
            seen.add(k)
        characters.append(row)
    return {
        "name": f"Z{n} padded",
        "order": n,
        "class_names": [str(i) for i in range(n)],
        "class_sizes": [1] * n,
        "characters": characters,
        "powers": {str(p): [p * i % n for i in range(n)] for p in list(primerange(2, 200))[:maps]},
        "indicators": [int(2 * i % n == 0) for i in range(n)],
    }


def document(table: dict[str, Any]) -> dict[str, Any]:
    """A document about a table whose masses prove nothing: the kernel says so after all relations of the table."""
    n = len(table["class_sizes"])
    return {
        "format": "lemmata/table-margin",
        "version": 1,
        "table": table,
        "factors": 2,
        "scaled_masses": ["0"] * n,
        "scaled_weights": [{}] * n,
        "value": {"lower": "1/(1)", "upper": "1/(1)"},
        "margin": {"exact": None, "lower": "0.1", "upper": "0.2"},
        "grade": "enclosed",
    }


WORST = {
    "power maps of long values": (660, 1980, 14_456, 40),
    "long values": (660, 1980, 14_456, 0),
    "many classes": (990, 1980, 400, 40),
}
"""Arguments of `padded_cyclic`; the files are nearly as large as they may be."""
