"""Random edits of certificates: each is refused, unless it leaves every claim true.

Which edits leave the claim true is decided without the kernel. Only another network, or the same probabilities in
other integers, can do so: the edited networks are evaluated in balls, and what the document says of them is compared
with that. Such edits are counted apart and must be accepted.
"""

import copy
import json
import random
from collections import Counter
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from lemmata.numerics.exact.balls import precision
from tests.certificates.operation_documents import (
    apart_document,
    at,
    edit_entries,
    leaves,
    margin_certificate,
    parity_document,
    unseen_document,
    verdict,
)

SEED = 20261122
NAMES = ["parity", "plane", "partial", "degree 4", "degree 6", "right", "wrong", "both", "rows", "one apart"]


def document(name: str) -> dict[str, Any]:
    """One of the documents that are edited, a new object in each call."""
    if name == "parity":
        return parity_document()
    if name in ("rows", "one apart"):
        return apart_document(name)
    return unseen_document(name) if name in ("right", "wrong", "both") else margin_certificate(name)


# ---- edits, each a function of (document, random source) that changes the document in place


def pick_parent(value: dict[str, Any], source: random.Random, kinds: type | tuple[type, ...]) -> tuple[Any, Any]:
    """A parent and a key of a random leaf of some type, fair to the fields first and to their entries then."""
    paths = [path for path in leaves(value) if isinstance(at(value, path), kinds) and path[-1] != "name"]
    fields = sorted({tuple(key for key in path if isinstance(key, str)) for path in paths})
    field = source.choice(fields)
    path = source.choice([p for p in paths if tuple(key for key in p if isinstance(key, str)) == field])
    return at(value, path[:-1]), path[-1]


def edit_integer(value: dict[str, Any], source: random.Random) -> None:
    parent, key = pick_parent(value, source, int)
    old = parent[key]
    choices = [old + 1, old - 1, -old, 2 * old, 0, old + source.randint(-(10**6), 10**6), source.randint(-3, 12)]
    parent[key] = source.choice([new for new in choices if new != old])


def edit_digit(value: dict[str, Any], source: random.Random) -> None:
    parent, key = pick_parent(value, source, str)
    places = [i for i, character in enumerate(parent[key]) if character.isdigit()]
    if places:
        i = source.choice(places)
        digit = source.choice([d for d in "0123456789" if d != parent[key][i]])
        parent[key] = parent[key][:i] + digit + parent[key][i + 1 :]
    else:
        parent[key] = source.choice([*NAMES, "exact", "enclosed"])


def edit_fraction(value: dict[str, Any], source: random.Random) -> None:
    """t lowered or raised by 10^-6 of itself, or one of its relatives."""
    paths = [path for path in leaves(value) if path[-1] in ("t", "t_prime", "epsilon")]
    path = source.choice(paths)
    old = Fraction(at(value, path))
    factors = [1 - Fraction(1, 10**6), 1 + Fraction(1, 10**6), 1 - Fraction(1, 10**9), Fraction(1, 2), 2]
    at(value, path[:-1])[path[-1]] = str(old * source.choice(factors))


