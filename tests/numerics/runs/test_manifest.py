"""Manifests name the one leaf that changed, and say what else is not as it was."""

import copy
import json
from typing import Any

import pytest

from lemmata.numerics.runs.manifest import differences, manifest

DATA = {
    "settings": {"seeds": [0, 1, 2], "rate": 0.05, "name": "small"},
    "result": {"times": [[3, None, 5], [4, 4, 7]], "losses": [0.5, 0.25, 0.125], "done": True, "none": [], "empty": {}},
}
PARTS = {"items/a": DATA, "items/b": 3, "origin": {"commit": "0" * 40}}


def leaves(data, place=()):
    if isinstance(data, dict | list) and data:
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from leaves(data[key], (*place, key))
    else:
        yield place


@pytest.mark.parametrize("place", list(leaves(DATA)), ids=str)
def test_one_changed_leaf_is_named(place):
    now = copy.deepcopy(DATA)
    home: Any = now
    for key in place[:-1]:
        home = home[key]
    home[place[-1]] = "another"
    name = "".join(f"[{key!r}]" for key in place)
    found = differences(manifest(PARTS), {**PARTS, "items/a": now})
    assert found == [f'items/a: the leaf {name} changed, to "another"']


def test_a_part_that_is_a_leaf_is_named():
    assert not differences(manifest(PARTS), PARTS)
    assert differences(manifest(PARTS), {**PARTS, "items/b": 3.0}) == ["items/b: the leaf that it is changed, to 3.0"]


def test_what_else_changed_is_said():
    """Two leaves, their order, their number, a part taken away or put there."""
    kept = manifest(PARTS)
    two = json.loads(json.dumps(DATA).replace("0.5,", "0.25,").replace("0.125", "0.5"))
    assert differences(kept, {**PARTS, "items/a": two}) == ["items/a: several leaves changed, or their order"]
    turned = {**DATA, "settings": dict(reversed(DATA["settings"].items()))}
    assert differences(kept, {**PARTS, "items/a": turned}) == ["items/a: several leaves changed, or their order"]
    fewer = {**DATA, "settings": {"seeds": [0, 1, 2]}}
    assert differences(kept, {**PARTS, "items/a": fewer}) == ["items/a: it has 15 leaves, and had 17"]
    now = {"items/a": DATA, "items/c": 3, "origin": PARTS["origin"]}
    assert differences(kept, now) == ["items/b: it is missing", "items/c: it is new"]


def test_a_change_that_no_sum_shows_is_seen_by_the_hash_of_the_whole():
    """As where the hashes of 32 bits of two values are the same: no leaf is named, the first one least of all."""
    name, count, whole, *sums = manifest({"a": DATA}).split()
    line = " ".join([name, count, whole[::-1], *sums])
    assert differences(line, {"a": DATA}) == ["a: several leaves changed, or their order"]


@pytest.mark.parametrize("line", ["", "a 3", "a 3 0123456789abcdef 00000000", "a x 0123456789abcdef 00000000 0 0"])
def test_what_is_no_manifest_is_refused(line):
    with pytest.raises(ValueError, match="No line of a manifest"):
        differences(f"{line}\n", {})


@pytest.mark.parametrize("name", ["", "a b", " a", "a\n"])
def test_a_name_is_one_word(name):
    with pytest.raises(ValueError, match="is empty or has a space in it"):
        manifest({name: 1})
