"""The ledger: every statement of the documents, with what it claims, its verdict and how far that reaches.

A chapter is a folder with two files. `ledger.toml` lists its statements. `catalogue.txt` is the frozen list of their
ids, kept apart so that nothing vanishes from a ledger unnoticed: a line holds an id and, where the printed text errs,
one word,

    false    the statement is false or vague as printed: it has an erratum, and no verdict but repaired, refuted or
    open, noted    only its proof or a side remark errs: the erratum or proof erratum stays, whatever the verdict.

Chapters live below `theorems/`; other packages add theirs through the entry points `lemmata.chapters`, each of which
names a package that holds both files. `load_ledger` reads and validates everything and names every fault at once.
"""

import functools
import importlib.util
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from lemmata.theorems.trials import TRIAL, trial_errors

THEOREMS = Path(__file__).resolve().parent
VERDICTS = ("holds", "repaired", "refuted", "open", "context")
DECIDED = ("holds", "repaired", "refuted")
"""The verdicts that rest on passing evidence."""

JUDGED = (*DECIDED, "open")
"""The verdicts on something that claims anything."""

REACHES = ("all", "proof", "cases", "scaled")
"""How far the evidence of a decided statement reaches, farthest first."""
FLAGS = ("false", "noted")
"""What `catalogue.txt` may say of an id."""

OLDER = {
    "cor": "corollary",
    "def": "definition",
    "eq": "equation",
    "fig": "figure",
    "obs": "observation",
    "prop": "proposition",
}
"""What the ids of some chapters began with before each kind had one word; they are still understood."""

_ID = re.compile(r"[a-z]+(-[a-z]+)*:[A-Za-z0-9][A-Za-z0-9.\-]*")
_MACHINE_CHECKED = re.compile(r"(?:cells/)?\w+\.\w+(?:, (?:cells/)?\w+\.\w+)*: \S.*", re.DOTALL)
_KIND = re.compile(r"[a-z]+")


