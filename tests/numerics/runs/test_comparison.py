"""Summaries compared: everything exactly but floats, and numbers that rounding errors leave undecided."""

import copy
import math

import pytest

from lemmata.numerics.runs.comparison import FIFTH_DIGIT, ROUNDING, above, below, close_calls, first_difference

SUMMARY = {
    "settings": {"seeds": [0, 1], "rate": 0.1},
    "criteria": [{"text": "it grows", "met": True}],
    "numbers": {"slope": 1.2345678901, "p": 3.2e-40, "runs": 20, "none": None},
}


def changed(*path, to):
    summary = copy.deepcopy(SUMMARY)
    place = summary
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return summary


def test_the_last_digits_of_floats_do_not_matter():
    assert first_difference(SUMMARY, SUMMARY) is None
    assert first_difference(changed("numbers", "slope", to=1.2345678901 * (1 + ROUNDING / 2)), SUMMARY) is None
    assert first_difference([math.inf, math.nan], [math.inf, math.nan]) is None


@pytest.mark.parametrize(
    ("path", "to", "said"),
    [
        (("numbers", "slope"), 1.2346678901, "['numbers']['slope']: 1.2346678901 now, 1.2345678901 before"),
        (("numbers", "slope"), 1.2345678901 * (1 + 2 * ROUNDING), "['numbers']['slope']"),
        (("numbers", "p"), 3.201e-40, "['numbers']['p']"),
        (("numbers", "runs"), 21, "['numbers']['runs']: 21 now, 20 before"),
        (("numbers", "runs"), 20.0, "['numbers']['runs']: 20.0 now, 20 before"),
        (("numbers", "none"), 0, "['numbers']['none']"),
        (("criteria", 0, "met"), False, "['criteria'][0]['met']: False now, True before"),
        (("criteria", 0, "met"), 1, "['criteria'][0]['met']: 1 now, True before"),
        (("settings", "seeds"), [0], "['settings']['seeds']: 1 entries now, 2 before"),
        (("settings", "rate"), -0.1, "['settings']['rate']"),
        (("settings",), {"seeds": [0, 1]}, "['settings']: 'rate' is missing now"),
        (("numbers", "new"), 1, "['numbers']: 'new' is new"),
        (("numbers", "slope"), math.inf, "['numbers']['slope']: inf now"),
    ],
)
def test_the_first_difference_is_named(path, to, said):
    assert first_difference(changed(*path, to=to), SUMMARY).startswith(said)


def test_a_beginning_may_be_shorter_and_have_fewer_keys_but_has_to_agree():
    part = {"settings": {"seeds": [0]}, "criteria": []}
    assert first_difference(part, SUMMARY, begins=True) is None
    assert first_difference(part, SUMMARY) == "the whole: 'numbers' is missing now"
    assert first_difference({"settings": {"seeds": [1]}}, SUMMARY, begins=True) == (
        "['settings']['seeds'][0]: 1 now, 0 before"
    )
    assert first_difference({"settings": {"seeds": [0, 1, 2]}}, SUMMARY, begins=True)
    assert first_difference({"other": 1}, SUMMARY, begins=True) == "the whole: 'other' is new"
    assert first_difference([0.1 + 0.2], [0.3, 1.0], tolerance=0.0, begins=True)


@pytest.mark.parametrize(
    ("kept", "near", "far"),
    [
        (0.0001, 0.00010001, 0.0001001),
        (0.0001, 0.000099999, 0.00009999),
        (1.2345, 1.2346, 1.2355),
        (9.9999, 9.9998, 9.9989),
        (100000.0, 99999.0, 99990.0),
    ],
)
def test_the_fifth_digit_may_differ_by_one_and_the_fourth_may_not(kept: float, near: float, far: float) -> None:
    assert first_difference(near, kept, FIFTH_DIGIT) is None
    assert first_difference(far, kept, FIFTH_DIGIT)


def test_a_number_at_its_threshold_is_on_neither_side():
    assert below(0.1, 0.2)
    assert not below(0.2, 0.1)
    assert above(0.2, 0.1)
    assert above(math.inf, 0.1)
    assert not above(math.nan, 0.1)
    assert not below(math.nan, 0.1)
    with close_calls() as calls:
        assert not below(0.3, 0.1 + 0.2)
        assert not above(0.1 + 0.2, 0.3)
        assert above(0.3001, 0.3)
    assert calls == ["0.3 against 0.30000000000000004", "0.3 against 0.30000000000000004"]
    with close_calls() as none:
        pass
    assert none == []
