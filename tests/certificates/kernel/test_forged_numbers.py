"""Consistent forgeries: all dependent fields are computed anew, so that only the line under test is violated."""

import json
from fractions import Fraction

import pytest

from lemmata.certificates import kernel
from lemmata.certificates.groups.decimals import reciprocal_decimals
from tests.certificates.documents import margin_document, reordered
from tests.certificates.kernel import worst


def sealed(document):
    """The document with value, margin and grade recomputed from its masses and weights, as a forger would do."""
    k, rows = document["factors"], document["characters"]["rows"]
    masses, weights = {}, {}
    for row in rows:
        w = kernel.payoff_scale(row["values"][0], row["indicator"], k)
        masses = kernel.plus(masses, w, Fraction(row["scaled_mass"]))
    for entry in document["classes"]:
        weights = kernel.plus(weights, {int(m): Fraction(q) for m, q in entry["scaled_weight"].items()})
    low, high = (kernel.reciprocal_margin(total, document["group"]["order"], k) for total in (masses, weights))
    exact = masses == weights
    lower, upper = reciprocal_decimals(low, high, 12)
    document["value"] = {"lower": kernel.text(masses), "upper": kernel.text(weights)}
    document["margin"] = {"exact": kernel.text(low) if exact else None, "lower": lower, "upper": upper}
    document["grade"] = "exact" if exact else "enclosed"
    return document


def forge_masses(name, change):
    document = margin_document(name)
    for i, row in enumerate(document["characters"]["rows"]):
        row["scaled_mass"] = str(change(i, Fraction(row["scaled_mass"])))
    return sealed(document)


def forge_weights(name, change):
    document = margin_document(name)
    for j, entry in enumerate(document["classes"]):
        entry["scaled_weight"] = change(j, entry["scaled_weight"])
    return sealed(document)


def forge(name, change):
    document = margin_document(name)
    change(document)
    return document


def scaled_row(document):
    """A multiple of a complex character of A_4: multiplicative, with indicator 0, and of a degree that divides 12."""
    row = next(row for row in document["characters"]["rows"] if row["indicator"] == 0)
    row["values"] = [2 * v if isinstance(v, int) else [[2 * c, e] for c, e in v] for v in row["values"]]
    sealed(document)


def first_row_violated(document):
    """S_3 with the sign character first, the only row that the new weights violate: 6/5 > 1, and 3/2 < sqrt(8)."""
    rows = document["characters"]["rows"]
    document["characters"]["rows"] = [rows[1], rows[0], rows[2]]
    for entry, weight in zip(document["classes"], ({}, {"1": "3/5"}, {"1": "1/10"}), strict=True):
        entry["scaled_weight"] = weight
    sealed(document)


def decimals(lower, upper):
    """Other decimals for Z_2 and k = 3, whose margin is 3/16 = 0.1875, a decimal itself."""
    document = margin_document("Z2", 3, 4)
    document["margin"].update(lower=lower, upper=upper)
    return document


TINY = Fraction(1, 10**30)


def identity_last(document):
    """The classes of Z_2 in the other order, with their indices, under the old columns."""
    document["classes"] = reordered(document, range(2), [1, 0])["classes"]


