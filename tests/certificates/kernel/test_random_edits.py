"""Random edits of one field: each is refused, unless it leaves the claim true.

Whether the edited claim is still true is decided here without the kernel, by the multiplication of permutations alone:
of all edits that `EDITS` makes, only three kinds can leave it true (other generators of the same group; another
representative of the same class; an order of roots of unity where all values are integers). These are counted apart and
must be accepted; everything else must be refused.
"""

import copy
import json
import random
import re
from collections import Counter
from fractions import Fraction

from lemmata.certificates import kernel
from tests.certificates.documents import EDITED, SEED, margin_document, verdict
from tests.certificates.permutations import closure, product_of

EDITS_EACH = 2000


# ---- single-field edits, each a function of (document, random source) that changes the document in place


def pick(source, entries):
    return source.randrange(len(entries))


def other_integer(source, old, low=-3, high=12):
    """An integer near the old one, its negative, or a far one; never the old one."""
    choices = [old + 1, old - 1, -old, 2 * old, 0, source.randint(low, high), source.randint(-(10**6), 10**6)]
    return source.choice([value for value in choices if value != old])


def other_fraction(source, old):
    """Another fraction in lowest terms, as text."""
    q = Fraction(old)
    steps = [q + 1, -q, q * 2, q / 3, q + Fraction(1, 60), q - Fraction(1, 10**9), Fraction(source.randint(0, 9), 7)]
    return str(source.choice([value for value in steps if value != q]))


def other_digit(source, text):
    """The text with one digit changed."""
    places = [i for i, character in enumerate(text) if character.isdigit()]
    i = source.choice(places)
    return text[:i] + source.choice([d for d in "0123456789" if d != text[i]]) + text[i + 1 :]


def other_permutation(source, old):
    """Another permutation, or a list of images that is none."""
    images = list(old)
    kind = source.randrange(4)
    if kind == 0:
        images[pick(source, images)] = source.randint(-1, len(images))
    elif kind == 1:
        i, j = source.sample(range(len(images)), 2)
        images[i], images[j] = images[j], images[i]
    elif kind == 2:
        source.shuffle(images)
    else:
        images = images + [len(images)] if source.random() < 0.5 else images[:-1]
    return images


def edit_generator(document, source):
    generators = document["group"]["generators"]
    i = pick(source, generators)
    generators[i] = other_permutation(source, generators[i])


def edit_generator_list(document, source):
    generators = document["group"]["generators"]
    i = pick(source, generators)
    if source.random() < 0.5:
        del generators[i]
    else:
        generators.append(source.choice([list(generators[i]), other_permutation(source, generators[i])]))


def edit_number(*path):
    def edit(document, source):
        *parents, last = path
        target = document
        for key in parents:
            target = target[key]
        target[last] = other_integer(source, target[last])

    return edit


def edit_entry(section, field, change):
    """Change a field of a random class or of a random character."""

    def edit(document, source):
        entries = document[section] if section == "classes" else document["characters"]["rows"]
        entry = entries[pick(source, entries)]
        entry[field] = change(source, entry[field])

    return edit


def edit_weight(document, source):
    entry = document["classes"][pick(source, document["classes"])]["scaled_weight"]
    kind = source.randrange(4)
    if not entry or kind == 0:
        key = source.choice(["1", "2", "3", "4", "6", "10"])
        entry[key] = other_fraction(source, entry.get(key, "0"))
    elif kind == 1:
        del entry[source.choice(sorted(entry))]
    elif kind == 2:
        key = source.choice(sorted(entry))
        entry[key] = other_fraction(source, entry[key])
    else:
        key = source.choice(sorted(entry))
        entry[str(other_integer(source, int(key)))] = entry.pop(key)


def edit_value(document, source):
    """Change a value of a character: another integer, coefficient, exponent, or the value of another class."""
    rows = document["characters"]["rows"]
    values = rows[pick(source, rows)]["values"]
    j = pick(source, values)
    kind = source.randrange(4)
    if isinstance(values[j], list) and kind < 3:
        pair = values[j][pick(source, values[j])]
        part = source.randrange(2)
        pair[part] = other_integer(source, pair[part])
    elif kind == 3:
        values[j] = copy.deepcopy(values[pick(source, values)])
    else:
        old = values[j] if isinstance(values[j], int) else 0
        values[j] = source.choice([other_integer(source, old), [[1, source.randrange(4)]], [], [[old, 0], [0, 1]]])


def edit_row_list(document, source):
    """Duplicate a character, drop one, or replace one by another."""
    rows = document["characters"]["rows"]
    i, j = pick(source, rows), pick(source, rows)
    kind = source.randrange(3)
    if kind == 0:
        rows.insert(i, copy.deepcopy(rows[j]))
    elif kind == 1:
        del rows[i]
    else:
        rows[i] = copy.deepcopy(rows[j])


def edit_values_list(document, source):
    """Replace the values of a character by those of another, or give it too many or too few."""
    rows = document["characters"]["rows"]
    values = rows[pick(source, rows)]["values"]
    kind = source.randrange(3)
    if kind == 0:
        values[:] = copy.deepcopy(rows[pick(source, rows)]["values"])
    elif kind == 1:
        values.append(values[-1])
    else:
        values.pop()


def edit_class_list(document, source):
    """Duplicate a class, drop one, replace one by another, or exchange two of different sizes."""
    classes = document["classes"]
    i, j = pick(source, classes), pick(source, classes)
    kind = source.randrange(4)
    if kind == 0:
        classes.insert(i, copy.deepcopy(classes[j]))
    elif kind == 1:
        del classes[i]
    elif kind == 2 or classes[i]["size"] == classes[j]["size"]:
        classes[i] = copy.deepcopy(classes[j])
    else:
        classes[i], classes[j] = classes[j], classes[i]


