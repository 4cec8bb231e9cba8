"""Documents, true and forged, whose verdicts tell the kernel of operations from programs that lack one of its checks.

Each entry is a document with limits that are set for it, or functions of the kernel that are replaced. The forgeries
are made by hand, one for each check; what the kernel says of all of them is what `test_mutants` compares.
"""

import copy
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from tests.certificates.kernel_mutants import Entry
from tests.certificates.operation_documents import (
    apart_document,
    at,
    leaves,
    margin_certificate,
    parity_document,
    unseen_document,
)

Document = dict[str, Any]


def changed(value: Any) -> list[Any]:
    """Other values of the same type, and some of another."""
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 7, 3 * value + 5, str(value), None, float(value), value == 1, [value]]
    if value is None:
        return [0, "0", [], {}]
    texts = [value + "0", "-" + value, "1" + value, "", value.replace("1", "2") + " ", value.replace("9", "8"), "0"]
    return [text for text in texts if text != value] + [None, 1.5, [], {}]


def each_leaf(document: Document) -> Iterator[tuple[tuple[Any, ...], Any, Document]]:
    """All documents with another value at one leaf, the path to it, and the value."""
    for path in leaves(document):
        for other in changed(at(document, path)):
            forged = copy.deepcopy(document)
            at(forged, path[:-1])[path[-1]] = other
            yield path, other, forged


def edited(document: Document, change: Callable[[Document], None]) -> Document:
    """A copy that was changed."""
    result = copy.deepcopy(document)
    change(result)
    return result


def sets(*pairs: tuple[tuple[Any, ...], Any]) -> Callable[[Document], None]:
    """The change that puts values at paths."""

    def change(document: Document) -> None:
        for path, value in pairs:
            at(document, path[:-1])[path[-1]] = value

    return change


def entries() -> Iterator[Entry]:
    """The corpus, cheap entries first."""
    parity = parity_document()
    yield "parity", parity, {}
    for path, other, forged in each_leaf(parity):
        yield f"parity, {path} is {other!r}", forged, {}
    for part in ((), ("table",), ("network",), ("proof",), ("margin",)):
        for key in at(parity, part):
            yield f"without {key}", edited(parity, lambda d, part=part, key=key: at(d, part).pop(key)), {}
    for other in ([], [parity], "lemmata/operation-margin", 3, None):
        yield f"{type(other).__name__}", other, {}
    yield "one cell", one_cell(), {}
    yield from apart()
    yield from margins(parity)
    yield from decimals(parity)
    yield from limits(parity)
    for name in ("plane", "partial", "degree 4", "degree 6"):
        yield name, margin_certificate(name), {}
        yield f"{name} without elimination", margin_certificate(name), {"MAX_EXACT": 0}
    yield from forged_proofs()
    yield from unseen()


