"""`lemmata coq`."""

import json
import re
from contextlib import nullcontext

import pytest

from lemmata.certificates.coq.compiler import CoqRefusalError
from lemmata.certificates.coq.source import coq_file
from lemmata.certificates.groups.format import dumps
from lemmata.commands import coq as coq_command
from lemmata.commands import coq_committed, coq_ocaml
from lemmata.commands import workers as commands_workers
from tests.certificates.coq.theory import build, extracted, needs_coq, needs_ocaml
from tests.certificates.coq.theory import compiled as compiled_theory
from tests.certificates.operation_documents import parity_document, unseen_document
from tests.lemmata.commands.runner import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.getbasetemp())


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "parity.json"
    path.write_bytes(dumps(parity_document()))
    return path


@needs_coq
def test_the_report_and_the_file(file, folder, tmp_path):
    written = tmp_path / "parity_2.v"
    code, output, _ = run("coq", str(file), "--out", str(written), "--build", str(folder))
    assert code == 0
    assert "proved: the maximum margin is exactly 1/9*sqrt(6)" in output
    assert "Definition T : table := Table 2 2 2 [(0, 0, 0); (0, 1, 1); (1, 0, 1); (1, 1, 0)]." in output
    assert "Theorem maximum_margin : maximum_margin_between T ((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)." in output
    assert "sig_not_dec, sig_forall_dec, functional_extensionality_dep" in output
    assert "Theorem maximum_margin :" in written.read_text()


@needs_coq
def test_json(file, folder):
    code, output, _ = run("coq", str(file), "--build", str(folder), "--json")
    shown = json.loads(output)
    assert code == 0
    assert shown["proved"]
    assert len(shown["assumptions"]) == 3
    assert shown["table"] == "Table 2 2 2 [(0, 0, 0); (0, 1, 1); (1, 0, 1); (1, 1, 0)]"
    assert shown["theorem"] == "maximum_margin_between T ((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)"
    assert shown["bytes"] > 1000
    assert shown["file"] is None


def test_unproved_files_need_no_coq(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    path, written = tmp_path / "cell.json", tmp_path / "cell.v"
    path.write_bytes(dumps(unseen_document("wrong")))
    code, output, _ = run("coq", str(path), "--out", str(written), "--unproved")
    assert code == 0
    said = re.search(r"not proved: Coq was not asked whether every network of margin at least (0\.\d+)", output)
    assert said is not None
    assert float(said[1]) == pytest.approx(
        0.0941958059, abs=2e-10
    )  # a solver found it: the kernel accepts a gap of 1e-9
    assert written.read_text().count("vm_cast_no_check (eq_refl true)") == 4
    code, output, _ = run("coq", str(path), "--out", str(written), "--unproved", "--json")
    assert json.loads(output)["proved"] is False


def refused(tmp_path, file, *options: str) -> str:
    """The sentence; nothing is written."""
    written = tmp_path / "new.v"
    code, output, error = run("coq", str(file), "--out", str(written), *options)
    assert code == 2
    assert output == ""
    assert not written.exists()
    return error


def test_without_coq(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert "There is no program coqc here: install Coq" in refused(tmp_path, file)


@needs_coq
def test_out_of_time(file, folder, tmp_path):
    error = refused(tmp_path, file, "--build", str(folder), "--time-limit", "0.1")
    assert "Coq did not finish certificate.v within 0.1 seconds." in error


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan", "1e7"])
def test_limits_of_time_out_of_range(seconds, file, tmp_path):
    assert "Invalid value for '--time-limit'" in refused(tmp_path, file, "--time-limit", seconds)


def test_a_certificate_that_the_kernel_refuses(tmp_path):
    document = parity_document()
    document["margin"]["lower"] = "0.272165526976"
    path = tmp_path / "wrong.json"
    path.write_bytes(dumps(document))
    assert "The kernel refuses the certificate: margin.lower: is not the closest decimal." in refused(tmp_path, path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"format": "lemmata/max-margin-certificate"}', "is no certificate of an operation: its format is not one of"),
        ("[]", "is no certificate of an operation: its format is not one of"),
        ("{", "is no certificate of an operation"),
    ],
)
def test_documents_of_another_kind(text, reason, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text)
    assert reason in refused(tmp_path, path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("op-a+b.v", "Coq takes files whose names are letters, digits and _, a letter first, and end in .v; not"),
        ("parity.txt", "Coq takes files whose names are"),
        ("2.v", "Coq takes files whose names are"),
        ("none/parity.v", "does not exist."),
        ("folder.v", "is a directory; name a file."),
    ],
)
def test_names_that_coq_would_not_take(name, reason, file, tmp_path):
    (tmp_path / "folder.v").mkdir()
    code, _, error = run("coq", str(file), "--out", str(tmp_path / name))
    assert code == 2
    assert reason in error


