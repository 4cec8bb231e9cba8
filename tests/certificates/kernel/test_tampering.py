"""Negative controls of the kernel: what a forger could try is refused, and edits that leave the claim true are not.

A random edit changes one field of a valid certificate. Whether the edited claim is still true is decided here without
the kernel, by the multiplication of permutations alone: of all edits that `EDITS` makes, only three kinds can leave it
true (other generators of the same group; another representative of the same class; an order of roots of unity where all
values are integers). These are counted apart and must be accepted; everything else must be refused.
"""

import copy
import json
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import pytest

from certificates import kernel
from certificates.groups.decimals import reciprocal_decimals
from tests.certificates.documents import margin_document

NAMES = ["Z2", "S3", "D4", "Q8", "Z5", "A4", "Z7"]
EDITS_EACH = 2000
SEED = 20240601


def verdict(document):
    """The exit status of the kernel for a document, in this process; anything but the two refusals is an error."""
    try:
        kernel.check(json.dumps(document).encode())
    except kernel.ViolatedError:
        return 1
    except kernel.MalformedError:
        return 2
    return 0


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


def product_of(p, q):
    return tuple(p[i] for i in q)


def closure(generators, limit=100):
    """The group generated by permutations, or as much of it as shows that it has more than ``limit`` elements."""
    elements = {tuple(range(len(generators[0])))}
    while True:
        bigger = elements | {product_of(p, tuple(g)) for p in elements for g in generators}
        if len(bigger) == len(elements) or len(bigger) > limit:
            return bigger
        elements = bigger


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
    return False


def test_ten_thousand_random_edits_are_refused(capsys):
    source = random.Random(SEED)
    refused, true = Counter(), Counter()
    for name in NAMES:
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


# ---- D_4 and Q_8: the same characters, different indicators, different margins


def with_indicators(document, indicators):
    edited = copy.deepcopy(document)
    for row, indicator in zip(edited["characters"]["rows"], indicators, strict=True):
        row["indicator"] = indicator
    return edited


@pytest.mark.parametrize("name", ["D4", "Q8"])
def test_wrong_indicators_are_refused(name):
    document = margin_document(name)
    truth = tuple(row["indicator"] for row in document["characters"]["rows"])
    assert truth.count(-1) == (name == "Q8")
    for indicators in product((-1, 0, 1), repeat=5):
        assert verdict(with_indicators(document, indicators)) == (indicators != truth)


def aligned(document, other):
    """The other document with its rows and columns in an order that gives it the characters of this one."""
    table = [row["values"] for row in document["characters"]["rows"]]
    for order in permutations(range(1, 5)):
        columns = (0, *order)
        rows = [[row["values"][j] for j in columns] for row in other["characters"]["rows"]]
        if sorted(rows) == sorted(table):
            return reordered(other, [rows.index(values) for values in table], columns)
    raise AssertionError("the two groups have different characters")


def reordered(document, rows, columns):
    """The document with its characters and its classes in another order; the claim is the same."""
    result = copy.deepcopy(document)
    position = {old: new for new, old in enumerate(columns)}
    result["classes"] = [copy.deepcopy(document["classes"][j]) for j in columns]
    for entry in result["classes"]:
        entry["inverse"], entry["square"] = position[entry["inverse"]], position[entry["square"]]
    result["characters"]["rows"] = [copy.deepcopy(document["characters"]["rows"][i]) for i in rows]
    for row in result["characters"]["rows"]:
        row["values"] = [row["values"][j] for j in columns]
    return result


def parts(document):
    """The parts of a document that distinguish D_4 from Q_8, as functions that write them into another one."""

    def group(target):
        target["group"] = document["group"]
        for entry, own in zip(target["classes"], document["classes"], strict=True):
            entry.update({key: own[key] for key in ("representative", "size", "inverse", "square")})

    def column(key):
        return lambda target: [
            entry.update({key: own[key]}) for entry, own in zip(target["classes"], document["classes"], strict=True)
        ]

    def row(key):
        def write(target):
            for entry, own in zip(target["characters"]["rows"], document["characters"]["rows"], strict=True):
                entry[key] = own[key]

        return write

    def section(key):
        return lambda target: target.update({key: document[key]})

    return [group, column("scaled_weight"), row("indicator"), row("scaled_mass"), section("value"), section("margin")]


