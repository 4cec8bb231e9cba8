"""What the README and the guides of the site show runs as it stands: their Python, their commands, their comments."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

import lemmata
from lemmata.cli import app
from lemmata.site.papers import PAPERS
from lemmata.theorems.ledger import load_ledger
from tests.lemmata.commands.runner import run

ROOT = Path(lemmata.__file__).parents[1]
README = ROOT / "README.md"
GUIDES = sorted((ROOT / "lemmata" / "site" / "pages").glob("*.md"))
DOCUMENTS = [README, *GUIDES]
USAGE_ERROR = typer.BadParameter.__base__ or Exception  # typer brings a click of its own
IDS = {statement.id for statement in load_ledger().statements()}


def python_of(path: Path) -> list[str]:
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    return [block for block in blocks if "to_transformer_lens" not in block]  # see test_transformer_lens


def command_lines_of(path: Path) -> list[list[str]]:
    """The words of every command in the blocks of a document, without prompts, folders and comments."""
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [
        line.removeprefix("$ ") for kind, block in blocks if kind in ("", "console") for line in block.splitlines()
    ]
    shown = [line.removeprefix(".venv/bin/") for line in lines]
    return [shlex.split(line, comments=True) for line in shown if re.match(r"(?:lemmata|make|pytest|python) ", line)]


def parse(words: list[str]) -> None:
    """The parsing of a command of ours, without running it; a usage error if it would be refused."""
    command, rest = typer.main.get_command(app), words
    context = command.make_context("lemmata", [], resilient_parsing=True)
    if words[0].startswith("--"):
        assert words[0] in {option for one in command.get_params(context) for option in one.opts}
        return
    while isinstance(command, TyperGroup):
        _, command, rest = command.resolve_command(context, rest)
        assert command is not None
    command.make_context(words[0], list(rest))


def test_the_readme_counts_the_statements():
    assert f" {len(IDS)} statements are checked" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if python_of(path)], ids=lambda path: path.stem)
def test_the_code_runs(path):
    names: dict[str, object] = {}
    for block in python_of(path):
        exec(compile(block, str(path), "exec"), names)
    assert names["lm"] is lemmata
    if "certificate" in names:
        certificate = names["certificate"]
        assert 3402 * certificate.gamma**2 == 1  # type: ignore[attr-defined]
        assert certificate.unique is True  # type: ignore[attr-defined]
    if "block" in names:
        descent = names["block"]
        before, after = names["prompt"], descent(names["prompt"])  # type: ignore[operator]
        weights = [descent.weights(stream).tolist() for stream in (before, after)]  # type: ignore[attr-defined]
        assert len(weights[0]) == len(weights[1]) == 10
        assert weights[0] != weights[1]
    if "network" in names:
        first = names["network"].raw(lemmata.group_inputs(7))[0]  # type: ignore[attr-defined]
        assert [float(value) for value in first] == pytest.approx([1 / 2] + [-1 / 12] * 6, abs=1e-12)
    if "proof" in names:
        low, high = names["proof"].proved.loss  # type: ignore[attr-defined]
        assert 0.0406 <= low < 0.0407
        assert 0.0408 < high <= 0.0409


def transcripts_of(path: Path) -> list[tuple[list[str], list[str]]]:
    """The commands behind prompts in a document, each with the lines that are shown below it."""
    found: list[tuple[list[str], list[str]]] = []
    for block in re.findall(
        r"^```(?:console)?\n(\$ .*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((shlex.split(line, comments=True)[2:], []))
            else:
                found[-1][1].append(" ".join(line.split()))
    return found


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if transcripts_of(path)], ids=lambda path: path.stem)
def test_commands_print_what_is_shown(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command, shown in transcripts_of(path):
        code, output, _ = run(*command)
        assert code == 0
        lines = [
            line for line in shown if line not in ("", "...") and not re.search("─|of the maximum away|3e-13", line)
        ]
        assert lines
        assert [line for line in lines if not printed(line, output)] == []


def printed(line: str, output: str) -> bool:
    """Whether a line is in an output, but for the gap that a solver leaves and the digits that this gap leaves open."""
    if line in output:
        return True
    gap = re.search(r"relative gap +(\d\S*)", output)
    shown = re.fullmatch(r"(maximum margin at least|at most|relative gap) +(\d\S*)", line)
    if gap is None or shown is None or float(gap[1]) > 2e-9:
        return False
    found = re.search(rf"{shown[1]} +(\d\S*)", output)
    return found is not None and (
        shown[1] == "relative gap" or float(found[1]) == pytest.approx(float(shown[2]), rel=2 * 2e-9)
    )


def test_there_is_code_in_the_readme_and_in_these_guides():
    guides = ["groups_and_tables", "machines", "solver_solutions", "zoo"]
    assert [path.stem for path in DOCUMENTS if python_of(path)] == ["README", *guides]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_commands_are_understood(path):
    targets = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for program, *words in command_lines_of(path):
        if program == "lemmata":
            parse(words)
            if words[0] == "show":
                assert words[1] in IDS
        elif program == "make":
            assert words[0] in targets
        elif program == "pytest":
            assert all((ROOT / word).exists() for word in words if word.startswith("theorems"))


def test_commands_are_found_and_wrong_ones_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```\n$ .venv/bin/lemmata show a:b  # c\nmake x\n```\n\n```console\nlemmata certify S3\nelse\n```\n"
    )
    assert command_lines_of(page) == [["lemmata", "show", "a:b"], ["make", "x"], ["lemmata", "certify", "S3"]]
    for wrong in ("certify S3 --nothing", "nothing S3", "experiment nothing", "parity 5", "sweep --jobs none"):
        with pytest.raises((USAGE_ERROR, AssertionError)):
            parse(wrong.split())
    assert all(len(command_lines_of(path)) >= 4 for path in DOCUMENTS if path.stem in ("README", "ledger", "machines"))


def test_the_readme_names_every_notebook_and_what_it_links_is_there():
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).is_file()] == []
    assert {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} == {
        Path(link).name for link in links if link.endswith("ipynb")
    }
    guides = {
        "certificates",
        "command_line",
        "groups_and_tables",
        "layout",
        "ledger",
        "machines",
        "new_chapter",
        "trust",
    }
    assert guides <= {Path(link).stem for link in links if link.startswith("lemmata/site/pages/")}


def test_the_site_has_a_row_for_every_notebook():
    text = (ROOT / "lemmata" / "site" / "pages" / "notebooks.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\(notebooks/(\w+)\.ipynb\)", text)) == sorted(
        path.stem for path in (ROOT / "notebooks").glob("*.ipynb")
    )


def test_the_first_screen_says_who_wrote_what_and_leads_nowhere_else():
    text = README.read_text(encoding="utf-8")
    first = text.partition("\n## ")[0]
    assert len(first.splitlines()) <= 40
    assert re.findall(r"(?<!!)\[[^\]]+\]\(", first) == []
    words = " ".join(first.split()).casefold()
    for paper in PAPERS:
        assert paper.title.casefold() in words
        assert all(name.strip("()").casefold() in words for name in paper.authors.split(", "))
    assert "pip install" in text