def edit_text(*path):
    def edit(document, source):
        section, field = path
        document[section][field] = other_digit(source, document[section][field])

    return edit


def edit_type(document, source):
    """Replace a random field, at any depth, by a value of another type or remove it."""
    target = document
    while True:
        keys = sorted(target) if isinstance(target, dict) else list(range(len(target)))
        key = source.choice(keys)
        if isinstance(target[key], dict | list) and target[key] and source.random() < 0.8:
            target = target[key]
        else:
            break
    if target is document["group"] and key == "name":
        key = "order"
    if isinstance(target, dict) and source.random() < 0.3:
        del target[key]
    else:
        target[key] = source.choice([v for v in (None, True, "", "0", -1, {}, [], 1.5, "x") if v != target[key]])


EDITS = {
    "generator": edit_generator,
    "list of generators": edit_generator_list,
    "order": edit_number("group", "order"),
    "degree": edit_number("group", "degree"),
    "factors": edit_number("factors"),
    "version": edit_number("version"),
    "representative": edit_entry("classes", "representative", other_permutation),
    "size": edit_entry("classes", "size", other_integer),
    "inverse": edit_entry("classes", "inverse", other_integer),
    "square": edit_entry("classes", "square", other_integer),
    "weight": edit_weight,
    "list of classes": edit_class_list,
    "root order": edit_number("characters", "root_order"),
    "value of a character": edit_value,
    "values of a character": edit_values_list,
    "indicator": edit_entry("characters", "indicator", other_integer),
    "sign of an indicator": edit_entry("characters", "indicator", lambda s, old: s.choice(sorted({-1, 0, 1} - {old}))),
    "mass": edit_entry("characters", "scaled_mass", other_fraction),
    "active set": edit_entry("characters", "scaled_mass", lambda s, old: "0" if old != "0" else other_fraction(s, old)),
    "list of characters": edit_row_list,
    "lower bound of the value": edit_text("value", "lower"),
    "upper bound of the value": edit_text("value", "upper"),
    "exact margin": edit_text("margin", "exact"),
    "lower decimal": edit_text("margin", "lower"),
    "upper decimal": edit_text("margin", "upper"),
    "grade": lambda document, source: document.update(grade=source.choice(["enclosed", "Exact", "numeric"])),
    "type": edit_type,
}


# ---- which edits leave the claim true, decided by multiplying permutations


def are_permutations(lists, degree):
    return bool(lists) and all(sorted(images) == list(range(degree)) for images in lists)


def remains_true(kind, old, new):
    """Whether an edit of this kind left the claim true."""
    group, degree = old["group"], old["group"]["degree"]
    if kind in ("generator", "list of generators"):
        generators = new["group"]["generators"]
        return are_permutations(generators, degree) and closure(generators) == closure(group["generators"])
    if kind == "representative":
        (i,) = [i for i, entry in enumerate(new["classes"]) if entry != old["classes"][i]]
        p, q = (tuple(document["classes"][i]["representative"]) for document in (old, new))
        return len(q) == degree and any(product_of(g, p) == product_of(q, g) for g in closure(group["generators"]))
    if kind == "root order":
        values = [value for row in old["characters"]["rows"] for value in row["values"]]
        order = new["characters"]["root_order"]
        return all(isinstance(value, int) for value in values) and 1 <= order <= kernel.MAX_ROOT_ORDER
    if kind == "version":
        decimals = (old["margin"]["lower"], old["margin"]["upper"])
        return new["version"] == 1 and all(re.fullmatch(r"0\.[0-9]+", decimal) for decimal in decimals)
    return False


def test_ten_thousand_random_edits_are_refused(capsys):
    source = random.Random(SEED)
    refused, true = Counter(), Counter()
    for name in EDITED:
        valid = margin_document(name)
        assert verdict(valid) == 0
        for _ in range(EDITS_EACH):
            kind = source.choice(list(EDITS))
            edited = copy.deepcopy(valid)
            EDITS[kind](edited, source)
            if edited == valid and json.dumps(edited) == json.dumps(valid):
                continue
            status = verdict(edited)
            if remains_true(kind, valid, edited):
                assert status == 0, f"{name}: {kind}: a true claim was refused"
                true[kind] += 1
            else:
                assert status in (1, 2), f"{name}: {kind}: a false claim was accepted: {json.dumps(edited)}"
                refused[kind, status] += 1
    total = sum(refused.values())
    by_status = {status: sum(n for (_, s), n in refused.items() if s == status) for status in (1, 2)}
    with capsys.disabled():
        print(f"\n{total} random single-field edits refused ({by_status[1]} invalid, {by_status[2]} malformed)")
        print(f"{sum(true.values())} edits left the claim true and were accepted: {dict(true)}")
    assert total >= 10_000
    assert by_status[1] >= 5_000
    assert {kind for kind, _ in refused} == set(EDITS)
    assert {kind for kind in EDITS if not refused[kind, 1]} <= {"version", "degree", "type"}


def test_the_oracle_of_true_edits_tells_true_from_false():
    document = margin_document("S3")
    edited = copy.deepcopy(document)
    edited["group"]["generators"] = [[1, 0, 2], [0, 2, 1]]
    assert remains_true("generator", document, edited)
    edited["group"]["generators"] = [[1, 2, 0]]
    assert not remains_true("generator", document, edited)
    edited = copy.deepcopy(document)
    edited["classes"][1]["representative"] = [2, 1, 0]
    assert remains_true("representative", document, edited)
    edited["classes"][1]["representative"] = [2, 0, 1]
    assert not remains_true("representative", document, edited)
