"""Tables of the character table library: read as they are in GAP, and what is not in it."""

import pytest

from lemmata.numerics.groups.character_library import library_names, library_table, library_versions
from lemmata.numerics.groups.names import gap_available

needs_gap = pytest.mark.skipif(not gap_available(), reason="the extra gap is not installed")


@needs_gap
def test_a_table_of_the_library():
    table = library_table("7:3")
    assert table["name"] == "7:3"
    assert table["order"] == "21"
    assert table["class_sizes"] == ["1", "3", "3", "7", "7"]
    assert table["class_names"] == ["1A", "7A", "7B", "3A", "3B"]
    assert table["characters"][3][1:3] in (
        ["E(7)+E(7)^2+E(7)^4", "E(7)^3+E(7)^5+E(7)^6"],
        ["E(7)^3+E(7)^5+E(7)^6", "E(7)+E(7)^2+E(7)^4"],
    )
    assert table["powers"] == {"3": [0, 2, 1, 0, 0], "7": [0, 0, 0, 3, 4]}
    assert table["indicators"] == [1, 0, 0, 0, 0]


@needs_gap
def test_symmetric_and_alternating_groups_of_every_degree():
    assert library_table("Symmetric(6)")["order"] == "720"
    assert library_table("Alternating(6)")["order"] == "360"
    with pytest.raises(ValueError, match=r"The tables of Symmetric\(n\) are computed for n up to 30; got 31"):
        library_table("Symmetric(31)")
    with pytest.raises(ValueError, match=r"of Alternating\(n\) are computed for n up to 30; got 2"):
        library_table("Alternating(2)")


@needs_gap
def test_names():
    assert {"M", "B", "M11", "2.B"} <= set(library_names())
    assert set(library_versions()) == {"gap", "ctbllib"}
    with pytest.raises(ValueError, match=r"has no table called 'M25'\. Close to it are"):
        library_table("M25")
    with pytest.raises(ValueError, match="printable text without quotes"):
        library_table('M")')
    with pytest.raises(ValueError, match="printable text without quotes"):
        library_table("")


@pytest.mark.skipif(gap_available(), reason="the extra gap is installed")
def test_without_gap_it_is_named():
    with pytest.raises(ValueError, match="Tables of the character table library need GAP, which is an optional extra"):
        library_table("M")