def apart() -> Iterator[Entry]:
    """Documents of version 2 and forgeries of their networks."""
    document = apart_document()
    for name in ("rows", "one apart"):
        yield f"apart, {name}", apart_document(name), {}
    for path, other, forged in each_leaf(document):
        if path[0] in ("version", "network", "margin"):
            yield f"apart, {path} is {other!r}", forged, {}
    for key in ("root", "neurons", "masses"):
        yield f"apart without {key}", edited(document, lambda d, key=key: d["network"].pop(key)), {}
    size, labels = len(document["network"]["neurons"][0][0]), document["table"]["labels"]
    nothing = [[0] * size, [0] * size, [1, -1]]
    zero = [[2] * size, [-1] * size, [1, -1]]
    network = document["network"]
    for name, value in {
        "enclosed": sets((("margin", "exact"), None), (("grade",), "enclosed"), (("gap",), "3.7e-12")),
        "no x": sets((("network", "neurons"), [nothing]), (("network", "masses"), [[1, 0]])),
        "no x in the field": sets(
            (("network", "root"), 4), (("network", "neurons"), [zero]), (("network", "masses"), [[1, 0]])
        ),
        "one neuron of nothing": lambda d: (
            d["network"]["neurons"].append(nothing),
            d["network"]["masses"].append([3, 0]),
        ),
        "no w": sets((("network", "neurons", 0, 2), [0] * labels)),
        "w too long": sets((("network", "neurons", 0, 2), [57_736, 0])),
        "w not too long": sets((("network", "neurons", 0, 2), [57_735, 0])),
        "two parts": lambda d: d["network"]["neurons"][0].pop(),
        "four parts": lambda d: d["network"]["neurons"][0].append([1, -1]),
        "one mass": lambda d: d["network"]["masses"].pop(),
        "one part of a mass": lambda d: d["network"]["masses"][0].pop(),
        "a mass of zero": sets((("network", "masses", 0), [0, 0])),
        "a mass below zero": sets((("network", "masses", 0), [1, -1])),
        "a mass above zero": sets((("network", "masses"), [[3, -2] for _ in network["masses"]])),
        "one mass above zero": sets((("network", "masses", 0), [3, -2])),
        "root 0": sets((("network", "root"), 0)),
        "the conjugates": lambda d: [n.__setitem__(1, [-x for x in n[1]]) for n in d["network"]["neurons"]],
        "no neurons": sets((("network", "neurons"), []), (("network", "masses"), [])),
        "the other signs of w": lambda d: [n.__setitem__(2, [-x for x in n[2]]) for n in d["network"]["neurons"]],
        "one w twice as long": lambda d: d["network"]["neurons"][0].__setitem__(
            2, [2 * x for x in d["network"]["neurons"][0][2]]
        ),
        "root times 4": lambda d: (
            d["network"].update(root=4 * d["network"]["root"]),
            [n.__setitem__(0, [2 * x for x in n[0]]) for n in d["network"]["neurons"]],
            [m.__setitem__(0, 2 * m[0]) for m in d["network"]["masses"]],
        ),
        "largest root": sets((("network", "root"), 10**6)),
        "too large a root": sets((("network", "root"), 10**6 + 1)),
    }.items():
        yield f"apart, {name}", edited(document, value), {}
    first = document["network"]["neurons"][0][2]  # [1, -1] or [-1, 1], as the solver had it
    two = edited(document, sets((("network", "neurons", 0, 2), [2 * x for x in first])))
    for limit, value in [
        ("MAX_LENGTHS", 2), ("MAX_LENGTHS", 1), ("MAX_TERMS", 8), ("MAX_TERMS", 7), ("MAX_ROOT", 24), ("MAX_ROOT", 23),
        ("MAX_PRODUCTS", 28), ("MAX_PRODUCTS", 27),
    ]:  # fmt: skip
        yield f"apart, {limit} {value}", two, {limit: value}


def margins(parity: Document) -> Iterator[Entry]:
    """Forgeries of the parts about the margin."""
    enclosed = sets((("margin", "exact"), None), (("grade",), "enclosed"), (("gap",), "3.7e-12"))
    for name, change in {
        "enclosed": enclosed,
        "enclosed with root": sets((("grade",), "enclosed")),
        "exact without root": sets((("margin", "exact"), None)),
        "two neurons, one of mass 2": sets((("network", "masses"), [2, 1])),
        "root that is a square": sets((("margin", "exact"), "1/54*sqrt(216)")),
        "root above the limit": sets((("margin", "exact"), "1/9*sqrt(60000000000)")),
        "root 1": sets((("margin", "exact"), "1/9*sqrt(1)")),
        "not in lowest terms": sets((("margin", "exact"), "2/18*sqrt(6)")),
        "a root that is too small": sets((("margin", "exact"), "1/10*sqrt(6)")),
        "negative root": sets((("margin", "exact"), "-1/9*sqrt(6)")),
        "no root": sets((("margin", "exact"), "1/9")),
        "integer": sets((("margin", "exact"), "3")),
        "gap with places": sets((("gap",), "0.00")),
        "a neuron of zeros": sets((("network", "neurons", 0), [0] * 6)),
        "multipliers of zeros": sets((("multipliers",), [0] * 4)),
        "fewer places above": sets((("margin", "upper"), "0.28")),
        "lower decimal of zero": sets((("margin", "lower"), "0.0"), (("margin", "upper"), "0.3")),
    }.items():
        yield name, edited(parity, change), {}
    base = edited(parity, enclosed)
    for gap in ("3.6e-12", "3.8e-12", "0", "3.68e-12"):
        yield f"gap {gap}", edited(base, sets((("gap",), gap))), {}
    for lower, upper, gap in [
        ("0.272", "0.273", "0.0037"),
        ("0.271", "0.273", "0.0074"),
        ("0.272", "0.274", "0.0073"),
        ("0.27", "0.273", "0.012"),
        ("0", "1", "1"),
        ("0.2", "0.3", "0.34"),
    ]:
        change = sets((("margin", "lower"), lower), (("margin", "upper"), upper), (("gap",), gap))
        yield f"from {lower} to {upper}", edited(base, change), {}
    network = {"neurons": [[1, -1, 1, -1, -1, 1]], "masses": [1]}
    yield "negative margin", edited(base, sets((("network",), network))), {}
    network = {"neurons": [[1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -1, 1], [3, 1, 0, 0, 1, 0]], "masses": [50, 50, 1]}
    yield "an unequal length", edited(parity, sets((("network",), network))), {}
    longer = {"neurons": [[1, -1, 1, -1, 1, -1], [3, -3, -3, 3, -3, 3]], "masses": [1, 1]}
    yield "another length", edited(parity, sets((("network",), longer))), {}


