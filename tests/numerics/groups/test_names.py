"""Names of groups: published orders and class data, isomorphisms between families, and full-sentence refusals."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from lemmata.numerics.groups import names as group_names
from lemmata.numerics.groups.families import FAMILIES
from lemmata.numerics.groups.names import ACCEPTED_NAMES, parse_group
from lemmata.numerics.groups.permutations import PermutationGroup
from lemmata.numerics.groups.tables import cyclic, dihedral, relabel


def orders_of_elements(group: PermutationGroup) -> dict[int, int]:
    """How many elements have each order."""
    counts: Counter[int] = Counter()
    for order, size in zip(group.classes.element_orders.tolist(), group.classes.sizes.tolist(), strict=True):
        counts[order] += size
    return dict(sorted(counts.items()))


# name, order, number of classes: J. H. Conway et al., Atlas of Finite Groups, for the simple groups and their covers;
# the class counts of the others follow from elementary arguments (GL(2, q) has q^2 - 1 classes, 2^(1+2k) has
# 2^2k + 1, He_p has p^2 + p - 1, Zp:Zq has q + (p - 1)/q, Dic_n has n + 3, D_n has (n + 3)/2 or n/2 + 3).
PUBLISHED = [
    ("Z2", 2, 2),
    ("C7", 7, 7),
    ("Z_12", 12, 12),
    ("D1", 2, 2),
    ("D2", 4, 4),
    ("D4", 8, 5),
    ("D9", 18, 6),
    ("S2", 2, 2),
    ("S3", 6, 3),
    ("S5", 120, 7),
    ("S6", 720, 11),
    ("S7", 5040, 15),
    ("A3", 3, 3),
    ("A4", 12, 4),
    ("A5", 60, 5),
    ("A6", 360, 7),
    ("A7", 2520, 9),
    ("Q8", 8, 5),
    ("Q16", 16, 7),
    ("Q32", 32, 11),
    ("Dic3", 12, 6),
    ("Dic5", 20, 8),
    ("SD16", 16, 7),
    ("SD32", 32, 11),
    ("He3", 27, 11),
    ("He5", 125, 29),
    ("2+^(1+2)", 8, 5),
    ("2+^(1+4)", 32, 17),
    ("2_-^{1+4}", 32, 17),
    ("C7:C3", 21, 5),
    ("Z13:Z4", 52, 7),
    ("F20", 20, 5),
    ("F42", 42, 7),
    ("AGL(1,5)", 20, 5),
    ("AGL(1,8)", 56, 8),
    ("AGL(1,9)", 72, 9),
    ("Z2xS3", 12, 6),
    ("Z_2 x S_3", 12, 6),
    ("Z2^3", 8, 8),
    ("S3^2", 36, 9),
    ("D4xS3xZ2", 96, 30),
    ("PSL(2,7)", 168, 6),
    ("PSL(2,8)", 504, 9),
    ("PSL(2,13)", 1092, 9),
    ("PSL(3,3)", 5616, 12),
    ("PSL(3,4)", 20160, 10),
    ("SL(2,3)", 24, 7),
    ("SL(2,5)", 120, 9),
    ("SL(2,9)", 720, 13),
    ("GL(2,3)", 48, 8),
    ("GL(2,4)", 180, 15),
    ("GL(3,2)", 168, 6),
    ("PGL(2,7)", 336, 9),
    ("PGL(2,9)", 720, 11),
    ("SU(3,3)", 6048, 14),
    ("PSU(3,3)", 6048, 14),
    ("PSU(3,4)", 62400, 22),
    ("PSU(4,2)", 25920, 20),
    ("Sp(4,2)", 720, 11),
    ("Sp(4,3)", 51840, 34),
    ("PSp(4,3)", 25920, 20),
    ("M11", 7920, 10),
    ("M12", 95040, 15),
    ("M22", 443520, 12),
]


@pytest.mark.parametrize(("name", "order", "classes"), PUBLISHED, ids=[name for name, _, _ in PUBLISHED])
def test_published_orders_and_class_numbers(name: str, order: int, classes: int) -> None:
    group = parse_group(name)
    assert group.order == order
    assert len(group.classes) == classes
    assert parse_group(name) == group


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("D4", {1: 1, 2: 5, 4: 2}),
        ("Q8", {1: 1, 2: 1, 4: 6}),
        ("Q16", {1: 1, 2: 1, 4: 10, 8: 4}),
        ("SD16", {1: 1, 2: 5, 4: 6, 8: 4}),
        ("D8", {1: 1, 2: 9, 4: 2, 8: 4}),
        ("Dic3", {1: 1, 2: 1, 3: 2, 4: 6, 6: 2}),
        ("2+^(1+4)", {1: 1, 2: 19, 4: 12}),
        ("2-^(1+4)", {1: 1, 2: 11, 4: 20}),
        ("He3", {1: 1, 3: 26}),
        ("SL(2,3)", {1: 1, 2: 1, 3: 8, 4: 6, 6: 8}),
        ("GL(2,3)", {1: 1, 2: 13, 3: 8, 4: 6, 6: 8, 8: 12}),
        ("PSL(2,8)", {1: 1, 2: 63, 3: 56, 7: 216, 9: 168}),
        ("PSU(3,3)", {1: 1, 2: 63, 3: 56 + 672, 4: 126 + 378, 6: 504, 7: 1728, 8: 1512, 12: 1008}),
        ("Z4xZ2", {1: 1, 2: 3, 4: 4}),
        ("Z2^4", {1: 1, 2: 15}),
    ],
)
def test_published_numbers_of_elements_of_each_order(name: str, expected: dict[int, int]) -> None:
    assert orders_of_elements(parse_group(name)) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("PSL(2,4)", "A5"),
        ("PSL(2,5)", "A5"),
        ("SL(2,4)", "A5"),
        ("PSL(2,9)", "A6"),
        ("PSL(2,7)", "GL(3,2)"),
        ("PGL(2,5)", "S5"),
        ("Sp(4,2)", "S6"),
        ("PSp(4,3)", "PSU(4,2)"),
        ("Sp(2,5)", "SL(2,5)"),
        ("GL(2,2)", "S3"),
        ("Dic2", "Q8"),
        ("2-^(1+2)", "Q8"),
        ("2+^(1+2)", "D4"),
        ("F21", "C7:C3"),
        ("AGL(1,4)", "A4"),
        ("Z5:Z2", "D5"),
        ("Z15", "Z3xZ5"),
    ],
)
def test_isomorphic_groups_of_different_families_have_the_same_classes(first: str, second: str) -> None:
    a, b = parse_group(first).classes, parse_group(second).classes
    rows = [
        Counter(zip(*(c.tolist() for c in (x.element_orders, x.sizes, x.sizes[x.squares])), strict=True))
        for x in (a, b)
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("name", ["D4", "PSL(3,4)", "Z2^3xA4"])
def test_names_do_not_change_with_spaces(name: str) -> None:
    group = parse_group(f"  {name} ")
    assert group.name == name
    assert group == parse_group(name)


def test_residues_keep_their_numbers() -> None:
    assert np.array_equal(parse_group("Z9").to_finite_group().table, cyclic(9).table)


def test_every_family_is_in_the_help() -> None:
    for _, _, help_text in FAMILIES:
        assert help_text in ACCEPTED_NAMES


@pytest.mark.parametrize(
    "name", ["", "x", "X5", "Z", "s5", "Z2x", "M13", "Z2^", "5", "PSL(2)", "PSL(2,7", "Z-3", "Z2+Z2"]
)
def test_unknown_names_say_what_is_accepted(name: str) -> None:
    with pytest.raises(ValueError, match=r"There is no group named .* Names look like Z7.*--help has all forms"):
        parse_group(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Z1", "order n >= 2"),
        ("Z0", "order n >= 2"),
        ("D0", "order 2n, n >= 1"),
        ("S1", "n >= 2 points"),
        ("A2", "n >= 3 points"),
        ("Q12", "order n = 8, 16, 32"),
        ("Q4", "order n = 8, 16, 32"),
        ("Dic1", "order 4n, n >= 2"),
        ("SD8", "order n = 16, 32, 64"),
        ("He2", "p an odd prime"),
        ("He9", "p an odd prime"),
        ("2-^(1+3)", "an even number 2k >= 2"),
        ("Z7:Z4", "q >= 2 a divisor of p - 1"),
        ("Z9:Z2", "p prime"),
        ("F15", "such as F20"),
        ("F1", "such as F20"),
        ("F999999937", "such as F20"),
        ("AGL(1,6)", "prime power q >= 3"),
        ("PSL(2,6)", "prime power q"),
        ("SL(1,5)", "n >= 2"),
        ("Sp(3,3)", "an even n"),
        ("PSU(3,2)", "q >= 3 for n = 3"),
        ("PSU(2,3)", "n >= 3"),
        ("Z3^0", "exponent must be at least 1"),
    ],
)
def test_parameters_out_of_range(name: str, message: str) -> None:
    with pytest.raises(ValueError, match="There is no group") as caught:
        parse_group(f"Z2x{name}")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("S20", "2432902008176640000"),
        ("A12", "239500800"),
        ("PSL(2,1009)", "513621360"),
        ("Z2^20", "1048576"),
        ("M12xM11", "752716800"),
        ("Z1000001", "1000001"),
        ("S999999999", "above 10^40"),
        ("GL(999999999,7)", "above 10^40"),
        ("Sp(99999998,999999937)", "above 10^40"),
        ("Z2^999999999", "above 10^40"),
        ("2-^(1+999999998)", "above 10^40"),
        ("small:1000001,1", "1000001"),
    ],
)
def test_orders_above_the_limit_are_refused_at_once(name: str, order: str) -> None:
    with pytest.raises(
        ValueError, match="above the limit of 1000000 elements; raise it with the argument limit"
    ) as caught:
        parse_group(name)
    assert f"The group {name} has order {order}, " in str(caught.value)


def test_the_limit_can_be_raised_and_lowered() -> None:
    with pytest.raises(ValueError, match="above the limit of 1000 elements"):
        parse_group("PSL(2,13)", limit=1000)
    assert parse_group("Z2^20", limit=2**20).order == 2**20
    assert parse_group("perm:(1,2,3,4);(1,2)", limit=24).order == 24
    with pytest.raises(ValueError, match="above the limit of 23"):
        parse_group("perm:(1,2,3,4);(1,2)", limit=23)


def test_permutation_generators() -> None:
    group = parse_group("perm: (1,2,3)(4,5); (1,2)")
    assert group.name == "perm:(1,2,3)(4,5);(1,2)"
    assert (group.order, group.degree) == (12, 5)
    assert group.generators == ((1, 2, 0, 4, 3), (1, 0, 2, 3, 4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("perm:", "After perm: come the generators"),
        ("perm:;", "After perm: come the generators"),
        ("perm:(1,2", "disjoint cycles"),
        ("perm:(1,2);(1,2,1)", "occurs more than once"),
        ("perm:();()", "must have order at least 2"),
        ("perm:(1,99999)", "too large"),
    ],
)
def test_bad_permutation_generators(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_group(text)


def write_table(path: Path, table: np.ndarray) -> str:
    path.write_text("\n".join(",".join(map(str, row)) for row in table.tolist()) + "\n", encoding="utf-8")
    return f"table:{path}"


def test_table_file(tmp_path: Path) -> None:
    group = parse_group(write_table(tmp_path / "group.csv", relabel(dihedral(4), [3, 0, 1, 2, 7, 5, 6, 4]).table))
    assert group.order == 8
    assert orders_of_elements(group) == {1: 1, 2: 5, 4: 2}
    (tmp_path / "spaced.csv").write_text("\ufeff0, 1\r\n\r\n1, 0\r\n", encoding="utf-8")
    assert parse_group(f"table:{tmp_path / 'spaced.csv'}").order == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"0,1\n1\n", "Line 2 of the table .* has 1 entries and its first row 2"),
        (b"0,1\n1,a\n", "Line 2 of the table .* must hold integers"),
        (b"0,1\n1,\n", "Line 2 of the table .* must hold integers"),
        (b"0,1.5\n1,0\n", "Line 1 of the table .* must hold integers"),
        (b"0\n", "order at least 2"),
        (b"0,1\n1,2\n", r"Entry \(1, 1\) of the table is 2"),
        (b"0,1\n1,-1\n", r"Entry \(1, 1\) of the table is -1"),
        (b"0,1,2\n1,2,0\n", "must be a square matrix"),
        (b"0,1\n1,1\n", "Element 1 has no inverse"),
        (b"0,1\n1,99999999999999999999999\n", "must hold integers"),
        (b"\xff\xfe\x00", "cannot be read as a text file"),
    ],
)
def test_bad_table_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        parse_group(f"table:{path}")


def test_missing_table_files(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.csv", tmp_path):
        with pytest.raises(ValueError, match="cannot be read as a text file"):
            parse_group(f"table:{path}")


def test_long_tables_are_not_read_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_names, "MAX_CSV_ORDER", 7)
    with pytest.raises(ValueError, match="read up to order 7"):
        parse_group(write_table(tmp_path / "wide.csv", cyclic(8).table))
    (tmp_path / "long.csv").write_text("0,1\n" * 8, encoding="utf-8")
    with pytest.raises(ValueError, match="read up to order 7"):
        parse_group(f"table:{tmp_path / 'long.csv'}")
    with pytest.raises(ValueError, match="above the limit of 5 elements"):
        parse_group(write_table(tmp_path / "six.csv", cyclic(6).table), limit=5)


@pytest.mark.parametrize("text", ["small:32", "small:32,", "small:a,b", "small:32,5,6"])
def test_bad_small_group_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="is written small:ORDER,NUMBER"):
        parse_group(text)
    with pytest.raises(ValueError, match="order at least 2"):
        parse_group("small:1,1")


def test_without_gap_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(group_names, "import_module", missing)
    with pytest.raises(ValueError, match=r"pip install 'lemmata\[gap\]'"):
        parse_group("small:32,5")


def test_small_groups_library() -> None:
    if find_spec("passagemath_gap") is None:
        with pytest.raises(ValueError, match="optional extra"):
            parse_group("small:32,5")
        return
    # GAP numbers the five groups of order 8: Z8, Z4xZ2, D4, Q8, Z2^3
    for number, name in enumerate(["Z8", "Z4xZ2", "D4", "Q8", "Z2^3"], start=1):
        assert orders_of_elements(parse_group(f"small:8,{number}")) == orders_of_elements(parse_group(name))
    first = parse_group("small:48,28")
    assert (first.order, len(first.classes), len(parse_group("small:32,5").classes)) == (48, 8, 20)
    assert parse_group("small:48,28") == first
    with pytest.raises(ValueError, match="There are 5 groups of order 8, numbered from 1; got 6"):
        parse_group("small:8,6")
    with pytest.raises(ValueError, match="does not contain the groups of order 1024"):
        parse_group("small:1024,1")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("z7", "Z7"),
        ("psl(2,7)", "PSL(2,7)"),
        ("dic3", "Dic3"),
        ("M24", "M22"),
        ("M16", "M12"),
        ("agl(1,5)", "AGL(1,5)"),
    ],
)
def test_a_name_that_is_nearly_one_gets_a_proposal(text, meant):
    with pytest.raises(ValueError, match="here; did you mean ") as caught:
        parse_group(text)
    assert meant in str(caught.value).partition(" Accepted")[0]


def test_a_name_like_no_other_gets_no_proposal():
    with pytest.raises(ValueError, match=r"no group named 'sporadic' here\. Names"):
        parse_group("sporadic")
