"""Documents of algebraic margins, each with one thing that the kernel has to notice, or none; and its limits."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from math import isqrt
from typing import Any

from lemmata.certificates import algebraic_kernel
from tests.certificates.algebraic_kernel.documents import document, verdict
from tests.certificates.algebraic_kernel.forgeries import add, constant, monomials

Document = dict[str, Any]
Entry = tuple[str, Document, dict[str, int]]
"""A name, the document, and limits of the kernel that are replaced."""


def with_value(base: Document, path: str, new: Any) -> Document:
    """A copy with another value at a path like ``proof.square.0``."""
    value = copy.deepcopy(base)
    *above, last = (int(key) if key.lstrip("-").isdigit() else key for key in path.split("."))
    parent: Any = value
    for key in above:
        parent = parent[key]
    parent[last] = new
    return value


def with_square(base: Document, change: int) -> Document:
    """A copy with another s, and a matrix for which the identity holds."""
    value = copy.deepcopy(base)
    vector = monomials(value)
    squares = [i for i, m in enumerate(vector) if len(m) == 2 and m[0] == m[1]]
    add(value, one := [value["proof"]["square"]], 0, constant(value, change))
    value["proof"]["square"] = one[0]
    for i in squares:
        for j in squares:
            if j <= i:
                add(value, value["proof"]["matrix"][i], j, constant(value, change))
    return value


def negative(number: list[str]) -> list[str]:
    """A number times -1."""
    return [str(-int(c)) for c in number]


def rational_document() -> Document:
    """A field of degree 1: theta = 3 in place of no field at all."""
    value = document("001/001/110")
    value["field"] = {"polynomial": ["-3"], "low": str(3 << 300), "bits": 300}
    return value


def in_two_degrees() -> Document:
    """A document of rational numbers over the root of 2: each has the second coefficient 0."""
    value = rational_document()
    value["field"] = {"polynomial": ["-2", "0"], "low": str(isqrt(2 << 600)), "bits": 300}
    numbers = [value["multipliers"]["values"], value["network"]["masses"]]
    numbers += [row for name in ("matrix", "kernel") for row in value["proof"][name]] + value["network"]["neurons"]
    for row in numbers:
        row[:] = [[*x, "0"] if x else 0 for x in row]
    value["proof"]["square"].append("0")
    return value


def with_length(base: Document, bits: int) -> Document:
    """A copy whose longest number and the longest one of its field have so many bits together."""
    value = copy.deepcopy(base)
    parts = algebraic_kernel.Document(value)
    vectors = value["proof"]["kernel"]
    longest = max(abs(c).bit_length() for v in parts.kernel for number in v for c in number)
    more = 2 ** (bits - longest - parts.field.length)
    value["proof"]["kernel"] = [[[str(more * int(c)) for c in x] if x else 0 for x in v] for v in vectors]
    return value


@cache
def _least_work(text: str) -> int:
    limit = algebraic_kernel.MAX_WORK
    low, high = 0, limit  # refused, accepted
    try:
        while high - low > 1:
            algebraic_kernel.MAX_WORK = (low + high) // 2
            if verdict(json.loads(text))[0] == 2:
                low = algebraic_kernel.MAX_WORK
            else:
                high = algebraic_kernel.MAX_WORK
    finally:
        algebraic_kernel.MAX_WORK = limit
    return high


def least_work(value: Document) -> int:
    """The least limit of work for which the kernel reads a document."""
    return _least_work(json.dumps(value))


def entries() -> Iterator[Entry]:
    """What the kernel decides."""
    one, two, four = document("00/11"), document("00/01"), document("01/23")
    nine = document("001/022/121")
    for i, value in enumerate((one, two, four, document("001/110"), nine, rational_document())):
        yield f"valid {i}", value, {}
    # what is malformed
    for path, new in {
        "format": "lemmata/operation-margin",
        "version": 2,
        "gap": "0.1",
        "grade": "enclosed",
        "proof.kind": "degree 6",
        "field.polynomial": [],
        "field.low": "0",
        "field.bits": -1,
        "multipliers.denominator": "0",
        "proof.denominator": "-1",
        "network.neurons": [],
        "margin.exact": ["1"],
        "multipliers.values.0": 1,
        "multipliers.values.1": ["1"],
        "proof.square": ["01", "0"],
        "network.masses": [],
        "margin.lower": "x",
    }.items():
        yield f"{path} malformed", with_value(two, path, new), {}
    yield "false for zero", with_value(two, "proof.kernel.0", [False] * len(two["proof"]["kernel"][0])), {}
    yield "bits beyond", with_value(two, "field.bits", 7000), {}
    rational = in_two_degrees()
    yield "rational numbers in two degrees", rational, {}
    number = str(int(rational["proof"]["kernel"][0][0][0]) + 1)
    yield "a vector that P takes to rational numbers", with_value(rational, "proof.kernel.0.0.0", number), {}
    yield "a kernel too large", with_value(one, "proof.kernel", one["proof"]["kernel"] * 7), {}
    for name, limit in (("MAX_WORK", 10), ("MAX_ORDER_CUBED", 12**3 - 1), ("MAX_DEGREE", 1)):
        yield name, two, {name: limit}
    yield "the order at its limit", two, {"MAX_ORDER_CUBED": 12**3}
    long = (with_length(two, bits) for bits in (3999, 4000))
    for i, value in enumerate((one, two, four, *long)):
        work = least_work(value)
        yield f"the least work {i}", value, {"MAX_WORK": work}
        yield f"less work {i}", value, {"MAX_WORK": work - 1}
    for path in ("multipliers.denominator", "proof.denominator"):
        for unit in ("1", "0", "-1"):
            yield f"{path} of {unit}", with_value(two, path, unit), {}
    rows = two["proof"]["matrix"]
    yield "a row fewer", with_value(two, "proof.matrix", rows[:-1]), {}
    yield "a row more", with_value(two, "proof.matrix", [*rows, [0] * (len(rows) + 1)]), {}
    for i in (-1, 1):
        row = two["proof"]["matrix"][5]
        yield f"a row with {i} entries more", with_value(two, "proof.matrix.5", [*row, 0] if i > 0 else row[:-1]), {}
    # the field
    low = int(two["field"]["low"])
    for change in (-2, -1, 1, 2):
        yield f"no zero {change}", with_value(two, "field.low", str(low + change)), {}
    wide = with_value(with_value(two, "field.low", "1"), "field.bits", 0)
    yield "too wide", wide, {}
    for bits in (1, 2, 3, 5, 8, 13, 20, 40, 80, 160, 255, 300, 340, 400):
        for i, value in enumerate((one, two, four, nine)):
            coarse = with_value(value, "field.bits", bits)
            coarse["field"]["low"] = str(int(value["field"]["low"]) >> (value["field"]["bits"] - bits))
            yield f"{bits} bits {i}", coarse, {}
    # theta exactly at an end, and two zeros between the ends: (x - 2)(x - 3), and x (x - 2)
    three = rational_document()
    yield "theta at the upper end", with_value(three, "field.low", str((3 << 300) - 1)), {}
    for polynomial, start in (
        (["6", "-5"], "2"),
        (["2", "-3"], "1"),
        (["4", "-4"], "2"),
        (["8", "-6"], "1"),
        (["0", "-2"], "1"),
        (["6", "-7"], "1"),
        (["-2", "-1"], "1"),
    ):
        yield (
            f"two zeros {polynomial}",
            with_value(with_value(wide, "field.polynomial", polynomial), "field.low", start),
            {},
        )
    # above
    unit = int(two["multipliers"]["denominator"])
    shifted = copy.deepcopy(two)
    add(shifted, shifted["multipliers"]["values"], 0, constant(two, 2 * unit))
    add(shifted, shifted["multipliers"]["values"], 1, constant(two, -2 * unit))
    yield "a negative multiplier", shifted, {}
    yield "another sum", with_value(two, "multipliers.denominator", str(unit + 1)), {}
    for change in (1, -1, 10**6, -(10**6)):
        for i, value in enumerate((one, two, four)):
            yield f"square {change} {i}", with_square(value, change), {}
    for i, value in enumerate((one, two, four)):
        for row in range(len(value["proof"]["matrix"])):
            for column in (0, row // 2, row):
                changed = copy.deepcopy(value)
                add(changed, changed["proof"]["matrix"][row], column, constant(value, 1))
                yield f"entry {row} {column} {i}", changed, {}
        vectors = value["proof"]["kernel"]
        yield f"without a vector {i}", with_value(value, "proof.kernel", vectors[1:]), {}
        yield f"without vectors {i}", with_value(value, "proof.kernel", []), {}
        yield f"a vector of zeros {i}", with_value(value, "proof.kernel.0", [0] * len(vectors[0])), {}
        yield f"unit vectors {i}", with_value(value, "proof.kernel.0.0", [str(c) for c in constant(value, 5)]), {}
        twice = [[[str(10**40 * int(c)) for c in x] if x else 0 for x in v] for v in vectors]
        yield f"long vectors {i}", with_value(value, "proof.kernel", twice), {}
        yield f"vectors twice {i}", with_value(value, "proof.kernel", [*vectors[:2], *vectors]), {}
    for precision in (1, 8, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 100):
        for i, value in enumerate((one, two, four)):
            yield f"precision {precision} {i}", value, {"PRECISION": precision}
    # below
    for i, value in enumerate((one, two, four)):
        masses = value["network"]["masses"]
        yield f"a negative mass {i}", with_value(value, "network.masses.0", negative(masses[0])), {}
        yield f"a mass of zero {i}", with_value(value, "network.masses.0", 0), {}
        larger = [str(2 * int(c)) for c in masses[0]]
        yield f"a larger mass {i}", with_value(value, "network.masses.0", larger), {}
        x = value["network"]["neurons"][0]
        zero = with_value(value, "network.neurons", [[0] * len(x)])
        yield f"no neuron {i}", with_value(zero, "network.masses", masses[:1]), {}
        yield f"another neuron {i}", with_value(value, "network.neurons.0", [x[1], x[0], *x[2:]]), {}
        more = with_value(value, "network.neurons", [*value["network"]["neurons"], [0] * len(x)])
        yield f"a neuron of zeros too {i}", with_value(more, "network.masses", [*masses, masses[0]]), {}
        for j in range(len(masses)):
            fewer = with_value(value, "network.masses", masses[:j] + masses[j + 1 :] or masses)
            rest = value["network"]["neurons"]
            yield (
                f"without a neuron {j} {i}",
                with_value(fewer, "network.neurons", rest[:j] + rest[j + 1 :] or rest),
                {},
            )
    # the margin
    for i, value in enumerate((one, two, four)):
        margin = value["margin"]
        digits, places = int(margin["lower"][2:]), len(margin["lower"]) - 2
        for low, high in ((-1, 0), (1, 2), (0, 2), (-1, 1), (0, 0), (1, 1)):
            texts = {"lower": f"0.{digits + low:0{places}d}", "upper": f"0.{digits + high:0{places}d}"}
            yield f"decimals {low} {high} {i}", with_value(value, "margin", {**margin, **texts}), {}
        yield f"other steps {i}", with_value(value, "margin", {**margin, "lower": "0.1", "upper": "2"}), {}
        yield f"another step {i}", with_value(value, "margin.upper", margin["upper"] + "0"), {}
        for lower, upper in (("0", "1"), ("0.1", "0.2"), ("0.2", "0.3"), ("0.3", "0.4"), ("0.0", "0.1")):
            yield f"{lower} {upper} {i}", with_value(value, "margin", {**margin, "lower": lower, "upper": upper}), {}
        exact = [int(c) for c in margin["exact"]]
        times = [a + 5 * b for a, b in zip([0, *exact], [*exact, 0], strict=True)]
        square = [sum(exact[j] * exact[k - j] for j in range(len(exact)) if 0 <= k - j < len(exact)) for k in range(9)]
        for name, new in (
            ("a multiple", times),
            ("a square", square),
            ("nothing", [0, 0]),
            ("one more", [exact[0] + 1, *exact[1:]]),
        ):
            yield f"exact: {name} {i}", with_value(value, "margin.exact", [str(c) for c in new]), {}
    # a polynomial with another zero near: (g^2 - s)(g^2 - s - d) between coarse decimals
    coarse = {"lower": "0.2", "upper": "0.3"}
    for numerator in (41, 59, 77, 85, 89, 91, 95):  # the squares of the decimals are 40/1000 and 90/1000
        exact = [int(c) for c in two["margin"]["exact"]]
        times = [1000 * a - numerator * b for a, b in zip([0, *exact], [*exact, 0], strict=True)]
        value = with_value(two, "margin", {**coarse, "exact": [str(c) for c in times]})
        yield f"another zero at {numerator}", value, {}
    yield "coarse decimals", with_value(two, "margin", {**two["margin"], **coarse}), {}
