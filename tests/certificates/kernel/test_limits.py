"""The limits and ranges of the kernel, each at its last accepted value and at the first one that is refused."""

import copy
import json
import math
from fractions import Fraction

import pytest

from lemmata.certificates import kernel
from tests.certificates.documents import margin_document

LIMITS = {
    "MAX_BYTES": 16_000_000,
    "MAX_BRACKETS": 1_000_000,
    "MAX_ORDER": 1_000_000,
    "MAX_IMAGES": 20_000_000,
    "MAX_PRODUCTS": 50_000_000,
    "MAX_COORDINATES": 100_000_000,
    "MAX_WORK": 3_000_000_000_000,
    "MAX_COEFFICIENTS": 1_000_000,
    "MAX_CLASSES": 1000,
    "MAX_ROOT_ORDER": 2000,
    "MAX_GENERATORS": 50,
    "MAX_FACTORS": 64,
    "MAX_SEPARATING": 64,
    "MAX_DIGITS": 2000,
    "MAX_UNITS": 4,
    "MAX_CONJUGATES": 67_108_864,
    "MAX_BITS": 32_768,
}


def test_the_limits_are_those_that_the_measured_time_and_memory_belong_to():
    assert {name: getattr(kernel, name) for name in dir(kernel) if name.startswith("MAX_")} == LIMITS


# ---- bytes and numbers of a file


def test_bytes_are_counted(monkeypatch):
    monkeypatch.setattr(kernel, "MAX_BYTES", 10)
    assert kernel.parse(b"[1,2,3,45]") == [1, 2, 3, 45]
    with pytest.raises(kernel.MalformedError, match="more than 10 bytes"):
        kernel.parse(b"[1,2,3,456]")


@pytest.mark.parametrize("pieces", [(b"[]", b"[]"), (b"{}", b"{}"), (b"[]", b"{}")])
def test_lists_and_objects_are_counted_together(pieces, monkeypatch):
    monkeypatch.setattr(kernel, "MAX_BRACKETS", 7)
    parts = [*pieces, *pieces, *pieces, pieces[0]]
    assert len(kernel.parse(b"[" + b",".join(parts[:6]) + b"]")) == 6
    with pytest.raises(kernel.MalformedError, match="7 lists and objects"):
        kernel.parse(b"[" + b",".join(parts) + b"]")


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"a":1,"b":2,"a":3}', '[{"a":{"b":[],"b":[]}}]'])
def test_a_key_twice_is_refused_wherever_it_is(text):
    with pytest.raises(kernel.MalformedError, match="an object has a key twice"):
        kernel.parse(text.encode())
    assert kernel.parse(b'{"a":1,"b":{"a":1}}') == {"a": 1, "b": {"a": 1}}


@pytest.mark.parametrize("text", ["1" * 20, "-" + "9" * 19, "0"])
def test_integers_of_20_characters_are_read(text):
    assert kernel.parse(text.encode()) == int(text)


@pytest.mark.parametrize("text", ["1" * 21, "-" + "1" * 20, "7" * 5000, "1.5", "1" * 45 + ".5", "NaN"])
def test_longer_integers_and_floats_are_refused_and_quoted_up_to_40_characters(text):
    with pytest.raises(kernel.MalformedError) as error:
        kernel.parse(text.encode())
    assert str(error.value) == f"{text[:40]} is not an integer of at most 20 characters"


def test_strings_have_at_most_2000_characters():
    assert kernel.string("a" * 2000, "x", "a*") == "a" * 2000
    with pytest.raises(kernel.MalformedError, match="x must be a string of at most 2000 characters"):
        kernel.string("a" * 2001, "x", "a*")


# ---- ranges of the parts of a document: what is out of range is malformed, not only wrong


def at(document, path):
    """The container and the last key of a path such as ("classes", 1, "size")."""
    for key in path[:-1]:
        document = document[key]
    return document, path[-1]


