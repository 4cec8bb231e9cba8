"""Certificates become theorems of Coq: of both formats, of all kinds of proofs, exact and enclosed."""

import random
import re
from pathlib import Path

import pytest

from lemmata.certificates.coq import factors
from lemmata.certificates.coq.compiler import AXIOMS, CoqRefusalError, coqc, prove, prove_claims
from lemmata.certificates.coq.factors import CANDIDATES, factor_bits
from lemmata.certificates.coq.source import coq_file
from tests.certificates.coq.theory import compiled, needs_coq
from tests.certificates.operation_documents import margin_certificate, parity_document, unseen_document


@pytest.fixture(scope="module")
def theory(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.getbasetemp())


NAMES = ("plane", "degree 4", "degree 6")
VERDICTS = {
    "right": ["right_at T 1 1 0"],
    "wrong": ["wrong_at T 2 2 1"],
    "both": ["right_at T 2 2 1", "wrong_at T 2 2 1"],
}


@pytest.fixture(scope="module")
def theorems(theory) -> dict[str, str]:
    """The theorems of all documents, from one run of Coq, with their assumptions checked."""
    documents = {"exact": parity_document()}
    documents |= {name: margin_certificate(name) for name in NAMES}
    documents |= {verdict: unseen_document(verdict) for verdict in VERDICTS}
    files = [coq_file(document) for document in documents.values()]
    text = "".join(f"Module M{i}.\n{file.text}End M{i}.\n" for i, file in enumerate(files))
    proof = prove_claims(text, [file.claim for file in files], theory)
    assert set(proof.assumptions) == AXIOMS
    return {name: file.claim.statement for name, file in zip(documents, files, strict=True)}


@needs_coq
def test_an_exact_margin(theorems):
    assert theorems["exact"] == "maximum_margin_between T ((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)"


@needs_coq
@pytest.mark.parametrize("name", NAMES)
def test_two_sides(name, theorems):
    document = margin_certificate(name)
    assert document["proof"]["kind"] == name
    sides = [float(document["margin"][side]) for side in ("lower", "upper")]
    quotients = re.findall(r"\((\d+) / (\d+)\)", theorems[name])
    assert [int(p) / int(q) for p, q in quotients] == pytest.approx(sides, rel=1e-15)


@needs_coq
@pytest.mark.parametrize("verdict", VERDICTS)
def test_cells_that_were_never_seen(verdict, theorems):
    theorem = theorems[verdict]
    assert "not_given" in theorem
    assert re.search(r"\(exists net, normalized_margin_at_least T \([\d /]+\) net", theorem)
    assert [text in theorem for text in VERDICTS[verdict]] == [True] * len(VERDICTS[verdict])


@needs_coq
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)", "((1 / 9) * sqrt 6) ((1 / 9) * sqrt 5)"),
        ("attains_root T 6 36 network_0 1 9", "attains_root T 6 36 network_0 1 8"),
    ],
)
def test_a_wrong_file_is_refused(right, wrong, tmp_path, theory):
    text = coq_file(parity_document()).text
    path = tmp_path / "wrong.v"
    path.write_text(text.replace(right, wrong, 1))
    assert path.read_text() != text
    with pytest.raises(CoqRefusalError, match=r"^Coq does not accept wrong\.v: "):
        prove(path, theory)


@needs_coq
def test_a_network_below_the_threshold_does_not_do(tmp_path, theory):
    """The claim about networks from the threshold on is not empty: the network that is shown is one of them."""
    text = coq_file(unseen_document("right")).text
    low = re.search(r"attains T \d+ network_0 (\d+ \d+) = true", text)
    assert low is not None
    p, q = low[1].split()
    path = tmp_path / "empty.v"
    path.write_text(text.replace(f"{p} {q} ", f"{p} {2 * int(q)} ").replace(f"({p} / {q})", f"({p} / {2 * int(q)})"))
    assert path.read_text().count(str(2 * int(q))) == 4
    with pytest.raises(CoqRefusalError):
        prove(path, theory)


def test_what_the_kernel_refuses_becomes_no_file():
    document = parity_document()
    document["proof"]["t"] = "9/10"
    with pytest.raises(ValueError, match="kernel refuses the certificate"):
        coq_file(document)