def one_cell() -> Document:
    """A table of one cell and two labels: at most sqrt(32/27), and x'A x = 2 (u + v)^2 <= 4 |x|^2."""
    return {
        "format": "lemmata/operation-margin",
        "version": 1,
        "table": {"name": "one cell", "labels": 2, "values": [[0]]},
        "network": {"neurons": [[1, 1, 1, -1]], "masses": [7]},
        "multipliers": [5],
        "proof": {
            "kind": "plane",
            "t": "4",
            "t_prime": "2",
            "denominator": 1,
            "matrix": [[6], [2, 6], [0, 0, 6], [0, 0, -6, 6]],
        },
        "margin": {"exact": None, "lower": "1.000", "upper": "1.089"},
        "gap": "0.082",
        "grade": "enclosed",
    }


def always(value: Any) -> Callable[..., Any]:
    """The function of that value."""
    return lambda *_: value


def decimals(parity: Document) -> Iterator[Entry]:
    """Margins that are decimals themselves: the sides are given in place of those of the network and of the proof."""
    for exact, least, root, lower, upper, gap in [
        (None, "1/4", "1/2", "0.25", "0.50", "0.5"),
        (None, "1/4", "1/2", "0.24", "0.50", "0.52"),
        (None, "1/4", "1/2", "0.25", "0.51", "0.51"),
        (None, "1/4", "1/2", "0.25", "0.49", "0.49"),
        (None, "1/4", "1/2", "0.26", "0.50", "0.48"),
        (None, "1/4", "1/2", "0.25", "0.50", "0.6"),
        (None, "1/4", "1/2", "0.25", "0.50", "0.4"),
        (None, "1/10", "1/5", "0.1", "0.2", "0.5"),
        (None, "1/10", "1/10", "0.1", "0.1", "0"),
        ("1/4", "1/4", "1/4", "0.25", "0.25", "0"),
        ("1/4", "1/4", "1/4", "0.24", "0.25", "0"),
        ("1/4", "1/4", "1/4", "0.26", "0.26", "0"),
        ("1/4", "1/4", "1/4", "0.25", "0.26", "0"),
    ]:
        change = sets(
            (("margin",), {"exact": exact, "lower": lower, "upper": upper}),
            (("gap",), gap),
            (("grade",), "exact" if exact else "enclosed"),
        )
        given = {"upper_square": always(Fraction(root) ** 2), "least_margin": always(Fraction(least))}
        if exact:
            given["check_exact"] = always(None)
        yield f"decimals {exact} {lower} {upper} {gap}", edited(parity, change), given