class LedgerError(ValueError):
    """The ledger contradicts its own rules; `errors` holds one full sentence for each fault."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("The ledger is malformed:\n" + "\n".join(f"- {error}" for error in errors))
        self.errors = tuple(errors)


@dataclass(frozen=True)
class Claim:
    """One sentence of a statement that summarises others.

    Attributes:
        says: what the sentence claims.
        provided: the hypotheses under which that is settled as the verdict says.
        verdict: one of `VERDICTS` but context.
        rests_on: ids of the statements that settle it.
    """

    says: str
    provided: str
    verdict: str
    rests_on: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """One entry of a ledger.

    Attributes:
        id, kind, title: how the statement is called; the kind is one word such as theorem.
        statement: what is claimed, as printed, with all hypotheses and quantifiers: prose with LaTeX in dollars.
        where: number, section and the first few words, so that a reader finds it in a PDF by searching.
        verdict: one of `VERDICTS`.
        reach: how far the evidence of a decided statement reaches, one of `REACHES`.
        proof: the written proof, a file of the chapter's folder `proofs`; for the reach "proof".
        deviation: how the protocol differs from the printed one; for the reach "scaled".
        depends: ids of statements that its evidence rests on.
        claims: the sentences of a summary, one by one, with their own verdicts.
        reason: what is missing, for an open statement and no other.
        erratum: in one sentence, what is wrong with the statement as printed; `printed` and `corrected` are the forms.
        proof_erratum: what is wrong with the printed proof, where the statement itself holds.
        fails: of a repaired or refuted statement, what it is that fails, one of `lemmata.theorems.trials.FAILS`.
        sought: what was looked for that would save it; `defence` the author's best case, `attack` what remains.
        machine_checked: theorems of `certificates/coq` as File.theorem, a colon, and what they prove of the statement
            and what not.
    """

    id: str
    kind: str
    title: str
    statement: str
    where: str
    verdict: str
    reach: str | None = None
    proof: str | None = None
    deviation: str | None = None
    depends: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    reason: str | None = None
    erratum: str | None = None
    printed: str | None = None
    corrected: str | None = None
    proof_erratum: str | None = None
    fails: str | None = None
    sought: str | None = None
    defence: str | None = None
    attack: str | None = None
    machine_checked: str | None = None


@dataclass(frozen=True)
class Chapter:
    """A folder with a ledger: its name, title, document, statements in the order of the document, and its place."""

    name: str
    title: str
    document: str
    statements: tuple[Statement, ...]
    folder: Path | None = None


@dataclass(frozen=True)
class Ledger:
    """All chapters: our own in alphabetical order of their folders, then those of other packages."""

    chapters: tuple[Chapter, ...]

    def statements(self) -> Iterator[Statement]:
        """Every statement, chapter by chapter."""
        for chapter in self.chapters:
            yield from chapter.statements


def chapter_folders(directory: Path = THEOREMS) -> tuple[Path, ...]:
    """The folders with a ledger below ``directory``; for our own directory also those of other packages."""
    own = tuple(path.parent for path in sorted(directory.glob("*/ledger.toml")))
    return own + foreign_folders() if directory == THEOREMS else own


@functools.cache
def foreign_folders() -> tuple[Path, ...]:
    """The folders of the packages that the entry points `lemmata.chapters` name, in the order of their names.

    Raises:
        LedgerError: if there is no such package, or it holds no ledger.
    """
    folders, errors = [], []
    for point in sorted(entry_points(group="lemmata.chapters"), key=lambda point: point.name):
        spec = importlib.util.find_spec(point.module)
        places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec is not None else []
        found = [place for place in places if (place / "ledger.toml").is_file()]
        if found:
            folders.append(found[0].resolve())
        else:
            errors.append(f"The entry point {point.name} names {point.module}, which is no package with a ledger.toml.")
    if errors:
        raise LedgerError(errors)
    return tuple(folders)


@functools.cache
def catalogue(directory: Path = THEOREMS) -> Mapping[str, str | None]:
    """The frozen list of all statement ids, each with its flag (one of `FLAGS`) or None.

    Raises:
        LedgerError: if a line is no id with at most one flag, or an id occurs twice.
    """
    found: dict[str, str | None] = {}
    errors = []
    for folder in chapter_folders(directory):
        path = folder / "catalogue.txt"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        for number, line in enumerate(lines, start=1):
            name, *flags = line.split()
            if len(flags) > 1 or any(flag not in FLAGS for flag in flags):
                errors.append(f"{folder.name}/catalogue.txt, line {number}: an id, and false or noted, not {line!r}.")
            if name in found:
                errors.append(f"catalogue.txt lists {name} more than once.")
            found[name] = flags[0] if flags else None
    if errors:
        raise LedgerError(errors)
    return found


def catalogue_ids(directory: Path = THEOREMS) -> tuple[str, ...]:
    """The frozen list of all statement ids."""
    return tuple(catalogue(directory))


def spelled(text: str) -> str:
    """An id, or a part of one, in the one spelling that is compared: any case, blanks, package names, older kinds.

    The colon behind the chapter counts as a hyphen: ``Deep_ICGD: Def 1`` is ``deep-icgd-definition-1``.
    """
    words = re.sub(r"[\s_:-]+", "-", text.strip().casefold()).strip("-")
    words = re.sub(r"^(?:lemmata\.)?theorems\.", "", words)
    return re.sub(rf"(?<![a-z0-9.])({'|'.join(OLDER)})(?=-)", lambda found: OLDER[found[1]], words)


def chapter_of(statement_id: str) -> str:
    """The folder that a statement belongs to: `"deep-icgd:equation-2.1"` lies in `"deep_icgd"`."""
    return statement_id.partition(":")[0].replace("-", "_")


def load_ledger(directory: Path = THEOREMS) -> Ledger:
    """All chapters of `chapter_folders`, validated against their catalogues.

    Raises:
        LedgerError: with one sentence for every fault: unreadable file, unknown or missing key, unknown verdict or
        reach,
            reason missing from an open statement or present on another, reach without a decision, repaired or
            refuted statement without erratum, an erratum of the catalogue that has vanished, duplicate id, id of
            another chapter, id that the catalogue or the ledgers lack.
    """
    errors: list[str] = []
    chapters = tuple(
        chapter for folder in chapter_folders(directory) if (chapter := _read_chapter(folder, errors)) is not None
    )
    ledger = Ledger(chapters)
    errors += _catalogue_errors(ledger, catalogue(directory))
    if errors:
        raise LedgerError(errors)
    return ledger


def _catalogue_errors(ledger: Ledger, frozen: Mapping[str, str | None]) -> list[str]:
    """The differences between the ledgers and the frozen list."""
    errors = []
    listed: set[str] = set()
    for statement in ledger.statements():
        if statement.id in listed:
            errors.append(f"The statement {statement.id} stands in the ledger more than once.")
        listed.add(statement.id)
        errors += _flag_errors(statement, frozen.get(statement.id))
    errors += [
        f"The statement {name} of catalogue.txt is missing from the ledgers." for name in frozen if name not in listed
    ]
    errors += [f"The statement {name} of the ledgers is not in catalogue.txt." for name in sorted(listed - set(frozen))]
    errors += [
        f"{statement.id} depends on {name}, which is no statement of the ledgers."
        for statement in ledger.statements()
        for name in statement.depends
        if name not in listed
    ]
    verdicts = {statement.id: statement.verdict for statement in ledger.statements()}
    for statement in ledger.statements():
        errors += [error for claim in statement.claims for error in _claim_errors(statement.id, claim, verdicts)]
    return errors


def _claim_errors(name: str, claim: Claim, verdicts: Mapping[str, str]) -> list[str]:
    """What contradicts the rest of the ledger in one sentence of the summary `name`."""
    label = f"{name}, the claim {claim.says!r}"
    errors = [f"{label} rests on {one}, which is no statement." for one in claim.rests_on if one not in verdicts]
    undecided = [one for one in claim.rests_on if verdicts.get(one) == "open"]
    if claim.verdict in DECIDED and undecided:
        errors.append(f"{label} cannot be {claim.verdict!r}, as it rests on {', '.join(undecided)}, which is open.")
    return errors


def _flag_errors(statement: Statement, flag: str | None) -> list[str]:
    """What a statement lacks that its flag in the catalogue demands."""
    if flag == "false" and statement.erratum is None:
        return [f"{statement.id} is false as printed says catalogue.txt, but its erratum has vanished."]
    if flag == "false" and statement.verdict not in ("repaired", "refuted", "open"):
        return [f"{statement.id} is false as printed says catalogue.txt, so that it cannot be {statement.verdict!r}."]
    if flag == "noted" and statement.erratum is None and statement.proof_erratum is None:
        return [f"{statement.id} has an erratum says catalogue.txt, but it has vanished."]
    if flag is None and (statement.erratum is not None or statement.proof_erratum is not None):
        return [f"{statement.id} has an erratum that catalogue.txt does not know: write false or noted after its id."]
    return []


def _read_chapter(folder: Path, errors: list[str]) -> Chapter | None:
    """The chapter in a folder, or None when it cannot be read; its faults are appended to `errors`."""
    name = folder.name
    where = f"{name}/ledger.toml"
    try:
        content = tomllib.loads((folder / "ledger.toml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        errors.append(f"{where} cannot be read: {error}.")
        return None
    entries = content.pop("statement", None)
    errors += _key_errors(where, content, required=("chapter", "title", "document"), optional=())
    if content.get("chapter", name) != name:
        errors.append(f'{where} says chapter = {content["chapter"]!r}, but its folder is "{name}".')
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        errors.append(f"{where} needs its statements as a non-empty list of [[statement]] tables.")
        entries = []
    statements = []
    for position, entry in enumerate(entries, start=1):
        label = f"{where}, {entry['id'] if isinstance(entry.get('id'), str) else f'statement number {position}'}"
        errors += _statement_errors(label, folder, entry)
        # A faulty entry keeps its place, so that its id is not reported as missing too.
        known: dict[str, Any] = {field.name: entry.get(field.name) for field in fields(Statement)}
        known["depends"] = _depends(entry)
        known["claims"] = _claims(entry) or ()
        if isinstance(known["id"], str):
            statements.append(Statement(**known))
    return Chapter(name, str(content.get("title", "")), str(content.get("document", "")), tuple(statements), folder)


def _depends(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return _texts(entry.get("depends", []))


def _claims(entry: Mapping[str, Any]) -> tuple[Claim, ...] | None:
    """The sentences of a summary, or None where they are malformed."""
    named = entry.get("claims", [])
    keys = {field.name for field in fields(Claim)}
    if not isinstance(named, list) or not all(isinstance(one, dict) and one.keys() == keys for one in named):
        return None
    claims = tuple(Claim(**one | {"rests_on": _texts(one["rests_on"])}) for one in named)
    whole = all(
        isinstance(text, str) and text.strip() for one in claims for text in (one.says, one.provided, one.verdict)
    )
    return claims if whole and all(one.rests_on and one.verdict in JUDGED for one in claims) else None


def _texts(named: object) -> tuple[str, ...]:
    return tuple(named) if isinstance(named, list) and all(isinstance(one, str) for one in named) else ()


def _statement_errors(label: str, folder: Path, entry: dict[str, Any]) -> list[str]:
    """The faults of one [[statement]] table, each a sentence that starts with `label`."""
    texts = {key: value for key, value in entry.items() if key not in ("depends", "claims")}
    errors = _key_errors(
        label,
        texts,
        required=("id", "kind", "title", "statement", "where", "verdict"),
        optional=(
            "reach",
            "proof",
            "deviation",
            "reason",
            "erratum",
            "printed",
            "corrected",
            "proof_erratum",
            *TRIAL,
            "machine_checked",
        ),
        others=("depends", "claims"),
    )
    if "depends" in entry and not _depends(entry):
        errors.append(f"{label}: depends must be a non-empty list of ids, not {entry['depends']!r}.")
    if "claims" in entry and not _claims(entry):
        errors.append(
            f"{label}: claims must be a non-empty list of tables with the texts says, provided and verdict (one of "
            f"{', '.join(JUDGED)}) and the non-empty list rests_on of ids."
        )
    if errors:
        return errors
    if not _ID.fullmatch(entry["id"]) or chapter_of(entry["id"]) != folder.name:
        errors.append(f'{label}: an id of this chapter looks like "{folder.name.replace("_", "-")}:theorem-1.2".')
    if not _KIND.fullmatch(entry["kind"]):
        errors.append(f"{label}: the kind {entry['kind']!r} is not one lower-case word such as theorem.")
    if entry["statement"].replace(r"\$", "").count("$") % 2:
        errors.append(f"{label}: the mathematics of the statement is not closed: the number of $ is odd.")
    if "machine_checked" in entry and not _MACHINE_CHECKED.fullmatch(entry["machine_checked"]):
        errors.append(
            f"{label}: machine_checked names theorems as File.theorem, with commas between, and says after a colon "
            "what they prove and what not."
        )
    return errors + _verdict_errors(label, entry) + _trial(label, folder, entry) + _reach_errors(label, folder, entry)


def _trial(label: str, folder: Path, entry: Mapping[str, Any]) -> list[str]:
    # Where judgements are frozen every erratum has stood trial; elsewhere an entry that has begun one has to end it.
    required = (folder / "judged.txt").is_file()
    return trial_errors(label, entry) if required or set(TRIAL) & entry.keys() else []


def _verdict_errors(label: str, entry: Mapping[str, Any]) -> list[str]:
    """What contradicts itself in the verdict, the reason and the errata of one entry."""
    verdict, errors = entry["verdict"], []
    if verdict not in VERDICTS:
        errors.append(f"{label}: unknown verdict {verdict!r}; the verdicts are {', '.join(VERDICTS)}.")
    elif verdict == "open" and "reason" not in entry:
        errors.append(f"{label}: an open statement needs a reason that says what is missing.")
    elif verdict != "open" and "reason" in entry:
        errors.append(f"{label}: only an open statement has a reason, and this one is {verdict!r}.")
    if verdict in ("repaired", "refuted") and "erratum" not in entry:
        errors.append(f"{label}: a {verdict} statement needs an erratum that says what is wrong as printed.")
    if not entry.keys() & {"erratum", "proof_erratum"} and ("printed" in entry or "corrected" in entry):
        errors.append(f"{label}: printed and corrected forms belong to an erratum, which is missing.")
    return errors


def _reach_errors(label: str, folder: Path, entry: Mapping[str, Any]) -> list[str]:
    """What contradicts itself in the reach of one entry."""
    reach, errors = entry.get("reach"), []
    if entry["verdict"] in DECIDED and reach is None:
        errors.append(f"{label}: a decided statement needs a reach, one of {', '.join(REACHES)}.")
    elif entry["verdict"] not in DECIDED and reach is not None:
        errors.append(f"{label}: decided statements have a reach, one of {', '.join(REACHES)}, and no others.")
    elif reach is not None and reach not in REACHES:
        errors.append(f"{label}: unknown reach {reach!r}; the reaches are {', '.join(REACHES)}.")
    for key, needed in (("proof", "proof"), ("deviation", "scaled")):
        if reach == needed and key not in entry:
            errors.append(f"{label}: the reach {reach} needs the key {key!r}.")
    if "proof" in entry and not (folder / "proofs" / entry["proof"]).is_file():
        errors.append(f"{label}: there is no written proof proofs/{entry['proof']} in the folder {folder.name}.")
    return errors


def _key_errors(
    label: str,
    table: Mapping[str, Any],
    *,
    required: Sequence[str],
    optional: Sequence[str],
    others: Sequence[str] = (),
) -> list[str]:
    """The faults of the keys of `table`: missing, unknown (``others`` are known), or not a non-empty string."""
    allowed = (*required, *optional, *others)
    errors = [f"{label}: the key {key!r} is missing." for key in required if key not in table]
    errors += [
        f"{label}: unknown key {key!r}; the keys are {', '.join(allowed)}." for key in table if key not in allowed
    ]
    errors += [
        f"{label}: {key} must be a non-empty string, not {value!r}."
        for key, value in table.items()
        if key in allowed and (not isinstance(value, str) or not value.strip())
    ]
    return errors