NAMES_OF_TABLES = (
    'mod 2 *) Axiom false : False. (* "',
    "(* (* *) *) Axiom false : False.",
    "**)Axiom false : False.(**",
    "(*)",
    "*)*)*)",
    "#<script>alert(1)</script>#",
    "[Axiom] %latex% $x$ _emph_",
    "a <<verbatim",
    "*",
)


@pytest.mark.parametrize("name", NAMES_OF_TABLES)
def test_names_end_no_comment_and_are_text_in_coqdoc(name):
    """What coqdoc takes for HTML, LaTeX, code or verbatim text is between #, %, $, [ and ], _, << and >>."""
    document = parity_document()
    rest = coq_file(document).text.partition("*)\n\nFrom Coq")[2]
    document["table"]["name"] = name
    head, _, after = coq_file(document).text.partition("*)\n\nFrom Coq")
    assert after == rest
    assert head.startswith("(* ")
    assert not re.search(r"\(\*|\*\)", head[2:])
    assert not re.search(r"[][#%$_<>\"]", head)


@pytest.mark.parametrize(
    ("matrix", "bits"),
    [
        ([[1 << 44], [0, 1 << 44]], 16),
        ([[2], [2, 2]], 0),
        ([[0], [0, 3]], 16),
        ([[0], [1, 3]], None),
        ([[1], [2, 3]], None),
        ([[-1]], None),
    ],
)
def test_bits_of_factors(matrix, bits):
    assert factor_bits(matrix) == bits


def near_singular(count: int) -> list[list[list[int]]]:
    """Lower triangles of orders 1 to 5 between positive definite and indefinite, where rounding decides."""
    source, found = random.Random(46), []
    while len(found) < count:
        n, rank, scale = source.randint(1, 5), source.randint(1, 5), 2 ** source.randint(0, 60)
        rows = [[source.randint(-9, 9) * scale for _ in range(min(n, rank))] for _ in range(n)]
        room = source.choice([0, 1, 1, 3, scale, 40 * scale, -1])
        gram = [[sum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for a in rows]
        found.append([[entry + room * (i == j) for j, entry in enumerate(row[: i + 1])] for i, row in enumerate(gram)])
    return found


@needs_coq
def test_bits_are_the_least_with_which_the_checker_accepts(tmp_path, theory, monkeypatch):
    """Checker.v itself is asked, on matrices with the last row first: any bits alone, and the least candidate."""
    small = [[[k * (i == j) for j in range(i + 1)] for i in range(n)] for n in range(1, 6) for k in range(1, 7)]
    matrices, tried = [*small, *near_singular(120)], (*range(1, 10), *CANDIDATES)
    lines = ["From Coq Require Import ZArith List.", "From Lemmata Require Import Checker.", "Import ListNotations."]
    lines.append("Open Scope Z_scope.")
    for lower in matrices:
        rows = "; ".join("[" + "; ".join(f"({entry})" for entry in reversed(row)) + "]" for row in reversed(lower))
        asked = [f"factors {len(lower)} (fractions (4 ^ {bits}) M)" for bits in tried]
        asked.append(f"eliminates {len(lower)} 1 M")
        lines.append(f"Eval vm_compute in let M := [{rows}] in [{'; '.join(asked)}].")
    path = tmp_path / "Bits.v"
    path.write_text("\n".join(lines) + "\n")
    printed = [re.findall("true|false", block) for block in coqc(path, theory).split(": list bool")[:-1]]
    answers = [[answer == "true" for answer in block] for block in printed]
    assert [len(block) for block in answers] == [len(tried) + 1] * len(matrices)
    least = []
    for lower, told in zip(matrices, answers, strict=True):
        accepted = dict(zip((*tried, 0), told, strict=True))
        least.append(next((bits for bits in (*CANDIDATES, 0) if accepted[bits]), None))
        assert factor_bits(lower) == least[-1]
        for bits in tried:
            with monkeypatch.context() as patch:
                patch.setattr(factors, "CANDIDATES", (bits,))
                assert (factor_bits(lower) == bits) == accepted[bits]
    assert len(set(least)) >= 8  # of the eight candidates, elimination and neither