def thresholds(right: Document, both: Document) -> Iterator[Entry]:
    """Thresholds and bounds that are decimals themselves, as `decimals`."""
    for threshold, least in [("0.1", "0.1"), ("0.1", "0.2"), ("0.1", "0.25"), ("0.2", "0.1")]:
        given = {"least_margin": always(Fraction(least) / Fraction(999, 1000)), "check_part": always(None)}
        yield f"threshold {threshold} of {least}", edited(right, sets((("threshold",), threshold))), given
    count = len(right["parts"][0]["multipliers"])
    for threshold, root, bound in [
        ("0.5", "0.25", "0.25"),
        ("0.5", "0.25", "0.24"),
        ("0.5", "0.25", "0.26"),
        ("0.5", "0.25", "0.20"),
        ("0.5", "0.4", "0.1"),
        ("0.5", "0.5", "0.0"),
        ("0.495", "0.001", "0.49"),
        ("0.495", "0.001", "0.50"),
        ("0.2", "0.3", "0.5"),
    ]:
        change = sets((("threshold",), threshold))
        document = edited(right, change)
        for part in document["parts"]:
            part.update(multipliers=[1] + [0] * (count - 1), denominator=1, bound=bound)
        square = Fraction(27, 4) * Fraction(root) ** 2
        yield f"bound {bound}", document, {"check_proof": always(square), "check_threshold": always(None)}
    half = edited(both, sets((("threshold",), "0.5")))
    given = {"upper_square": always(Fraction(1))}
    for least in ("1/2", "1/3"):
        yield f"margin {least}", half, given | {"least_margin": always(Fraction(least))}
    quarter = edited(both, sets((("threshold",), "0.75"), (("epsilon",), "1/4")))
    yield "three quarters", quarter, given | {"least_margin": always(Fraction(3, 4))}
    first = both["networks"][0]["neurons"]
    for values in [((0, 1), (-1, -1)), ((1, 1), (0, 1)), ((1, 2), (1, -1)), ((2, -1), (-2, -1)), ((1, 1), (-1, -1))]:

        def outputs(_: Any, network: Any, triples: Any, values: Any = values) -> Any:
            return [(value, value) for value in values[network.neurons != first]]

        yield f"outputs {values}", half, given | {"least_margin": always(Fraction(1)), "enclosures": outputs}


def limits(parity: Document) -> Iterator[Entry]:
    """At a limit, and beyond it by one."""
    for name, exact in {
        "MAX_TRIPLES": 8,  # cells times labels
        "MAX_PRODUCTS": 20,  # two neurons, four triples and six coordinates
        "MAX_ORDER_CUBED": 512,
        "MAX_ROOT": 6,
        "MAX_EXACT": 8**5 * 3**2,
        "MAX_SIDE": 2,
        "MAX_COORDINATE": 1,
        "MAX_INTEGER": 6,
    }.items():
        for limit in (exact, exact - 1):
            yield f"{name} {limit}", parity, {name: limit}
    two_lengths = edited(parity, lambda d: d["network"]["neurons"].__setitem__(0, [2, -2, 2, -2, 2, -2]))
    for name, exact in {"MAX_LENGTHS": 2, "MAX_TERMS": 8, "MAX_ROOT": 24}.items():
        for limit in (exact, exact - 1):
            yield f"{name} {limit}", two_lengths, {name: limit}
    for values, labels in [([], 2), ([[]], 2), ([[0, 1], [0]], 2), ([[-1, -1], [-1, -1]], 2), ([[0, 1], [1, -1]], 2)]:
        yield f"values {values}", edited(parity, sets((("table", "values"), values), (("table", "labels"), labels))), {}
    large = 10**19
    yield "large multipliers", edited(parity, sets((("multipliers",), [large] * 4))), {}
    yield "too large", edited(parity, sets((("multipliers",), [large + 1] * 4))), {}


