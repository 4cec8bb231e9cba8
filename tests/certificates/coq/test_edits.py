"""The checker in Coq, extracted to OCaml too, and the kernel agree: on corrupted certificates, and on random edits."""

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from lemmata.certificates.coq.extracted import decide
from lemmata.certificates.coq.source import coq_terms
from lemmata.certificates.kernel import MalformedError
from lemmata.certificates.operation_kernel import APART
from tests.certificates.coq.edits import Document, coq_accepts, keep_true, kernel_accepts
from tests.certificates.coq.theory import compiled, extracted, has_ocaml, needs_coq
from tests.certificates.operation_documents import at, verdict
from tests.certificates.operation_kernel.test_random_edits import EDITS, NAMES, document

SEED = 20261123
IN_COQ = tuple(name for name in NAMES if document(name)["version"] != APART)
"""The documents that the theory in Coq is about."""
LIGHT = ("parity", "partial", "degree 4", "right", "wrong")
"""The documents that Coq checks fastest: those of the quick run."""


def lower(key: str, factor: Fraction) -> Callable[[Document], None]:
    """An edit of t or t' in the proof of a document of a margin."""

    def edit(value: Document) -> None:
        value["proof"][key] = str(Fraction(value["proof"][key]) * factor)

    return edit


def indefinite(value: Document) -> None:
    """Entries for x^2 y^2, of the last two variables, moved from the square of x y to the product of squares.

    The identity still holds. Elimination begins with the last row, and meets a negative pivot before numbers grow.
    """
    matrix = value["proof"]["matrix"]
    size = len(value["table"]["values"]) + len(value["table"]["values"][0])
    last = size * (size + 1) // 2 - 1
    matrix[last - 1][last - 1] -= 4 * value["proof"]["denominator"]
    matrix[last][last - 2] += 2 * value["proof"]["denominator"]


def entry(i: int, j: int, change: Callable[[int], int]) -> Callable[[Document], None]:
    def edit(value: Document) -> None:
        value["proof"]["matrix"][i][j] = change(value["proof"]["matrix"][i][j])

    return edit


def field(*path: str | int, change: Callable) -> Callable[[Document], None]:
    def edit(value: Document) -> None:
        parent = at(value, path[:-1])
        parent[path[-1]] = change(parent[path[-1]])

    return edit


CORRUPTED: dict[str, tuple[str, Callable[[Document], None]]] = {
    "a smaller t": ("degree 4", lower("t", 1 - Fraction(1, 10**6))),
    "a smaller t'": ("degree 6", lower("t_prime", 1 - Fraction(1, 10**6))),
    "a larger t": ("plane", lower("t", 1 + Fraction(1, 10**6))),
    "a matrix that is not semidefinite": ("degree 4", indefinite),
    "a diagonal entry": ("degree 6", entry(3, 3, lambda x: x - 1)),
    "the sign of an entry beside the diagonal": ("parity", entry(2, 0, lambda x: -x)),
    "another multiplier": ("plane", field("multipliers", 0, change=lambda q: q + 1)),
    "multipliers in another order": ("degree 4", field("multipliers", change=lambda q: q[1:] + q[:1])),
    "another denominator": ("parity", field("proof", "denominator", change=lambda d: d + 1)),
    "another label": ("plane", field("table", "values", 0, change=lambda row: [2, *row[1:]])),
    "a larger lower bound": (
        "degree 4",
        field("margin", "lower", change=lambda text: "0." + str(int(text[2:]) + 10**20)),
    ),
    "a smaller upper bound": ("degree 4", field("margin", "upper", change=lambda text: "0.14")),
    "another margin in radicals": ("parity", field("margin", "exact", change=lambda text: "1/10*sqrt(6)")),
    "the sign of an output weight": ("parity", field("network", "neurons", 0, 4, change=lambda w: -w)),
    "another mass": ("plane", field("network", "masses", 0, change=lambda p: 2 * p)),
    "a threshold that is too low": ("right", field("threshold", change=lambda text: "0.1")),
    "another label at the cell": ("right", field("label", change=lambda y: 1)),
    "weights on other labels": ("wrong", field("weights", change=lambda p: [1, 0, 0])),
    "networks in the other order": ("both", field("networks", change=lambda both: both[::-1])),
    "a share that is too small": ("both", field("epsilon", change=lambda e: "1/4")),
}


@pytest.fixture(scope="module")
def theory(tmp_path_factory):
    return compiled(tmp_path_factory.getbasetemp())


def ocaml_accepts(documents: list[Document], root: Path) -> list[bool] | None:
    """Whether the extracted checker accepts each document; None where it cannot be made."""
    return [decide(extracted(root), coq_terms(document)).accepted for document in documents] if has_ocaml else None


@needs_coq
def test_corrupted_certificates_are_refused_by_both(theory, tmp_path, tmp_path_factory):
    assert len(CORRUPTED) >= 12
    assert set(NAMES) > set(IN_COQ) >= set(LIGHT)
    originals = [document(name) for name in IN_COQ]
    corrupted = []
    for kind, (name, edit) in CORRUPTED.items():
        edited = document(name)
        edit(edited)
        assert verdict(edited)[0] == 1, kind
        assert not kernel_accepts(edited), kind
        corrupted.append(edited)
    assert all(kernel_accepts(original) for original in originals)
    found = coq_accepts(originals + corrupted, theory, tmp_path)
    assert dict(zip(IN_COQ, found, strict=False)) == dict.fromkeys(IN_COQ, True)
    assert dict(zip(CORRUPTED, found[len(IN_COQ) :], strict=True)) == dict.fromkeys(CORRUPTED, False)
    assert ocaml_accepts(originals + corrupted, tmp_path_factory.getbasetemp()) in (None, found)


@needs_coq
def test_both_agree_on_random_edits(effort, theory, tmp_path, tmp_path_factory, capsys):
    count, names = effort.pick(quick=(25, LIGHT), full=(1000, IN_COQ))
    source = random.Random(SEED)
    edits = {**{kind: edit for kind, edit in EDITS.items() if kind != "type"}, "true": keep_true}
    edited: list[Document] = []
    expected: list[bool] = []
    kinds: list[str] = []
    while len(edited) < count:
        kind = source.choice(sorted(edits))
        value = document(source.choice(names))
        edits[kind](value, source)
        try:
            expected.append(kernel_accepts(value))
        except MalformedError:
            assert verdict(value)[0] == 2
            continue  # Coq gets what can be read
        edited.append(value)
        kinds.append(kind)
    found = [
        verdict for start in range(0, count, 100) for verdict in coq_accepts(edited[start:][:100], theory, tmp_path)
    ]
    tally = Counter(zip(kinds, expected, strict=True))
    with capsys.disabled():
        print(f"\n{count} random edits: Coq and the kernel accept {sum(expected)} of them, and refuse the others")
    assert [i for i in range(count) if found[i] != expected[i]] == []
    assert ocaml_accepts(edited, tmp_path_factory.getbasetemp()) in (None, expected)
    assert tally["true", True] > count / 20
    assert tally["true", False] == 0
    assert sum(not one for one in expected) > count / 3
