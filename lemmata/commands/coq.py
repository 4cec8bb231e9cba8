"""The command `lemmata coq`: a certificate of a table as a theorem of Coq, proved there."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from lemmata.certificates.coq.claims import Claim, claim_in
from lemmata.certificates.coq.compiler import (
    CoqProof,
    CoqRefusalError,
    coq_version,
    find_coq,
    modules_of,
    prove_claims,
    theory,
)
from lemmata.certificates.coq.received import sentences
from lemmata.certificates.coq.source import coq_file
from lemmata.certificates.operations.document import load
from lemmata.commands.console import err, out, refusals
from lemmata.commands.options import DEFAULT_JOBS, AsJson, Jobs
from lemmata.numerics.runs.files import write_atomically

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(
    name="coq",
    help="Prove a certificate of an operation or an unseen cell once more in Coq: the kernel checks it, then Coq "
    "proves the theorem about all networks that it stands for. Needs the program coqc.",
)
def coq(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="the certificate, as certify and unseen write it")
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.v", help="write the Coq file, once it is proved")
    ] = None,
    unproved: Annotated[
        bool, typer.Option("--unproved", help="write the Coq file without asking Coq, which need not be there")
    ] = False,
    time_limit: Annotated[
        float | None, typer.Option(metavar="S", min=0.1, max=1e6, help="seconds for Coq on this file, by the clock")
    ] = None,
    build: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="folder for the compiled theory; by default lemmata in your folder of caches"),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.v",
            help="in place of FILE: a Coq file that somebody else has written; its claim is read by itself and shown "
            "in full, and the theory is compiled for it anew",
        ),
    ] = None,
    committed: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="in place of FILE: prove the theory, compiled anew, and the committed certificates of the survey of "
            "operations; DIR keeps what is done, and reproved.json",
        ),
    ] = None,
    ocaml: Annotated[
        bool,
        typer.Option(
            "--ocaml",
            help="of FILE, or of all committed documents with --committed: ask not Coq but its checker, extracted to "
            "OCaml and compiled (needs ocamlopt too); it decides without the kernel",
        ),
    ] = False,
    jobs: Jobs = DEFAULT_JOBS,
    as_json: AsJson = False,
) -> None:
    """The theorem; exit 1 when Coq refuses the file, 2 when the input is refused, without Coq and out of time."""
    with refusals():
        _refuse_name(out_file)
        if [file, check, committed].count(None) != 2:
            raise ValueError("Give the file of a certificate, a Coq file with --check, or a folder with --committed.")
        if committed is not None and (unproved or build is not None or out_file is not None or time_limit is not None):
            raise ValueError("--out, --unproved, --build and --time-limit are for one file, not for --committed.")
        if ocaml and (check is not None or unproved or out_file is not None):
            raise ValueError(
                "--ocaml decides and writes no Coq file: it goes with neither --check, --out nor --unproved."
            )
        if ocaml or committed is not None:
            try:
                _other_ways(file, committed, ocaml, build, time_limit, jobs, as_json)
            except CoqRefusalError as refusal:
                _print_refusal(refusal)
                raise typer.Exit(1) from refusal
            return
        if check is not None and (unproved or build is not None or out_file is not None):
            raise ValueError("--out, --unproved and --build are for a certificate, not for --check.")
        if unproved and out_file is None:
            raise ValueError("--unproved writes a file and does nothing else: name it with --out.")
        if unproved and time_limit is not None:
            raise ValueError("--time-limit is for Coq, which --unproved does not ask.")
        if check is not None:
            text, claim, words = _received(check)
        else:
            assert file is not None
            made = coq_file(load(file))
            text, claim, words = made.text, made.claim, made.words
        try:
            if unproved:
                proof = None
            elif check is None:
                proof = _proved(text, claim, build, time_limit)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    proof = _proved(text, claim, Path(folder), time_limit)
        except CoqRefusalError as refusal:
            _print_refusal(refusal)
            raise typer.Exit(1) from refusal
    if as_json:
        typer.echo(json.dumps(_summary(claim, words, proof, len(text), out_file), indent=2))
    else:
        _print(claim, words, proof, len(text))
    if out_file is not None:
        with refusals():
            write_atomically(text.encode("ascii"), out_file)
        if not as_json:
            out.print(escape(f"Coq file written to {out_file}"), soft_wrap=True)


def _other_ways(
    file: Path | None,
    committed: Path | None,
    ocaml: bool,
    build: Path | None,
    time_limit: float | None,
    jobs: int,
    as_json: bool,
) -> None:
    """The committed certificates in place of a file, the extracted checker in place of Coq, or both."""
    if committed is not None and not ocaml:
        from lemmata.commands.coq_committed import prove_committed  # solvers, which one file can do without

        prove_committed(committed, jobs, as_json)
        return
    from lemmata.commands.coq_ocaml import decide_committed, decide_file  # the same

    if committed is not None:
        decide_committed(committed, jobs, as_json)
    else:
        assert file is not None
        decide_file(file, build, time_limit, as_json)


def _print_refusal(refusal: CoqRefusalError) -> None:
    err.print(f"[red]refused[/red]: {escape(str(refusal))}", soft_wrap=True)


def _refuse_name(path: Path | None) -> None:
    """ValueError for a file that could not be written, or whose name Coq would not take."""
    if path is None:
        return
    if path.suffix != ".v" or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", path.stem):
        raise ValueError(
            f"Coq takes files whose names are letters, digits and _, a letter first, and end in .v; not {path.name!r}."
        )
    if path.is_dir():
        raise ValueError(f"{path} is a directory; name a file.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"The directory {path.absolute().parent} does not exist.")


def _received(path: Path) -> tuple[str, Claim, str]:
    """The text of a Coq file that somebody else has written, its claim, and what is said of it in words.

    Raises:
        ValueError: for a file that is none of a certificate.
        OSError: for one that cannot be read.
    """
    data = path.read_bytes()
    try:
        claim = claim_in(sentences(data))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return data.decode("ascii"), claim, f"what {path.name} claims of the table T below"


def _proved(text: str, claim: Claim, build: Path | None, time_limit: float | None) -> CoqProof:
    """What Coq says about a file, which it gets in a folder of its own."""
    find_coq()
    with err.status("compiling the theory") as status:
        compiled = theory(
            modules_of(text), build, progress=lambda name, _: status.update(f"compiling the theory: {name} is done")
        )
        status.update("Coq is proving the theorem")
        return prove_claims(text, [claim], compiled, time_limit)


def _summary(claim: Claim, words: str, proof: CoqProof | None, size: int, out_file: Path | None) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "claim": words,
        "table": claim.table,
        "theorem": claim.statement,
        "bytes": size,
        "file": None if out_file is None else str(out_file),
    }
    if proof is None:
        return {"proved": False, **shown}
    return {
        "proved": True,
        "assumptions": list(proof.assumptions),
        "coq": coq_version(),
        "seconds": round(proof.seconds, 3),
        "processor_seconds": round(proof.processor_seconds, 3),
        **shown,
    }


def _print(claim: Claim, words: str, proof: CoqProof | None, size: int) -> None:
    if proof is None:
        out.print(f"[yellow]not proved[/yellow]: Coq was not asked whether {escape(words)}", soft_wrap=True)
    else:
        out.print(f"[green]proved[/green]: {escape(words)}", soft_wrap=True)
        out.print("in the words of certificates/coq/Statement.v:")
        out.print(escape(claim.defined), soft_wrap=True)
        out.print(escape(f"Theorem {claim.theorem} :\n  {claim.stated}."), soft_wrap=True)
        axioms = ", ".join(name.rpartition(".")[2] for name in proof.assumptions)
        out.print(f"assumptions: those of Coq's real numbers alone: {escape(axioms)}", soft_wrap=True)
        out.print(
            f"Coq {coq_version()}: {proof.seconds:.1f} s ({proof.processor_seconds:.1f} s of the processor), "
            f"{size:,} bytes",
            soft_wrap=True,
        )