def forged_proofs() -> Iterator[Entry]:
    """Matrices that satisfy the identity and are not positive semidefinite, and such that are and do not."""
    for name in ("plane", "degree 4", "degree 6"):
        document = margin_certificate(name)
        t, t_prime, unit = (document["proof"][key] for key in ("t", "t_prime", "denominator"))
        lowered = lower(document, Fraction(t) / 10**6)
        yield f"{name}, t lowered with its matrix", lowered, {}
        yield f"{name}, t lowered with its matrix, no elimination", lowered, {"MAX_EXACT": 0}
        for key, old in (("t", t), ("t_prime", t_prime)):
            changed = sets((("proof", key), str(Fraction(old) * (1 - Fraction(1, 10**6)))))
            yield f"{name}, {key} lowered", edited(document, changed), {}
        yield f"{name}, other denominator", edited(document, sets((("proof", "denominator"), unit + 1))), {}
        for i, j in ((0, 0), (1, 0), (-1, -1), (-1, 0), (-1, 1), (-2, -2)):
            path = ("proof", "matrix", i, j)
            yield f"{name}, entry {i}, {j}", edited(document, sets((path, at(document, path) + 1))), {}
        for kind in ("plane", "degree 4", "degree 6"):
            yield f"{name} as {kind}", edited(document, sets((("proof", "kind"), kind))), {}
    plane = margin_certificate("plane")
    n = len(plane["proof"]["matrix"]) // 2
    for i, j in ((1, 0), (2, 0), (2, 1)):
        change = sets(
            (("proof", "matrix", n + i, j), at(plane, ("proof", "matrix", n + i, j)) + 1),
            (("proof", "matrix", n + j, i), at(plane, ("proof", "matrix", n + j, i)) - 1),
        )
        yield f"another skew part {i}, {j}", edited(plane, change), {}


