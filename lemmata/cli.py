"""The command line: certify a group, check, explain and collect certificates, and read the ledger."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from certificates import kernel
from certificates.game.faces import optimal_faces
from certificates.game.margin_game import MarginGame
from certificates.game.regularised import penalty_limit, regularisation_path
from certificates.groups.certify import GroupMarginCertificate, certify_group
from certificates.groups.contents import solution_of
from certificates.groups.document import document_of
from certificates.groups.format import Document, dumps, load, write
from certificates.groups.report import margin_report
from certificates.groups.sweep import Outcome, sweep, write_summary
from certificates.saddle.attainment import Attainment, attained_margin
from certificates.saddle.optimal_network import network_numbers, optimal_network
from certificates.saddle.parity import certify_parity
from constructions.networks.files import export_npz
from lemmata import circuit, experiments, turing
from lemmata.console import err, out, refusals
from lemmata.reports import (
    print_certificate,
    print_ledger,
    print_network,
    print_parity,
    print_path,
    print_statement,
    summary,
)
from numerics.groups.lists import group_list
from numerics.groups.names import ACCEPTED_NAMES, parse_group
from numerics.groups.permutations import DEFAULT_LIMIT, MAX_TABLE_ORDER
from numerics.runs.processes import process_pool
from theorems.ledger import VERDICTS, load_ledger

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Theorems about neural sequence models and feature learning, made executable.",
)
app.add_typer(experiments.app, name="experiment")
app.command(name="circuit", help=circuit.HELP)(circuit.circuit)
app.command(name="turing", help=turing.HELP)(turing.turing)

LARGEST_ENUMERATION = 16  # parity networks are evaluated on all 2^N inputs
LARGEST_EXACT_PARITY = 9  # and up to this N in exact arithmetic
LARGEST_EVALUATION = 120  # networks of groups are evaluated on all inputs up to this order
LARGEST_NETWORK = 50_000_000  # numbers in the weights of a network, or in all its inputs: 400 MB each
DEFAULT_PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)

Group = Annotated[str, typer.Argument(metavar="GROUP", help="name of the group, for example Z7, S4 or Q8")]
Limit = Annotated[int, typer.Option(help="largest order of a group that is accepted; memory grows with the order")]
Factors = Annotated[int, typer.Option(metavar="K", min=2, max=kernel.MAX_FACTORS, help="factors of the product")]


@app.command(
    short_help="Certify the maximum margin of products in a group, exactly.",
    help=f"Certify the maximum margin of products in a group, exactly. Groups: {ACCEPTED_NAMES}.",
)
def certify(
    group: Group,
    factors: Factors = 2,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="write the certificate, for lemmata check")
    ] = None,
    network: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="write the weights of an explicit optimal network")
    ] = None,
    digits: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="significant digits of the decimals")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON instead of a report")] = False,
    evaluate: Annotated[
        int, typer.Option(metavar="N", min=0, help="evaluate the network on all inputs for groups of order up to N")
    ] = LARGEST_EVALUATION,
    limit: Limit = DEFAULT_LIMIT,
) -> None:
    """Print the certificate of a group; exit 1 when the network misses the maximum, 2 when the input is refused."""
    with refusals():
        for path in (out_file, network):
            _refuse_unwritable(path)
        with err.status(f"certifying {escape(group)}"):
            certificate = certify_group(parse_group(group, limit), factors)
            document = document_of(certificate, digits)
            reading = margin_report(document)
        with err.status(f"building the network of {escape(group)}"):
            attainment = _attainment(certificate, evaluate, network)
        if out_file is not None:
            write(document, out_file)
    if as_json:
        typer.echo(json.dumps(summary(document, reading, certificate.faces, attainment), indent=2))
    else:
        print_certificate(out, document, reading, certificate.faces)
    attained = True
    if attainment is not None and as_json:
        attained = abs(float(reading.gamma) - attainment.margin) <= attainment.rounding
    elif attainment is not None:
        attained = print_network(out, attainment, float(reading.gamma))
    elif not as_json:
        out.print(f"The explicit network was not evaluated ({_why_not(certificate, evaluate)}).", soft_wrap=True)
    if not as_json:
        for what, path in (("Certificate", out_file), ("Network", network)):
            if path is not None:
                check = f"; check it with: lemmata check {path}" if path == out_file else ""
                out.print(escape(f"{what} written to {path}{check}"), soft_wrap=True)
    if out_file is not None and (beyond := _beyond_the_kernel(document)) is not None:
        err.print(f"[yellow]note[/yellow]: the kernel refuses so large a file: {escape(beyond)}", soft_wrap=True)
    if not attained:
        raise typer.Exit(1)


def _beyond_the_kernel(document: Document) -> str | None:
    """Return which limit of the kernel a document exceeds, if any."""
    try:
        kernel.Document(kernel.parse(dumps(document)))
    except kernel.MalformedError as error:
        return f"{error}; its limits are at the top of certificates/kernel.py"
    return None


def _refuse_unwritable(path: Path | None) -> None:
    """Refuse a destination before the work, not after it."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError(f"{path} is a directory; name a file.")
    if not path.parent.is_dir():
        raise ValueError(f"The directory {path.parent} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"The directory {path.parent} is not writable.")


def _why_not(certificate: GroupMarginCertificate, evaluate: int) -> str | None:
    """Return why the explicit network is not evaluated, or None when it is."""
    order, factors = certificate.group.order, certificate.factors
    if certificate.solution is None:
        return "the optimal masses are enclosed, not exact"
    if order > evaluate:
        return f"order above {evaluate}; raise it with --evaluate"
    return _too_large(certificate) or (
        f"{order}^{factors} inputs are too many"
        if factors > 2 and order ** (factors + 1) * factors > LARGEST_NETWORK
        else None
    )


def _too_large(certificate: GroupMarginCertificate) -> str | None:
    if certificate.group.order > MAX_TABLE_ORDER:
        return f"Cayley tables are built up to order {MAX_TABLE_ORDER}"
    if certificate.solution is not None and network_numbers(certificate.solution) > LARGEST_NETWORK:
        return f"its weights are {network_numbers(certificate.solution)} numbers, more than {LARGEST_NETWORK}"
    return None


def _attainment(certificate: GroupMarginCertificate, evaluate: int, file: Path | None) -> Attainment | None:
    """Build the network when it is to be evaluated or written, do so, and return what the evaluation gave."""
    why_not = _why_not(certificate, evaluate)
    if why_not is not None and file is None:
        return None
    if file is not None and (certificate.solution is None or _too_large(certificate)):
        reason = _too_large(certificate) or "the optimal masses are enclosed, not exact"
        raise ValueError(f"The network of {certificate.group.name} cannot be written: {reason}.")
    assert certificate.solution is not None
    finite, explicit = optimal_network(certificate.group, certificate.solution)
    attainment = None if why_not is not None else attained_margin(explicit, finite)
    if file is not None:
        export_npz(explicit, file, finite if certificate.factors == 2 else None)
    return attainment


@app.command(help="Check certificate files with the kernel, a program of its own that trusts nothing.")
def check(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="certificate files")]) -> None:
    """Print a line per file; exit 0 when all are valid, 1 when one is invalid, 2 when one is malformed."""
    command = [sys.executable, "-I", kernel.__file__, *(str(file) for file in files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            path, colon, rest = escape(line.rstrip("\n")).rpartition(": valid: ")
            if colon:
                out.print(f"{path}: [green]valid[/green]: {rest}", soft_wrap=True)
                continue
            text = escape(line.rstrip("\n"))
            for word in ("invalid", "malformed"):
                text = text.replace(f": {word}: ", f": [red]{word}[/red]: ", 1)
            out.print(text, soft_wrap=True)
    if process.returncode < 0:
        err.print(f"[red]error[/red]: the kernel was stopped by signal {-process.returncode}")
    raise typer.Exit(process.returncode if process.returncode >= 0 else 2)


@app.command(help="Explain a certificate file: what it proves, and how.")
def explain(file: Annotated[Path, typer.Argument(metavar="FILE", help="certificate file")]) -> None:
    """Print a report of a valid certificate; exit 1 when it is invalid, 2 when it is malformed."""
    with refusals():
        document = load(file)
        with err.status(f"checking {escape(str(file))}"):
            try:
                kernel.check(file.read_bytes())
            except kernel.ViolatedError as error:
                out.print(f"[red]invalid[/red]: {escape(str(error))}", soft_wrap=True)
                out.print("Nothing in this file can be relied on.")
                raise typer.Exit(1) from error
            reading = margin_report(document)
            faces = optimal_faces(solution_of(document)) if reading.grade == "exact" else None
    print_certificate(out, document, reading, faces)
    order, generators = document["group"]["order"], len(document["group"]["generators"])
    degree = document["group"]["degree"]
    out.print(
        f"[green]valid[/green]: the kernel built the group of order {order} from {generators} permutations of "
        f"{degree} points and proved every line.",
        soft_wrap=True,
    )


@app.command(name="sweep", help="Certify all groups up to an order: one file per group, and summary.csv.")
def sweep_command(
    max_order: Annotated[int, typer.Option(metavar="N", min=2, help="largest order")],
    directory: Annotated[Path, typer.Option("--out", metavar="DIR", help="folder for the certificates")],
    jobs: Annotated[int, typer.Option(min=1, help="processes")] = os.cpu_count() or 1,
    factors: Factors = 2,
) -> None:
    """Certify groups in parallel; finished files are kept, so that a second run continues an interrupted one."""
    with refusals():
        directory.mkdir(parents=True, exist_ok=True)
        with err.status("listing the groups"):
            groups = group_list(max_order)
        err.print(escape(groups.description))
        executor = process_pool(jobs)
        outcomes: list[Outcome] = []
        try:
            with _progress() as bar:
                task = bar.add_task("certifying", total=len(groups.names))
                for outcome in sweep(groups.names, directory, executor, factors):
                    outcomes.append(outcome)
                    bar.update(task, advance=1, description=escape(outcome.name))
                    if outcome.error is not None:
                        bar.console.print(f"[red]failed[/red]: {escape(outcome.name)}: {escape(outcome.error)}")
        except KeyboardInterrupt as interrupt:
            err.print(f"stopped after {len(outcomes)} of {len(groups.names)} groups; the same command continues")
            raise typer.Exit(130) from interrupt
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
        done = [outcome for outcome in outcomes if outcome.error is None]
        write_summary(groups.names, done, directory / "summary.csv")
    kept = sum(outcome.kept for outcome in done)
    out.print(
        f"{len(done)} groups certified and checked by the kernel, {kept} of them in earlier files; "
        f"{sum(outcome.row['condition'] == 'strict' for outcome in done)} satisfy the strict condition, "
        f"{sum(outcome.row['grade'] == 'exact' for outcome in done)} are exact",
        soft_wrap=True,
    )
    out.print(escape(f"summary in {directory / 'summary.csv'}"), soft_wrap=True)
    if len(done) < len(outcomes):
        raise typer.Exit(1)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:>14}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err
    )