ROWS = ("characters", "rows")
RANGES = {
    "version": (("version",), 1, 2),
    "factors": (("factors",), 2, 64),
    "order": (("group", "order"), 2, 1_000_000),
    "degree": (("group", "degree"), 2, 20_000_000 // 6),
    "image": (("group", "generators", 0, 0), 0, 2),
    "image of a representative": (("classes", 1, "representative", 0), 0, 2),
    "size": (("classes", 1, "size"), 1, 6),
    "inverse": (("classes", 1, "inverse"), 0, 2),
    "square": (("classes", 1, "square"), 0, 2),
    "root order": (("characters", "root_order"), 1, 2000),
    "degree of a character": ((*ROWS, 2, "values", 0), 1, 2),
    "indicator": ((*ROWS, 1, "indicator"), -1, 1),
}


@pytest.mark.parametrize("name", RANGES)
def test_integers_out_of_range_are_malformed(name):
    """S_3: order 6, degree 3, three classes, degrees of characters up to isqrt(6)."""
    path, low, high = RANGES[name]
    for value in (low - 1, high + 1):
        document = margin_document("S3")
        container, key = at(document, path)
        container[key] = value
        with pytest.raises(kernel.MalformedError, match=f"must be an integer from {low} to {high}$"):
            kernel.Document(document)


@pytest.mark.parametrize("name", [name for name in RANGES if name not in ("order", "degree") and "image" not in name])
def test_integers_at_the_ends_of_their_range_are_read(name):
    """They are wrong, most of them, but well formed; order, degree and images are bound to other parts."""
    path, low, high = RANGES[name]
    for value in (low, high):
        document = margin_document("S3")
        container, key = at(document, path)
        container[key] = value
        kernel.Document(document)


@pytest.mark.parametrize(
    ("order", "count"),
    [(2, 1000), (50_000, 1000), (50_001, 999), (100_000, 500), (199_999, 250), (200_000, 250), (1_000_000, 50)],
)
def test_numbers_of_classes_are_limited_by_the_order(order, count):
    """At most 1000 classes, and at most 50 million products of an element with a representative."""
    document = margin_document("S3")
    document["group"]["order"] = order
    for classes in ([], document["classes"][:1], document["classes"] * 400):
        document["classes"] = classes
        with pytest.raises(kernel.MalformedError, match=f"classes must be a list of 2 to {count} entries"):
            kernel.Document(document)


def test_numbers_of_generators_are_limited():
    document = margin_document("S3")
    generators = document["group"]["generators"]
    document["group"]["generators"] = generators * 25
    assert len(kernel.Document(document).generators) == 50
    for wrong in ([], [*generators * 25, generators[0]]):
        document["group"]["generators"] = wrong
        with pytest.raises(kernel.MalformedError, match=r"group\.generators must be a list of 1 to 50 entries"):
            kernel.Document(document)


@pytest.mark.parametrize("sign", [1, -1])
def test_coefficients_of_cyclotomic_integers_are_limited(sign):
    assert kernel.cyclotomic_integer([[sign * 10**6, 1]], "x", 3) == {1: sign * 10**6}
    with pytest.raises(kernel.MalformedError, match="x must be an integer from -1000000 to 1000000"):
        kernel.cyclotomic_integer([[sign * (10**6 + 1), 1]], "x", 3)


def test_exponents_increase_and_stay_below_the_root_order():
    assert kernel.cyclotomic_integer([[1, 0], [2, 1], [3, 4]], "x", 5) == {0: 1, 1: 2, 4: 3}
    for wrong, low in (([[1, -1]], 0), ([[1, 5]], 0), ([[1, 2], [1, 2]], 3), ([[1, 2], [1, 1]], 3), ([[1, 1.0]], 0)):
        with pytest.raises(kernel.MalformedError, match=f"x must be an integer from {low} to 4"):
            kernel.cyclotomic_integer(wrong, "x", 5)
    for wrong in ([[0, 1]], [[1, 0]], [[1, 0], [0, 2]]):
        with pytest.raises(kernel.MalformedError, match="must have non-zero coefficients, and an exponent above 0"):
            kernel.cyclotomic_integer(wrong, "x", 5)


@pytest.mark.parametrize(
    ("value", "length"),
    [([], "1 to 5"), ([[1, 1]] * 6, "1 to 5"), ([[1]], "2 to 2"), ([[1, 2, 3]], "2 to 2"), ([[]], "2 to 2")],
)
def test_cyclotomic_integers_are_lists_of_pairs(value, length):
    with pytest.raises(kernel.MalformedError, match=f"x must be a list of {length} entries"):
        kernel.cyclotomic_integer(value, "x", 5)
    for wrong in (None, "1", 1.0, True, {"1": 1}, [1], [None]):
        with pytest.raises(kernel.MalformedError, match="must be a list of"):
            kernel.cyclotomic_integer(wrong, "x", 5)
    assert kernel.cyclotomic_integer(0, "x", 5) == {}


@pytest.mark.parametrize(
    "value", [[0, 1], [0, 1, 2, 2], [0, 0, 1], [0, 1, 3], [0, 1, -1], [0, 1, 2.0], [0, 1, True], 3]
)
def test_permutations_are_lists_of_all_images(value):
    assert kernel.permutation([2, 0, 1], "x", 3) == (2, 0, 1)
    with pytest.raises(kernel.MalformedError, match=r"^x must "):
        kernel.permutation(value, "x", 3)


@pytest.mark.parametrize(
    "value", ["2/4", "4/2", "1/1", "-0", "+1", "01", "0/1", "1/0", "1/-2", " 1", "1.0", "1e3", 1, None]
)
def test_fractions_are_strings_in_lowest_terms(value):
    for text in ("0", "-3", "2/5", "-2/5"):
        assert kernel.fraction(text, "x") == Fraction(text)
    with pytest.raises(kernel.MalformedError, match=r"^x must "):
        kernel.fraction(value, "x")


def test_weights_have_at_most_100_square_roots_of_5_digits():
    roots = {str(m): "1" for m in range(1, 101)}
    assert len(kernel.radicals(roots, "x")) == 100
    assert kernel.radicals({"99999": "-2/3"}, "x") == {99999: Fraction(-2, 3)}
    for wrong, message in (
        ({**roots, "101": "1"}, "at most 100 keys"),
        ({"100000": "1"}, "must be a string"),
        ({"0": "1"}, "must be a string"),
        ({"1": "0"}, "no zeros"),
        ([], "must be an object"),
    ):
        with pytest.raises(kernel.MalformedError, match=message):
            kernel.radicals(wrong, "x")


@pytest.mark.parametrize("limit", [3, 40, 2000])
def test_the_common_denominator_is_below_a_power_of_ten(limit, monkeypatch):
    """One mass with the denominator 10^limit - 1 or 10^limit, or a mass and a weight with factors of it."""
    monkeypatch.setattr(kernel, "MAX_DIGITS", limit)
    reading = copy.deepcopy(margin_document("Z2"))
    reading["value"] = {"lower": "1/()", "upper": "1/()"}  # short enough for every limit
    reading["group"]["name"] = ""
    reading["margin"] = {"exact": None, "lower": "0", "upper": "0"}
    monkeypatch.setattr(kernel, "string", lambda value, *_: value)  # limited by the same number of digits
    for denominator, accepted in ((10**limit - 1, True), (10**limit, False)):
        for p in (1, math.gcd(denominator, 9 if accepted else 2**limit)):
            reading["characters"]["rows"][1]["scaled_mass"] = f"1/{denominator // p}"
            reading["classes"][1]["scaled_weight"] = {"1": f"1/{p}" if p > 1 else "1"}
            if accepted:
                assert kernel.Document(reading).denominator == math.lcm(denominator // p, p)
            else:
                with pytest.raises(kernel.MalformedError, match="common denominator of over"):
                    kernel.Document(reading)


def test_a_square_root_that_no_payoff_has_is_refused_also_if_it_is_small():
    """Z_2 has w = 1 alone, so that weights are rational; sqrt(2)/4 would be feasible, and prove a weaker bound."""
    document = margin_document("Z2")
    document["classes"][1]["scaled_weight"] = {"2": "1/4"}
    with pytest.raises(kernel.ViolatedError, match="has a square root that no w has"):
        kernel.check(json.dumps(document).encode())


@pytest.mark.parametrize("version", [1, 2])
def test_decimals_of_version_1_begin_with_0_and_have_no_exponent(version):
    for decimal, read in (("0.1875", True), ("1.875e-1", version == 2), ("1.5", version == 2), ("0", version == 2)):
        document = margin_document("Z2", 3, 4)
        document["version"] = version
        document["margin"].update(lower=decimal, upper=decimal)
        if read:
            assert kernel.Document(document).margin == (decimal, decimal)
        else:
            with pytest.raises(kernel.MalformedError, match=r"margin\.lower must be a string"):
                kernel.Document(document)


@pytest.mark.parametrize("name", ["Z2", "S3", "S5", "D4xS3", "Z9"])
def test_no_class_is_chosen_that_tells_no_more_rows_apart(name):
    """Each one costs time and counts for the limit of 64 classes; the identity tells nothing apart."""
    document = kernel.Document(margin_document(name))
    packing = kernel.Packing(document.root_order, 2 * document.order**2)
    chosen = kernel.separating_classes(document, packing)
    kinds = [0]
    for count in range(1, len(chosen) + 1):
        ratios = {
            tuple(packing.times_z(row[i], document.order // d) for i in chosen[:count])
            for row, d in zip(document.characters, document.degrees, strict=True)
        }
        kinds.append(len(ratios))
    assert kinds == sorted(set(kinds))
    assert kinds[1] > 1
    assert kinds[-1] == len(document.characters)


# ---- precision


@pytest.mark.parametrize("bits", [60, 1000, 15_000, 16_000, 30_000, 32_700])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1, 1000), Fraction(1000)])
def test_sums_of_square_roots_are_decided_up_to_the_limit_of_bits(bits, scale):
    """sqrt 2 minus its first digits, a number below 2^-bits, and the difference to the next digit."""
    below = math.isqrt(2 << (2 * bits))
    for digits, sign in ((below, 1), (below + 1, -1)):
        x = {1: -scale * Fraction(digits, 1 << bits), 2: scale}
        assert kernel.sign(x) == sign
        assert kernel.sign({m: -q for m, q in x.items()}) == -sign


@pytest.mark.parametrize("scale", [Fraction(1, 10**6), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(10**6)])
def test_roots_are_enclosed_from_both_sides_whatever_stands_before_them(scale):
    """Between 2^64 sqrt 2, rounded down, and sqrt 2 itself: only an enclosure decides, not first bits."""
    for m in (2, 3, 5):
        between = Fraction(math.isqrt(m << 128), 1 << 64) + Fraction(1, 10**30)
        assert between**2 < m
        x = {1: -scale * between, m: scale}
        assert kernel.sign(x) == 1
        assert kernel.sign({root: -q for root, q in x.items()}) == -1


def test_small_rational_numbers_have_their_sign_at_any_size():
    tiny = Fraction(1, 10**20_000)
    assert (kernel.sign({1: tiny}), kernel.sign({1: -tiny})) == (1, -1)


@pytest.mark.parametrize("bits", [33_000, 40_000])
def test_sums_that_need_more_bits_are_refused(bits):
    x = {1: -Fraction(math.isqrt(2 << (2 * bits)), 1 << bits), 2: kernel.ONE}
    with pytest.raises(kernel.ViolatedError, match="too close to zero for 32768 bits"):
        kernel.sign(x)


# ---- what it prints


def test_the_printed_line_begins_with_the_path(tmp_path, capsys):
    path = tmp_path / "a name \u00e9.json"
    path.write_text("{")
    assert kernel.main([str(path)]) == 2
    line = capsys.readouterr().out
    assert line.startswith(f"{tmp_path}/a name \\xe9.json: malformed: the file is no JSON text: ")
    assert line.count("\n") == 1


@pytest.mark.parametrize(("name", "factors", "order"), [("S3", 2, 6), ("Q8", 3, 8)])
def test_the_proved_claim_is_printed_in_full(name, factors, order):
    document = margin_document(name, factors, 5)
    lower, upper = document["margin"]["lower"], document["margin"]["upper"]
    assert lower != upper
    assert kernel.check(json.dumps(document).encode()) == (
        f'group of order {order} called "{name}", {factors} factors, maximum margin from {lower} to {upper} (exact)'
    )


def test_the_usage_is_printed_without_a_path(capsys):
    assert kernel.main([]) == 2
    assert capsys.readouterr().out == "usage: python -I kernel.py FILE...\n"


def test_the_status_of_several_files_is_the_largest(tmp_path, capsys):
    contents = {"valid": json.dumps(margin_document("S3")), "malformed": "{"}
    wrong = margin_document("S3")
    wrong["classes"][1]["size"] = 2
    contents["invalid"] = json.dumps(wrong)
    paths = {name: tmp_path / name for name in contents}
    for name, text in contents.items():
        paths[name].write_text(text)
    for names, status in (
        (["valid"], 0),
        (["invalid"], 1),
        (["malformed"], 2),
        (["invalid", "valid"], 1),
        (["malformed", "invalid", "valid"], 2),
        (["valid", "invalid", "malformed"], 2),
        (["missing"], 2),
    ):
        assert kernel.main([str(paths.get(name, tmp_path / name)) for name in names]) == status
        lines = capsys.readouterr().out.splitlines()
        assert [line.removeprefix(f"{tmp_path}/").split(": ")[1] for line in lines] == [
            "malformed" if name == "missing" else name for name in names
        ]