FORGERIES = {
    "halved masses": (forge_masses("S3", lambda i, y: y / 2), "less than 1"),
    "masses that are a little too small": (forge_masses("S3", lambda i, y: y * (1 - TINY)), "less than 1"),
    "a mass that is a little too small": (forge_masses("S3", lambda i, y: y - TINY * (i == 2)), "less than 1"),
    "weights a little too large": (
        forge_weights("S3", lambda j, u: {m: str(Fraction(q) + TINY) for m, q in u.items()}), "more than w"
    ),
    "the first row violated": (forge("S3", first_row_violated), r"rows\[0\]: the weights give it more than w"),
    "a lower decimal one unit too low": (decimals("0.1874", "0.1875"), "margin.lower: is not the closest"),
    "an upper decimal one unit too high": (decimals("0.1875", "0.1876"), "margin.upper: is not the closest"),
    "a lower decimal too high": (decimals("0.1876", "0.1876"), "margin.lower: is not the closest"),
    "an upper decimal too low": (decimals("0.1875", "0.1874"), "margin.upper: is not the closest"),
    "other exponents": (decimals("1.875e-1", "0.187"), "same number of places and the same exponent"),
    "a negative mass": (forge_masses("S3", lambda i, y: (0, Fraction(-1, 6), 1)[i]), "scaled_mass: is negative"),
    "a trivial mass": (forge_masses("S3", lambda i, y: y if i else 1), "trivial character"),
    "uneven masses": (forge_masses("Z5", lambda i, y: Fraction(4, 5) if i == 2 else 0), "scaled_mass: differs"),
    "uneven weights": (forge_weights("Z5", lambda j, u: {"2": "4/5"} if j == 2 else {}), "scaled_weight: differs"),
    "large weights": (forge_weights("Q8", lambda j, u: dict.fromkeys(u, "1")), "more than w"),
    "a negative weight": (forge_weights("S3", lambda j, u: ({}, u, {"1": "-1/9"})[j]), "weight: is negative"),
    "weight on the identity": (forge_weights("S3", lambda j, u: u if j else {"1": "5"}), "must be empty"),
    "a root that is no root": (forge_weights("Q8", lambda j, u: {"4": "1/20"} if j else {}), "no w has"),
    "no weights": (forge("S3", lambda d: [c.update(scaled_weight={}) for c in d["classes"]]), "value.upper"),
    "understated grade": (forge("S3", lambda d: d.update(grade="enclosed")), "grade: is exact"),
    "fewer places": (forge("S3", lambda d: d["margin"].update(upper="0.024")), "same number of places"),
    "loose lower decimal": (forge("S3", lambda d: d["margin"].update(lower="0." + "0" * 31)), "margin.lower"),
    "multiple of a character": (forge("A4", scaled_row), "does not have norm 1"),
    "stranger as representative": (
        forge("A4", lambda d: d["classes"][1].update(representative=[1, 0, 2, 3])), "is not in the group"
    ),
    "representative twice": (
        forge("S3", lambda d: d["classes"][1].update(representative=[2, 0, 1], size=2)
              or d["classes"][2].update(representative=[1, 2, 0])), "lies in classes"
    ),
    "wrong size": (forge("S3", lambda d: d["classes"][1].update(size=2)), "size: the class has 3"),
    "wrong inverse": (forge("D4", lambda d: d["classes"][2].update(inverse=3)), "inverse: is class 2"),
    "wrong square": (forge("S3", lambda d: d["classes"][1].update(square=1)), "square: is class 0"),
    "order too small": (forge("S3", lambda d: d["group"].update(order=4)), "more than 4 elements"),
    "order too large": (forge("S3", lambda d: d["group"].update(order=7)), "has 6 elements"),
    "identity last": (forge("Z2", identity_last), "must be the class of the identity"),
    "missing class": (
        forge("S3", lambda d: [d["classes"].pop(), d["characters"]["rows"].pop()]
              and [row["values"].pop() for row in d["characters"]["rows"]]), "elements together"
    ),
    "row twice": (
        forge("S3", lambda d: d["characters"]["rows"].__setitem__(1, d["characters"]["rows"][0])),
        r"rows\[1\]: is proportional to rows\[0\]",
    ),
    "degree that does not divide": (
        forge("Z5", lambda d: d["characters"]["rows"][1]["values"].__setitem__(0, 2)), "does not divide"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_consistent_forgeries_break_on_the_line_that_they_violate(name):
    document, line = FORGERIES[name]
    with pytest.raises(kernel.ViolatedError, match=line):
        kernel.check(json.dumps(document).encode())


@pytest.mark.parametrize("pair", [("0.1875", "0.1875"), ("1.875e-1", "1.875e-1"), ("187.50e-3", "187.50e-3")])
def test_a_margin_that_is_a_decimal_is_its_own_enclosure(pair):
    assert kernel.check(json.dumps(decimals(*pair)).encode()).endswith("(exact)")


@pytest.mark.parametrize(
    "decimal", ["00.1875", "0.1875e0", "0.1875e-0", "0.1875e01", "+0.1875", ".1875", "0.", "1e1000"]
)
def test_decimals_that_are_not_of_the_format_are_malformed(decimal):
    with pytest.raises(kernel.MalformedError, match=r"margin\.lower must be a string"):
        kernel.check(json.dumps(decimals(decimal, "0.1875")).encode())


@pytest.mark.parametrize(("name", "factor"), [("Z4", 2), ("Z9", 3), ("Z12", 2), ("Z12", 3), ("Z2^4", 2), ("Z2^4", 4)])
def test_multiples_of_characters_are_refused(name, factor):
    """Multiplied with its degree a row is as multiplicative as before; its norm tells, whatever row it is.

    One class separates the rows of a cyclic group, four those of the other.
    """
    for R in range(len(margin_document(name)["classes"])):
        document = margin_document(name)
        row = document["characters"]["rows"][R]
        row["values"] = [
            factor * value if isinstance(value, int) else [[factor * c, e] for c, e in value] for value in row["values"]
        ]
        with pytest.raises(
            kernel.ViolatedError, match=rf"^characters\.rows\[{R}\]: does not have norm 1 with degree {factor}$"
        ):
            kernel.check(json.dumps(document).encode())


@pytest.mark.parametrize("order", [4, 9, 16])
def test_multiples_of_characters_are_refused_where_one_class_separates(order):
    """The generator comes first of all classes but the identity, and is enough."""
    factor = 2 if order % 2 == 0 else 3
    table = worst.abelian([order])
    parts = kernel.Document(worst.document(table))
    assert kernel.separating_classes(parts, kernel.Packing(order, 10**6)) == [1]
    for R in range(order):
        rows = [
            [{e: factor * c for e, c in x.items()} for x in row] if i == R else row for i, row in enumerate(table.rows)
        ]
        document = worst.document(table)
        document["characters"]["rows"][R]["values"] = [worst.written(x) for x in rows[R]]
        with pytest.raises(
            kernel.ViolatedError, match=rf"^characters\.rows\[{R}\]: does not have norm 1 with degree {factor}$"
        ):
            kernel.check(json.dumps(document).encode())


@pytest.mark.parametrize("name", ["Z9", "S5", "C7:C3", "SL(2,3)"])
def test_one_value_of_the_wrong_sign_is_refused_in_every_row(name):
    """No row is left out, those after conjugate ones included."""
    count = len(margin_document(name)["classes"])
    for R in range(count):
        document = margin_document(name)
        values = document["characters"]["rows"][R]["values"]
        j = max(j for j in range(1, count) if values[j])
        values[j] = -values[j] if isinstance(values[j], int) else [[-c, e] for c, e in values[j]]
        with pytest.raises(kernel.ViolatedError, match=rf"^characters\.rows\[{R}\]: is not multiplicative on classes"):
            kernel.check(json.dumps(document).encode())