def lists(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all lists that are not empty."""
    found = [path] if isinstance(value, list) and value else []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += lists(value[key], (*path, key))
    return found


def edit_list(value: dict[str, Any], source: random.Random) -> None:
    """An entry dropped, doubled, or exchanged with another."""
    edit_entries(at(value, source.choice(lists(value))), source)


def edit_table(value: dict[str, Any], source: random.Random) -> None:
    """Two labels exchanged everywhere, two rows exchanged, or the table transposed."""
    table = value["table"]
    kind = source.randrange(3)
    if kind == 0:
        i, j = source.sample(range(table["labels"]), 2)
        table["values"] = [[{i: j, j: i}.get(x, x) for x in row] for row in table["values"]]
    elif kind == 1:
        table["values"].reverse()
    else:
        table["values"] = [list(column) for column in zip(*table["values"], strict=True)]


def edit_network(value: dict[str, Any], source: random.Random) -> None:
    """A neuron of which two parts are exchanged, or one that has another sign of w, or another direction."""
    network = value.get("network") or source.choice(value["networks"])
    neuron = source.choice(network["neurons"])
    labels = value["table"]["labels"]
    kind = source.randrange(3)
    if value["version"] == 2:  # x_0, x_1 and w
        part = source.choice(neuron)
        i, j = source.sample(range(len(part)), 2)
        if kind == 0:
            neuron[2] = [-w for w in neuron[2]]
        elif kind == 1:
            part[i], part[j] = part[j], part[i]
        else:
            part[i] += source.choice([-1, 1])
        return
    if kind == 0:
        neuron[-labels:] = [-w for w in neuron[-labels:]]
    elif kind == 1:
        i, j = source.sample(range(len(neuron)), 2)
        neuron[i], neuron[j] = neuron[j], neuron[i]
    else:
        neuron[source.randrange(len(neuron))] += source.choice([-1, 1]) * max(1, max(map(abs, neuron)) // 1000)


def edit_type(value: dict[str, Any], source: random.Random) -> None:
    """A leaf of another type, or a key less."""
    parent, key = pick_parent(value, source, (int, str))
    if isinstance(parent, dict) and source.random() < 0.5:
        del parent[key]
    else:
        parent[key] = source.choice([None, True, "", -1.5, {}, [], [parent[key]], str(parent[key]) + "x"])


EDITS = {
    "integer": edit_integer,
    "digit": edit_digit,
    "fraction": edit_fraction,
    "list": edit_list,
    "table": edit_table,
    "network": edit_network,
    "type": edit_type,
}


# ---- what leaves the claim true


def networks_of(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The networks of a document of either format."""
    return [value["network"]] if "network" in value else value["networks"]


def difference(value: dict[str, Any], network: dict[str, Any], a: int, b: int, y: int, c: int) -> arb:
    """f_y - f_c in a cell for a network, a ball."""
    A, B = len(value["table"]["values"]), len(value["table"]["values"][0])
    total = arb(0)
    for neuron, mass in zip(network["neurons"], network["masses"], strict=True):
        length = arb(sum(x * x for x in neuron)).sqrt()
        u, v, w = neuron[:A], neuron[A : A + B], neuron[A + B :]
        total += mass * (u[a] + v[b]) ** 2 * (w[y] - w[c]) / length**3
    return total / sum(network["masses"])


def difference_apart(value: dict[str, Any], network: dict[str, Any], a: int, b: int, y: int, c: int) -> arb:
    """The same in version 2: neurons of length 1 by their parts, with the shares p |x|^2."""
    A, root = len(value["table"]["values"]), arb(network["root"]).sqrt()
    total, size = arb(0), arb(0)
    for (one, other, w), (p, q) in zip(network["neurons"], network["masses"], strict=True):
        x = [i + root * j for i, j in zip(one, other, strict=True)]
        square, share = sum((i * i for i in x), arb(0)), p + q * root
        size += share * square
        unit = arb(4) / 27 / arb(sum(i * i for i in w))
        total += share * (x[a] + x[A + b]) ** 2 * (w[y] - w[c]) * unit.sqrt()
    return total / size


def margin(value: dict[str, Any], network: dict[str, Any]) -> arb:
    """The least difference on the given cells: the ball with the smallest middle."""
    answer = difference_apart if value["version"] == 2 else difference
    differences = [
        answer(value, network, a, b, y, c)
        for a, row in enumerate(value["table"]["values"])
        for b, y in enumerate(row)
        for c in range(value["table"]["labels"])
        if y >= 0 and c != y
    ]
    return min(differences, key=lambda ball: ball.mid())


def fits(value: dict[str, Any]) -> bool:
    """Whether the numbers of a document that speak of its networks are true, in balls."""
    claims = networks_of(value)
    if value["version"] == 2:
        network, (q, _, root) = claims[0], value["margin"]["exact"].partition("*sqrt(")
        field = arb(network["root"]).sqrt()
        inside = all(abs(x) <= 10**12 for neuron in network["neurons"] for part in neuron for x in part)
        above = all(p + q * field > 0 and max(abs(p), abs(q)) <= 10**19 for p, q in network["masses"])
        exact = as_arb(Fraction(q)) * arb(int(root[:-1] or 1)).sqrt()
        found = inside and above and all(any(w) for _, _, w in network["neurons"])
        return bool(found and abs(margin(value, network) - exact) < arb(10) ** -60)
    if any(min(network["masses"]) <= 0 or not all(map(any, network["neurons"])) for network in claims):
        return False
    if any(abs(x) > 10**12 for network in claims for neuron in network["neurons"] for x in neuron):
        return False
    if value.get("verdict") == "both":
        (a, b), y = value["cell"], value["label"]
        others = [c for c in range(value["table"]["labels"]) if c != y]
        right, wrong = ([difference(value, network, a, b, y, c) for c in others] for network in claims)
        threshold = as_arb(Fraction(value["threshold"]))
        return (
            all(margin(value, network) >= threshold for network in claims)
            and all(d > 0 for d in right)
            and any(d < 0 for d in wrong)
        )
    if value.get("grade") == "exact":
        return abs(margin(value, claims[0]) - arb(6).sqrt() / 9) < arb(10) ** -60
    factor = 1 if "network" in value else 1 - Fraction(value["epsilon"])
    text = value["margin"]["lower"] if "network" in value else value["threshold"]
    unit = Fraction(1, 10 ** len(text.partition(".")[2]))
    found = margin(value, claims[0]) * as_arb(factor)
    return as_arb(Fraction(text)) <= found < as_arb(Fraction(text) + unit)


def as_arb(number: Fraction | int) -> arb:
    """A rational number as a ball."""
    return arb(fmpq(Fraction(number).numerator, Fraction(number).denominator))


def remains_true(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two documents differ in nothing but networks of which the same is true, and in the scale of weights."""
    try:
        if _rest(old) != _rest(new):
            return False
        with precision(400):
            return fits(new)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
        return False


def _rest(value: dict[str, Any]) -> str:
    """Everything but the name, the networks and the scale of the weights; and the shape of the networks."""
    result = copy.deepcopy(value)
    result["table"].pop("name")
    for network in networks_of(result):
        neurons, masses = network.pop("neurons"), network.pop("masses")
        if any(type(x) is not int for x in flat([neurons, masses, value.get("weights") or []])):
            raise TypeError("A network or the weights have an entry that is no integer.")
        network["lengths"] = sorted({str([len(part) if isinstance(part, list) else 1 for part in n]) for n in neurons})
    if result.get("weights"):
        result["weights"] = [str(Fraction(weight, sum(result["weights"]))) for weight in result["weights"]]
    return json.dumps(result, sort_keys=True)


def flat(value: Any) -> list[Any]:
    """The leaves of lists of lists."""
    return [one for part in value for one in flat(part)] if isinstance(value, list) else [value]


def test_random_edits_are_refused(effort, capsys):
    each = effort.pick(quick=30, full=1400)
    source = random.Random(SEED)
    refused: Counter[tuple[str, int]] = Counter()
    same: Counter[str] = Counter()
    for name in NAMES:
        valid = document(name)
        assert verdict(valid)[0] == 0
        for _ in range(each):
            kind = source.choice(sorted(EDITS))
            edited = document(name)
            EDITS[kind](edited, source)
            if remains_true(valid, edited):
                same[kind] += 1
                assert verdict(edited)[0] == 0, (name, kind)
                continue
            status, line = verdict(edited)
            assert status in (1, 2), f"{name}: {kind}: a false claim was accepted: {line}"
            refused[kind, status] += 1
    total = sum(refused.values())
    with capsys.disabled():
        invalid = sum(count for (_, status), count in refused.items() if status == 1)
        print(f"\n{total} random edits refused ({invalid} invalid), {sum(same.values())} left the claim as it was")
    assert total >= 0.9 * each * len(NAMES)
    assert {kind for kind, _ in refused} == set(EDITS)
    assert {kind for kind, status in refused if status == 1} >= set(EDITS) - {"type"}


def test_the_oracle_of_equal_claims_tells_true_from_false():
    old, new = document("both"), document("both")
    for network in new["networks"]:
        network["masses"] = [2 * mass for mass in network["masses"][::-1]]
        network["neurons"] = [[-3 * x for x in n[:6]] + [3 * w for w in n[6:]] for n in network["neurons"][::-1]]
    assert remains_true(old, new)
    assert verdict(new)[0] == 0
    for neuron in new["networks"][0]["neurons"]:
        neuron[6:] = [-w for w in neuron[6:]]
    assert not remains_true(old, new)
