"""Mutants of the kernel of three arguments: whatever is changed in it shows on some document."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lemmata.certificates import ternary_kernel
from tests.certificates.kernel_mutants import Entry, survivors
from tests.certificates.operation_documents import at
from tests.certificates.ternary_kernel.documents import NAMES, Document, document, unused_label
from tests.certificates.ternary_kernel.forgeries import FORGED, edit_t, mend_gap

SOURCE = Path(ternary_kernel.__file__).read_text()
SEED = 1130
TRAILING, ZERO = "zeros behind the last coordinate are never read", "zeros are added"
EQUIVALENT = {
    "basis: 0 - 1 in (0, sides[0], sides[0] + sides[1])": TRAILING,
    "basis: size - start - j - 1 with Add": TRAILING,
    "basis: size - start - j with Add": TRAILING,
    "basis: 1 - 1 in size - start - j - 1": TRAILING,
    "basis: size - start with Add": TRAILING,
    "cubic_forms: always if entry": ZERO,
    "cubic_forms: all in  for i, value in enumerate(line) if value": ZERO,
    "check_proof: always if entry": ZERO,
}
"""Mutants that decide every document as the kernel does, and why."""

MALFORMED: list[tuple[str, str, Any]] = [
    ("parity", "format", "lemmata/operation-margin"),
    ("parity", "version", 2),
    ("parity", "version", 0),
    ("parity", "more", 1),
    ("parity", "table.name", "\a"),
    ("parity", "table.name", ""),
    ("parity", "table.labels", 1),
    ("parity", "table.labels", 201),
    ("parity", "table.labels", 200),
    ("parity", "table.values", []),
    ("parity", "table.values.1", 5),
    ("parity", "table.values.0.1", 5),
    ("parity", "table.values", [[[0], [1], [0]], [[1], [0]]]),
    ("parity", "table.values", [[[0, 1]], [[1, 0], [0, 1]]]),
    ("parity", "table.values.0", []),
    ("parity", "table.values.0.0", []),
    ("parity", "table.values.0.0.0", -2),
    ("parity", "table.values.0.0.0", 2),
    ("parity", "table.values.1", [[1, 0]]),
    ("parity", "table.values.1.0", [1]),
    ("parity", "table.values", [[[-1, -1], [-1, -1]], [[-1, -1], [-1, -1]]]),
    ("parity", "network.neurons", []),
    ("parity", "network.neurons.0", [0] * 8),
    ("parity", "network.neurons.0", [1, -1, 1, -1, 1, -1, 1]),
    ("parity", "network.neurons.0.0", 10**12 + 1),
    ("parity", "network.neurons.0.0", 10**12),
    ("parity", "network.neurons.0.0", -(10**12)),
    ("parity", "network.masses.0", 0),
    ("parity", "network.masses.0", 10**19 + 1),
    ("parity", "network.masses", [10**19] * 4),
    ("parity", "network.masses", [1] * 3),
    ("parity", "multipliers", [1] * 7),
    ("parity", "multipliers", [0] * 8),
    ("parity", "multipliers", [10**19] * 8),
    ("parity", "multipliers.0", -1),
    ("parity", "multipliers.0", 10**19 + 1),
    ("parity", "proof.kind", "plane"),
    ("parity", "proof.kind", "degree 6"),
    ("parity", "proof.t", "0"),
    ("parity", "proof.t_prime", "0"),
    ("parity", "proof.t_prime", "-1/2"),
    ("parity", "proof.denominator", 0),
    ("parity", "proof.denominator", 10**19 + 1),
    ("parity", "proof.matrix.17", [0] * 17),
    ("parity", "proof.matrix.0", [10**19 + 1]),
    ("parity", "proof.matrix.0", [10**19]),
    ("parity", "margin.exact", None),
    ("parity", "margin.exact", "0"),
    ("parity", "margin.exact", "3/15"),
    ("parity", "grade", "enclosed"),
    ("parity", "grade", "open"),
    ("parity", "gap", "1e-12"),
    ("parity", "margin", {"exact": "3/16", "lower": "0.18", "upper": "0.19"}),
    ("parity", "margin", {"exact": "3/16", "lower": "0.1", "upper": "0.2"}),
    ("parity", "margin", {"exact": "3/16", "lower": "0.1874", "upper": "0.1875"}),
    ("partial", "margin.exact", "1/5"),
    ("partial", "grade", "exact"),
    ("partial", "gap", "0"),
    ("partial", "gap", "1"),
]
"""A document, a path in it, and a value there."""


def with_value(value: Document, path: str, new: Any) -> Document:
    """The document with another value at a path; an integer is an index."""
    keys = [int(key) if key.isdigit() else key for key in path.split(".")]
    at(value, tuple(keys[:-1]))[keys[-1]] = new
    return value


def entries() -> Iterator[Entry]:
    """Documents, malformed ones, forgeries, and documents at the limits."""
    for name in NAMES:
        yield name, document(name), {}
    for name, path, new in MALFORMED:
        yield f"{name} with {path}", with_value(document(name), path, new), {}
    yield "a list", [], {}
    yield "an unused label", unused_label(), {}
    short = document("partial")
    short["margin"]["lower"] = short["margin"]["lower"][:-3]
    mend_gap(short)
    yield "two lengths of decimals", short, {}
    higher = document("parity")
    while higher["grade"] == "exact":
        edit_t(higher, random.Random(SEED))
    higher["margin"]["exact"] = "3/16"
    yield "above the network", higher | {"grade": "exact", "gap": "0"}, {}
    nothing = document("parity")
    nothing["network"] = {"neurons": [[1] * 8], "masses": [1]}
    nothing["margin"] = {"exact": None, "lower": "0", "upper": "1"}
    yield "a margin of 0", nothing | {"grade": "enclosed", "gap": "1"}, {}
    source = random.Random(SEED)
    for i in range(150):
        value = document(source.choice(NAMES))
        FORGED[i % len(FORGED)](value, source)
        yield f"forgery {i}", value, {}
    yield from at_the_limits()


def at_the_limits() -> Iterator[Entry]:
    """What is just within each limit, and just beyond."""
    parity, six = document("parity"), document("degree 6")
    fourth = 64  # (6 + 2)^2 of all neurons
    for limit, value, least in (
        ("MAX_TESTS", parity, 16),
        ("MAX_ORDER_CUBED", parity, 18**3),
        ("MAX_ORDER_CUBED", six, len(six["proof"]["matrix"]) ** 3),
        ("MAX_COMMON_BITS", parity, fourth.bit_length()),
        ("MAX_BIT_PRODUCTS", parity, fourth.bit_length() * 4 * 8),
        ("MAX_PRODUCTS", parity, 4 * (8 + 8)),
        ("MAX_TESTS", document("three sides"), 18),
    ):
        for number in (least, least - 1):
            yield f"{limit} {number}", value, {limit: number}
    odd = with_value(document("parity"), "network", {"neurons": [[1, -1, 1, -1, 1, -1, 1, 0]], "masses": [1]})
    yield "an odd length", odd, {"MAX_COMMON_BITS": (7 * 7).bit_length()}
    several = with_value(document("parity"), "network.neurons.0.0", 2)  # |omega|^4 is 121
    for number in ((64 * 121).bit_length(), (64 * 121).bit_length() - 1):
        yield f"two lengths {number}", several, {"MAX_COMMON_BITS": number}


def test_mutants_of_the_kernel_show(effort):
    """Quick: a sample; full: all but those that are equivalent."""
    sample = effort.pick(quick=12, full=None)
    assert survivors(ternary_kernel, SOURCE, EQUIVALENT, entries(), least=200, sample=sample, seed=SEED) == []