@app.command(help="Show the least regularised loss of a group, proved from both sides, for one or more lambda.")
def path(
    group: Group,
    penalties: Annotated[
        list[str] | None, typer.Option("--lambda", metavar="X", help="penalty, such as 1e-4 or 1/3; may be repeated")
    ] = None,
    factors: Factors = 2,
    limit: Limit = DEFAULT_LIMIT,
) -> None:
    """Print the regularisation path; exit 2 for a group or a penalty that is refused."""
    with refusals():
        with err.status(f"certifying {escape(group)}"):
            certificate = certify_group(parse_group(group, limit), factors)
            maximum = float(certificate.gamma)
        values = list(DEFAULT_PENALTIES) if penalties is None else [_penalty(text) for text in penalties]
        with err.status(f"minimising the loss of {escape(group)}"):
            optima = list(regularisation_path(certificate.table, values, factors))
    print_path(out, certificate.group.name, optima, maximum, factors + 1)
    zero = float(penalty_limit(MarginGame(certificate.table, factors)))
    out.print(
        f"maximum margin {maximum:.12g}; zero network optimal from lambda = {zero:.10g} on\n"
        "proved to: how much smaller than printed the least loss might be\n"
        "in use: representations that are proved to carry mass in the optimal network"
    )


def _penalty(text: str) -> float | str:
    """Return a penalty as regularisation_path takes it: a fraction exactly, anything else as a float."""
    if "/" in text:
        return text
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"--lambda needs a positive number such as 1e-4 or 1/3, not {text!r}.") from error