def test_every_mixture_of_d4_and_q8_is_refused():
    d4 = margin_document("D4")
    q8 = aligned(d4, margin_document("Q8"))
    assert verdict(q8) == 0
    count = 0
    for mine, other in ((d4, q8), (q8, d4)):
        writers = parts(copy.deepcopy(other))
        for size in range(len(writers) + 1):
            for chosen in combinations(range(len(writers)), size):
                mixture = copy.deepcopy(mine)
                for i in chosen:
                    writers[i](mixture)
                genuine = mixture in (d4, q8)
                assert verdict(mixture) == (0 if genuine else 1), (mine["group"]["name"], chosen)
                count += not genuine
    assert count >= 60


def test_claims_about_another_group_are_refused():
    """All of a certificate but the generators, which generate another group of the same order and degree."""
    document = margin_document("S3")
    document["group"].update(generators=[[1, 2, 0]])
    assert verdict(document) == 1
    for name in ("D4", "Q8", "A4"):
        for other in ("D4", "Q8", "A4"):
            mixture = margin_document(name)
            mixture["group"] = margin_document(other)["group"]
            assert (verdict(mixture) == 0) == (name == other)


# ---- edits that leave the claim true


def renamed(document):
    document["group"]["name"] = "another name"


def reversed_rows(document):
    document["characters"]["rows"].reverse()


def other_generators(document):
    group = document["group"]
    elements = sorted(closure(group["generators"]))
    group["generators"] = [list(p) for p in elements[-40:]]  # for more than 40 elements a majority: they generate


def conjugate_representatives(document):
    elements = sorted(closure(document["group"]["generators"]))
    for entry in document["classes"]:
        p = tuple(entry["representative"])
        entry["representative"] = list(
            max(q for q in elements for g in elements if product_of(q, g) == product_of(g, p))
        )


def other_root_of_unity(document):
    """Apply the Galois automorphism zeta -> zeta^-1 to all values."""
    change_exponents(document, lambda e, order: -e % order, 1)


def larger_root_order(document):
    change_exponents(document, lambda e, order: 6 * e, 6)


def change_exponents(document, change, factor):
    characters = document["characters"]
    order = characters["root_order"]
    for row in characters["rows"]:
        row["values"] = [
            v if isinstance(v, int) else sorted(([c, change(e, order)] for c, e in v), key=lambda pair: pair[1])
            for v in row["values"]
        ]
    characters["root_order"] = factor * order


TRUE_EDITS = [
    renamed,
    reversed_rows,
    other_generators,
    conjugate_representatives,
    other_root_of_unity,
    larger_root_order,
]


@pytest.mark.parametrize("name", [*NAMES, "Dic3", "C7:C3", "SL(2,3)", "A5"])
@pytest.mark.parametrize("edit", TRUE_EDITS, ids=lambda edit: edit.__name__)
def test_edits_that_leave_the_claim_true_are_accepted(edit, name):
    document = margin_document(name)
    edit(document)
    assert verdict(document) == 0


@pytest.mark.parametrize("name", [*NAMES, "Dic3", "SL(2,3)"])
def test_another_order_of_classes_and_characters_is_accepted(name):
    source = random.Random(SEED)
    document = margin_document(name)
    count = len(document["classes"])
    rows, columns = list(range(count)), [0, *source.sample(range(1, count), count - 1)]
    source.shuffle(rows)
    assert verdict(reordered(document, rows, columns)) == 0


@pytest.mark.parametrize("digits", [1, 5, 50])
def test_another_number_of_digits_is_accepted(digits):
    assert verdict(margin_document("A4", 2, digits)) == 0


def test_white_space_and_order_of_keys_do_not_matter():
    document = margin_document("A4")
    shuffled = json.loads(json.dumps(document), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    kernel.check(json.dumps(shuffled, indent=4).encode())


# ---- consistent forgeries: all dependent fields are computed anew, so that only the line under test is violated


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


def identity_last(document):
    """The classes of Z_2 in the other order, with their indices, under the old columns."""
    document["classes"] = reordered(document, range(2), [1, 0])["classes"]


FORGERIES = {
    "halved masses": (forge_masses("S3", lambda i, y: y / 2), "less than 1"),
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
    "fewer places": (forge("S3", lambda d: d["margin"].update(upper="0.024")), "equally many places"),
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
        forge("S3", lambda d: d["characters"]["rows"].__setitem__(1, d["characters"]["rows"][0])), "is proportional"
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