def lower(document: Document, amount: Fraction) -> Document:
    """The document with t (and t') lowered by an amount, and the matrix with it, as the identity asks."""
    proof = copy.deepcopy(document["proof"])
    step = round(amount * proof["denominator"])
    table = document["table"]
    N = len(table["values"]) + len(table["values"][0])
    n = len(proof["matrix"])
    if proof["kind"] == "plane":
        weights = [1] * N + [3] * N
    elif proof["kind"] == "degree 4":
        weights = [1 if i == j else 2 for i in range(N) for j in range(i, N)] + [1] * (n - N * (N + 1) // 2)
    else:
        vector = [(i, j, k) for i in range(N) for j in range(i, N) for k in range(j, N)]
        weights = [{1: 1, 2: 3, 3: 6}[len(set(m))] for m in vector]
        weights += [1] * (n - len(weights))
    for i, weight in enumerate(weights):
        proof["matrix"][i][i] -= weight * step
    step = Fraction(step, proof["denominator"])
    proof["t"] = str(Fraction(proof["t"]) - step)
    proof["t_prime"] = str(Fraction(proof["t_prime"]) - (step / 2 if proof["kind"] == "plane" else step))
    return document | {"proof": proof}


def unseen() -> Iterator[Entry]:
    """Forgeries of documents of unseen cells."""
    for name in ("right", "wrong", "both"):
        document = unseen_document(name)
        yield name, document, {}
        for path in leaves(document):
            if "neurons" in path or "matrix" in path or ("masses" in path and name == "both"):
                continue
            for other in changed(at(document, path)):
                yield f"{name}, {path} is {other!r}", edited(document, sets((path, other))), {}
        for key in document:
            yield f"{name} without {key}", edited(document, lambda d, key=key: d.pop(key)), {}
        size = 2 * (len(document["table"]["values"]) + len(document["table"]["values"][0]))
        for limit in (2 * size**3, 2 * size**3 - 1, size**3, size**3 - 1):
            yield f"{name}, MAX_ORDER_CUBED {limit}", document, {"MAX_ORDER_CUBED": limit}
    right, wrong, both = (unseen_document(name) for name in ("right", "wrong", "both"))
    yield from thresholds(right, both)
    for epsilon in ("1", "3/2", "-1/2"):
        yield f"epsilon {epsilon}", edited(right, sets((("epsilon",), epsilon))), {}
    for cell in ([1], [1, 1, 1]):
        yield f"cell {cell}", edited(right, sets((("cell",), cell))), {}
    yield "networks exchanged", edited(both, lambda d: d["networks"].reverse()), {}
    yield "one network twice, right", edited(both, lambda d: d["networks"].__setitem__(1, d["networks"][0])), {}
    yield "one network twice, wrong", edited(both, lambda d: d["networks"].__setitem__(0, d["networks"][1])), {}
    yield "wrong claimed of the label 0", edited(wrong, sets((("label",), 0), (("weights",), [0, 1, 1]))), {}
    yield "wrong with other weights", edited(wrong, sets((("weights",), [1, 0, 2]))), {}
    yield "wrong with double weights", edited(wrong, sets((("weights",), [2, 0, 2]))), {}
    yield "wrong without weights", edited(wrong, sets((("weights",), None))), {}
    yield "wrong with zero weights", edited(wrong, sets((("weights",), [0, 0, 0]))), {}
    yield "right with weights", edited(right, sets((("weights",), [0, 1, 0]))), {}
    yield "right with upper", edited(right, sets((("upper",), both["upper"]))), {}
    yield "both without upper", edited(both, sets((("upper",), None))), {}
    yield "a given cell", edited(right, sets((("cell",), [0, 0]))), {}
    for document in (right, wrong, both):
        yield "one network more", edited(document, lambda d: d["networks"].append(d["networks"][0])), {}
        yield "one network less", edited(document, lambda d: d["networks"].pop()), {}
    yield "parts exchanged", edited(right, lambda d: d["parts"].reverse()), {}
    yield "one part", edited(right, lambda d: d["parts"].pop()), {}
    for document in (right, wrong):
        part = document["parts"][0]
        yield "a part twice", edited(document, sets((("parts",), [part, part]))), {}
        yield (
            "no multipliers",
            edited(document, sets((("parts", 0, "multipliers"), [0] * len(part["multipliers"])))),
            {},
        )
        lowered = lower({"table": document["table"], "proof": part["proof"]}, Fraction(part["proof"]["t"]) / 10**6)
        yield "lowered", edited(document, sets((("parts", 0, "proof"), lowered["proof"]))), {}
        bound = part["bound"]
        for step in (-1, 1):
            text = str(Decimal(bound) + Decimal(step).scaleb(-len(bound.partition(".")[2])))
            yield f"bound {text}", edited(document, sets((("parts", 0, "bound"), text))), {}
    worst = edited(both, lambda d: d["networks"][0].update(neurons=[[1, 0, 0, 1, 0, 0, 1, 0, 0]], masses=[1]))
    yield "a network of small margin", worst, {}
    lowered = lower({"table": both["table"], "proof": both["upper"]["proof"]}, Fraction(1, 10**5))
    yield "upper lowered", edited(both, sets((("upper", "proof"), lowered["proof"]))), {}
    half = edited(both, sets((("upper", "multipliers", 0), both["upper"]["multipliers"][0] + 1)))
    yield "upper with other multipliers", half, {}


def matrices() -> list[list[list[int]]]:
    """Lower triangles of small matrices of every rank and signature, some close to the boundary."""
    source = np.random.default_rng(5)
    found = [
        [[0]],
        [[1]],
        [[-1]],
        [[0], [0, 0]],
        [[0], [1, 0]],
        [[0], [1, 5]],
        [[0], [0, 3]],
        [[3], [0, 0]],
        [[1], [1, 0]],
    ]
    found += [[[2], [0, -1]], [[1], [1, 1], [1, 1, 1]], [[1], [1, 1], [0, 1, 0]], [[-1], [0, 1]], [[5], [0, 7]]]
    a, b = 1, 1
    for _ in range(85):  # consecutive Fibonacci numbers: determinants 1 and -1
        found.append([[a], [b, a + b]])
        found.append([[1], [0, a], [0, b, a + b]])
        found.append([[0] * i for i in range(1, 9)])
        for i in range(0, 8, 2):  # four blocks
            found[-1][i][i], found[-1][i + 1][i], found[-1][i + 1][i + 1] = a, b, a + b
        a, b = b, a + b
    for n in range(2, 7):
        for rank in range(1, n + 1):
            factor = source.integers(-9, 10, (n, rank))
            gram = factor @ factor.T
            for change in (0, 1, -1):
                gram[n - 1, n - 1] += change
                found.append([[int(x) for x in row[: i + 1]] for i, row in enumerate(gram)])
    return found


def networks(module: Any) -> Iterator[tuple[Any, Any]]:
    """Tables with random networks, as a kernel reads them."""
    source = np.random.default_rng(8)
    for values, labels in (([[0]], 2), ([[0, 2, -1], [1, 1, 3]], 4)):
        table = module.Operation({"name": "given", "labels": labels, "values": values})
        for count in (1, 5):
            neurons = source.integers(-9, 10, (count, table.size + labels)).tolist()
            masses = source.integers(1, 9, count).tolist()
            yield table, module.Network({"neurons": neurons, "masses": masses}, "network", table)