def test_unproved_without_a_file(file):
    code, _, error = run("coq", str(file), "--unproved")
    assert code == 2
    assert "--unproved writes a file and does nothing else: name it with --out." in error


def test_a_file_that_is_not_there(tmp_path):
    code, _, error = run("coq", str(tmp_path / "none.json"))
    assert code == 2
    assert "No such file" in error


@pytest.mark.parametrize("options", [["--unproved"], ["--time-limit", "5"], ["--out", "x.v"], ["--build", "x"]])
def test_options_of_one_file_are_not_for_all(options, tmp_path):
    code, _, error = run("coq", "--committed", str(tmp_path), *options)
    assert code == 2
    assert "are for one file, not for --committed." in error


def test_neither_or_both(file, tmp_path):
    for arguments in ([], [str(file), "--committed", str(tmp_path)], [str(file), "--check", "x.v"]):
        code, _, error = run("coq", *arguments)
        assert code == 2
        assert "Give the file of a certificate, a Coq file with --check, or a folder with --committed." in error


def test_committed_certificates_without_coq(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    code, _, error = run("coq", "--committed", str(tmp_path / "new"))
    assert code == 2
    assert "There is no program coqc here" in error
    assert not (tmp_path / "new").exists()


@needs_coq
def test_committed_certificates(tmp_path, folder, monkeypatch):
    entry = coq_committed.committed_tables()["operations:7"][0]
    monkeypatch.setattr(coq_committed, "committed_tables", lambda: {"one": [entry]})
    monkeypatch.setattr(commands_workers, "workers", lambda jobs, stopped: nullcontext())
    asked = []  # the whole theory, and the larger theorem on a cell, take half a minute
    monkeypatch.setattr(
        coq_committed, "whole_theory", lambda build, progress: asked.append(build) or compiled_theory(folder.parent)
    )
    cell = {"file": "Three.v", "theorem": "three_without_a_cell : True", "coq": 1.5, "bytes": 7004}
    monkeypatch.setattr(coq_committed, "reprove_cells", lambda build: [cell])
    code, output, _ = run("coq", "--committed", str(tmp_path))
    assert code == 0
    assert asked == [tmp_path]
    assert "Three.v: three_without_a_cell : True (1.5 s, 7,004 bytes)" in output
    assert json.loads((tmp_path / "reproved.json").read_text())["cells"] == [cell]
    assert "1 certificates proved in Coq 8" in output
    (made,) = json.loads((tmp_path / "reproved.json").read_text())["families"]["one"]
    assert made["name"] == entry["name"]
    code, output, _ = run("coq", "--committed", str(tmp_path), "--json")
    assert json.loads(output)["families"]["one"]["tables"] == 1
    assert json.loads(output)["cells"] == [cell]


@needs_coq
def test_a_theory_that_coq_refuses(tmp_path, monkeypatch):
    def refuse(build, progress):
        raise CoqRefusalError("Coq does not accept Sound.v: no.")

    monkeypatch.setattr(coq_committed, "whole_theory", refuse)
    code, _, error = run("coq", "--committed", str(tmp_path))
    assert code == 1
    assert "refused: Coq does not accept Sound.v: no." in error
    assert not list(tmp_path.iterdir())


def test_a_limit_for_what_is_not_run(file, tmp_path):
    code, _, error = run("coq", str(file), "--unproved", "--out", str(tmp_path / "x.v"), "--time-limit", "5")
    assert code == 2
    assert "--time-limit is for Coq, which --unproved does not ask." in error
    assert not list(tmp_path.glob("*.v"))


@pytest.fixture
def received(tmp_path):
    """The file that --out would have written."""
    path = tmp_path / "received.v"
    path.write_text(coq_file(parity_document()).text)
    return path


@needs_coq
def test_a_file_of_a_stranger(received, folder, monkeypatch):
    """The theory is asked for in a folder of this one check; here it is taken from the other tests."""
    asked = []
    monkeypatch.setattr(
        coq_command, "theory", lambda names, build, progress: asked.append(build) or compiled_theory(folder.parent)
    )
    code, output, _ = run("coq", "--check", str(received))
    assert code == 0
    assert "proved: what received.v claims of the table T below" in output
    assert "Definition T : table := Table 2 2 2 [(0, 0, 0); (0, 1, 1); (1, 0, 1); (1, 1, 0)]." in output
    assert "Theorem maximum_margin : maximum_margin_between T ((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)." in output
    assert len(asked) == 1
    assert not asked[0].exists()  # it was temporary

    text = received.read_text()
    theorem = text.index("Local Open Scope R_scope.")
    received.write_text(
        f"{text[:theorem]}Definition maximum_margin_between (T : table) (l u : R) : Prop := l = u.\n"
        "Local Open Scope R_scope.\nTheorem maximum_margin : maximum_margin_between T (7 / 9) (7 / 9).\n"
        "Proof. exact (eq_refl (7 / 9)). Qed.\n"
    )
    code, output, error = run("coq", "--check", str(received))
    assert code == 1
    assert output == ""
    assert "refused: Coq does not accept conclusion.v: The term" in error


def test_a_file_of_a_stranger_with_commands(received):
    received.write_text(received.read_text() + "Axiom evil : False.\n")
    code, output, error = run("coq", "--check", str(received))
    assert code == 2
    assert output == ""
    assert f"{received}: The file of a certificate has no sentence such as: Axiom evil : False." in error


@pytest.mark.parametrize("options", [["--unproved"], ["--out", "x.v"], ["--build", "x"]])
def test_options_of_a_certificate_are_not_for_check(options, received):
    code, _, error = run("coq", "--check", str(received), *options)
    assert code == 2
    assert "--out, --unproved and --build are for a certificate, not for --check." in error


@pytest.fixture
def checker(folder, monkeypatch):
    """The extracted checker, which the commands find made."""
    program = extracted(folder.parent)
    monkeypatch.setattr(coq_ocaml, "extracted_checker", lambda place, build, progress: program)


@needs_ocaml
def test_decided_in_ocaml(file, checker, folder):
    code, output, _ = run("coq", str(file), "--ocaml", "--build", str(folder))
    assert code == 0
    assert "accepted by the checker of Coq, extracted to OCaml" in output
    assert "T := Table 2 2 2 [(0, 0, 0); (0, 1, 1); (1, 0, 1); (1, 1, 0)]" in output
    assert "maximum_margin_between T ((1 / 9) * sqrt 6) ((1 / 9) * sqrt 6)" in output
    document = parity_document()
    document["multipliers"][0] += 1
    file.write_bytes(dumps(document))
    code, output, _ = run("coq", str(file), "--ocaml", "--json")
    assert code == 1
    assert json.loads(output)["accepted"] is False


@needs_ocaml
def test_committed_documents_decided_in_ocaml(tmp_path, checker, monkeypatch):
    monkeypatch.setattr(coq_ocaml, "committed_keys", lambda: {"tables": ["classes-2x2-0"]})
    monkeypatch.setattr(commands_workers, "workers", lambda jobs, stopped: nullcontext())
    code, output, _ = run("coq", "--committed", str(tmp_path), "--ocaml")
    assert code == 0
    assert "1 documents accepted by the checker of Coq, extracted to OCaml, and by the kernel in Python" in output
    code, output, _ = run("coq", "--committed", str(tmp_path), "--ocaml", "--json")
    assert json.loads(output)["tables"]["documents"] == 1


@pytest.mark.parametrize("options", [["--check", "x.v"], ["x.json", "--unproved"], ["x.json", "--out", "x.v"]])
def test_options_that_ocaml_has_no_use_for(options):
    code, _, error = run("coq", "--ocaml", *options)
    assert code == 2
    assert "--ocaml decides and writes no Coq file: it goes with neither --check, --out nor --unproved." in error


def test_decided_without_ocaml(file, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    code, _, error = run("coq", str(file), "--ocaml", "--build", str(tmp_path / "new"))
    assert code == 2
    assert "There is no program ocamlopt here: install OCaml" in error
    assert not (tmp_path / "new").exists()