@app.command(help="Certify the maximum margin of the parity of K of N bits, with the activation x^K.")
def parity(
    n: Annotated[int, typer.Argument(metavar="N", help=f"number of bits, at most {LARGEST_ENUMERATION}")],
    k: Annotated[int, typer.Argument(metavar="K", help="number of relevant bits, 1 <= K <= N")],
) -> None:
    """Print the certificate of (n, k)-sparse parity; exit 1 when it is rejected, 2 for sizes out of range."""
    with refusals():
        if n > LARGEST_ENUMERATION:
            raise ValueError(f"The network is evaluated on all 2^N inputs; N = {n} exceeds {LARGEST_ENUMERATION}.")
        with err.status(f"certifying parity of {k} of {n} bits"):
            certificate = certify_parity(n, k, exact=n <= LARGEST_EXACT_PARITY)
    print_parity(out, certificate, f"Parity of the first {k} of {n} bits, x in {{-1, 1}}^{n}")
    if not certificate.accepted:
        raise typer.Exit(1)


@app.command(help="Show what the ledger says of a statement, for example feature-emergence:theorem-7.7.")
def show(statement: Annotated[str, typer.Argument(help="id of the statement, or a part of it")]) -> None:
    """Print the ledger entries whose id contains the given text; exit 2 when there is none."""
    found = [
        (chapter, entry) for chapter in load_ledger().chapters for entry in chapter.statements if statement in entry.id
    ]
    exact = [pair for pair in found if pair[1].id == statement]
    with refusals():
        if not found:
            raise ValueError(
                f"no statement of the ledger has an id that contains {statement!r}. "
                "Ids look like feature-emergence:theorem-7.7; a part such as theorem-7 lists all that contain it."
            )
    for chapter, entry in exact or found:
        print_statement(out, chapter, entry)


@app.command(help="List the statements of the ledger, with their verdicts.")
def ledger(
    chapter: Annotated[
        str | None, typer.Option(metavar="C", help="only this chapter, such as feature_emergence")
    ] = None,
    verdict: Annotated[str | None, typer.Option(metavar="V", help=f"only this verdict: {', '.join(VERDICTS)}")] = None,
) -> None:
    """Print a table of statements; exit 2 for an unknown chapter or verdict."""
    chapters = load_ledger().chapters
    names = [entry.name for entry in chapters]
    with refusals():
        wanted = None if chapter is None else chapter.replace("-", "_")
        if wanted is not None and wanted not in names:
            raise ValueError(f"There is no chapter {chapter!r}; the chapters are {', '.join(names)}.")
        if verdict is not None and verdict not in VERDICTS:
            raise ValueError(f"There is no verdict {verdict!r}; the verdicts are {', '.join(VERDICTS)}.")
    print_ledger(out, [entry for entry in chapters if wanted in (None, entry.name)], verdict)
