"""Certificates become theorems of Coq: of both formats, of all kinds of proofs, exact and enclosed."""

import re
from pathlib import Path

import pytest

from lemmata.certificates.coq.compiler import AXIOMS, CoqRefusalError, checked_theorem, coqc, prove
from lemmata.certificates.coq.factors import factor_bits
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
def theorems(tmp_path_factory, theory) -> dict[str, str]:
    """The theorems of all documents, from one run of Coq, each with its assumptions checked."""
    documents = {"exact": parity_document()}
    documents |= {name: margin_certificate(name) for name in NAMES}
    documents |= {verdict: unseen_document(verdict) for verdict in VERDICTS}
    texts = [coq_file(document).text for document in documents.values()]
    path = tmp_path_factory.mktemp("files") / "all.v"
    path.write_text("".join(f"Module M{i}.\n{text}End M{i}.\n" for i, text in enumerate(texts)))
    printed = coqc(path, theory)
    blocks = re.split(r"^(?=\w+\n     : )", printed, flags=re.MULTILINE)[1:]
    found = {}
    for name, block in zip(documents, blocks, strict=True):
        found[name], assumptions = checked_theorem(block)
        assert set(assumptions) == AXIOMS
    return found


@needs_coq
def test_an_exact_margin(theorems):
    assert theorems["exact"] == "maximum_margin : maximum_margin_between T (1 / 9 * sqrt 6) (1 / 9 * sqrt 6)"


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
    assert re.search(r"\(exists net : network, normalized_margin_at_least T \([\d /]+\) net", theorem)
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


def test_names_end_no_comment():
    document = parity_document()
    document["table"]["name"] = 'mod 2 *) Axiom false : False. (* "'
    text = coq_file(document).text
    assert text.index("* ) Axiom false : False. ( * '") < text.index("*)\n\nFrom Coq")


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
