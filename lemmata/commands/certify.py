"""The command `lemmata certify`: the maximum margin of a group, or of any operation, and a network that attains it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lemmata.certificates import kernel
from lemmata.certificates.groups.certify import GroupMarginCertificate, certify_group
from lemmata.certificates.groups.document import document_of, exceeds_kernel_limits, kernel_refusal
from lemmata.certificates.groups.format import Document, dumps, write
from lemmata.certificates.groups.report import margin_report
from lemmata.certificates.saddle.attainment import Attainment, attained_margin
from lemmata.certificates.saddle.optimal_network import network_numbers, optimal_network
from lemmata.commands.console import STANDARD_OUTPUT, err, out, refusals, working
from lemmata.commands.given_character_tables import certify_given
from lemmata.commands.operation_names import named_group_or_operation
from lemmata.commands.options import Factors, Limit, OptionalGroup, Seconds
from lemmata.constructions.networks.files import export_npz
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.given import is_character_table, refuse_other_kinds
from lemmata.numerics.groups.names import ACCEPTED_NAMES
from lemmata.numerics.groups.permutations import DEFAULT_LIMIT, MAX_TABLE_ORDER
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.operations.names import ACCEPTED_CELLS, ACCEPTED_TABLES
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.ternary import TERNARY_PREFIX
from lemmata.reports.groups import print_certificate, print_network, summary

__all__ = ["app"]

app = typer.Typer(add_completion=False)

DIGITS = 30
LARGEST_EVALUATION = 120  # networks of groups are evaluated on all inputs up to this order
LARGEST_NETWORK = 50_000_000  # numbers in the weights of a network, or in all its inputs: 400 MB each


@app.command(
    help=f"Certify the maximum margin of products in a group, exactly, or of any finite operation, from both sides. "
    f"Groups: {ACCEPTED_NAMES}; by a character table alone, on the condition that it is one: ctbl:NAME such as ctbl:M, "
    "the Monster (the character table library, with the extra gap), or --characters FILE.json. Operations: "
    f"{ACCEPTED_TABLES}; of three arguments ternary:01101001 (2 x 2 x 2 labels) or ternary:FILE.npy. "
    "A table of a group under any names of its rows, columns and labels is certified as the group.",
)
def certify(
    group: OptionalGroup = None,
    factors: Factors = 2,
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="write the certificate, for lemmata check; - for the standard output"
        ),
    ] = None,
    network: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="write the weights of an explicit optimal network")
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1000, help="significant digits: 30 by default, 12 for operations"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON instead of a report")] = False,
    evaluate: Annotated[
        int, typer.Option(metavar="N", min=0, help="evaluate the network on all inputs for groups of order up to N")
    ] = LARGEST_EVALUATION,
    limit: Limit = DEFAULT_LIMIT,
    characters: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="a character table, in place of a group"),
    ] = None,
    old_table: Annotated[Path | None, typer.Option("--table", hidden=True)] = None,
    cells: Annotated[
        str | None, typer.Option(metavar="CELLS", help=f"the given cells of an operation: {ACCEPTED_CELLS}")
    ] = None,
    degree: Annotated[
        str | None, typer.Option(metavar="plane|4|6", help="the proof for an operation; by default what it needs")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="of the search for the network of an operation")
    ] = None,
    starts: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=100_000, help="of that search, in a round")
    ] = None,
    bits: Annotated[
        int | None, typer.Option(metavar="N", min=8, help="of the integers in the proof for an operation")
    ] = None,
    seconds: Seconds = None,
) -> None:
    """The certificate of a group or table; exit 1 when the network misses the maximum, 2 when the input is refused."""
    with refusals():
        for path in (out_file, network):
            _refuse_unwritable(path)
        if out_file == STANDARD_OUTPUT and as_json:
            raise ValueError("With --out - the certificate goes to the standard output: leave out --json.")
        if network == STANDARD_OUTPUT:
            raise ValueError("The network is a binary file: name one for --network.")
        if network is not None and network.suffix != ".npz":
            raise ValueError(f"Networks are written to files whose name ends in .npz, not to {network.name}.")
        if old_table is not None:
            raise ValueError(f"--table is called --characters now: --characters {old_table}.")
        if group is not None and characters is not None:
            raise ValueError(f"Give a group or --characters, not both: {group!r} and {str(characters)!r}.")
        if characters is not None or (group is not None and is_character_table(group)):
            if cells is not None or degree is not None:
                raise ValueError("--cells and --degree are for operations, not for character tables.")
            _refuse_search(seed, starts, bits, seconds, "character tables")
            if network is not None:
                raise ValueError("A character table alone gives no network: leave out --network.")
            if characters is not None:
                refuse_other_kinds(str(characters))
            certify_given(characters or str(group).strip(), factors, out_file, digits or DIGITS, as_json)
            return
        if group is None:
            raise ValueError("There is nothing to certify: name a group, or a character table with --characters.")
        if group.strip().startswith(TERNARY_PREFIX):
            from lemmata.commands.ternary import certify_named_ternary

            if cells is not None or factors not in (2, 3) or network is not None:
                raise ValueError("An operation of three arguments has three factors, and no --cells or --network.")
            _refuse_search(None, starts, bits, seconds, "operations of three arguments")
            certify_named_ternary(group, degree, out_file, digits, as_json, seed or 0)
            return
        elements = named_group_or_operation(group, cells, degree, limit, factors)
        if isinstance(elements, Operation):
            from lemmata.commands.operations import certify_named_operation  # solvers, which groups can do without

            certify_named_operation(
                elements,
                degree,
                out_file,
                digits,
                as_json,
                seed=seed or 0,
                starts=starts,
                bits=bits,
                seconds=seconds,
                network=network,
            )
            return
        _refuse_search(seed, starts, bits, seconds, "groups, whose certificates are exact")
        if (unchecked := kernel_refusal(elements)) is not None:
            err.print(
                f"[yellow]note[/yellow]: the certificate will not be checked: {escape(unchecked)}", soft_wrap=True
            )
        with working(f"certifying {group}"):
            certificate = certify_group(elements, factors)
            document = document_of(certificate, digits or DIGITS)
        with err.status(f"checking the certificate of {escape(group)}"):
            unchecked = _unchecked(document)
            reading = margin_report(document)
        with err.status(f"building the network of {escape(group)}"):
            explicit, attainment = _attainment(certificate, evaluate, network is not None)
    console = err if out_file == STANDARD_OUTPUT else out  # the document alone on the standard output
    if as_json:
        typer.echo(json.dumps(summary(document, reading, certificate.faces, attainment, unchecked), indent=2))
    else:
        print_certificate(console, document, reading, certificate.faces, unchecked)
    attained = True
    if attainment is not None and as_json:
        attained = abs(float(reading.gamma) - attainment.margin) <= attainment.rounding
    elif attainment is not None:
        attained = print_network(console, attainment, float(reading.gamma))
    elif not as_json:
        console.print(f"The explicit network was not evaluated ({_why_not(certificate, evaluate)}).", soft_wrap=True)
    with refusals():
        if out_file == STANDARD_OUTPUT:
            sys.stdout.buffer.write(dumps(document))
        elif out_file is not None:
            write(document, out_file)
            if not as_json:
                message = f"Certificate written to {out_file}; check it with: lemmata check {out_file}"
                console.print(escape(message), soft_wrap=True)
        if network is not None and explicit is not None:
            export_npz(explicit[1], network, explicit[0] if factors == 2 else None)
            if not as_json:
                console.print(escape(f"Network written to {network}"), soft_wrap=True)
    if not attained:
        raise typer.Exit(1)


def _refuse_search(seed: int | None, starts: int | None, bits: int | None, seconds: float | None, what: str) -> None:
    """ValueError if an option of the search for an operation was given where nothing is searched."""
    options = (("--seed", seed), ("--starts", starts), ("--bits", bits), ("--seconds", seconds))
    given = [name for name, value in options if value is not None]
    if given:
        raise ValueError(f"{' and '.join(given)}: for operations, not for {what}; leave it out.")


def _unchecked(document: Document) -> str | None:
    """Why the kernel did not check a document: the limit that it exceeds; None if the kernel has accepted it.

    Raises:
        ValueError: if the kernel refuses what the document claims, or cannot read it although it is within the limits.
    """
    try:
        kernel.check(dumps(document))
    except kernel.MalformedError as error:
        if exceeds_kernel_limits(document) or _well_formed(document):
            return str(error)
        raise ValueError(
            f"The kernel cannot read the certificate that was found, which is within its limits; nothing is claimed: "
            f"{error}."
        ) from error
    except kernel.ViolatedError as error:
        raise ValueError(
            f"The kernel refuses the certificate that was found, and nothing is claimed: {error}."
        ) from error
    return None


def _well_formed(document: Document) -> bool:
    """Whether the kernel reads a document, and only the check itself may exceed a limit."""
    try:
        kernel.Document(kernel.parse(dumps(document)))
    except kernel.MalformedError:
        return False
    return True


def _refuse_unwritable(path: Path | None) -> None:
    """The check of a destination before the work, not after it."""
    if path is None or path == STANDARD_OUTPUT or (path.exists() and not path.is_file() and not path.is_dir()):
        return
    if path.is_dir():
        raise ValueError(f"{path} is a directory; name a file.")
    if not path.parent.is_dir():
        raise ValueError(f"The directory {path.parent} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"The directory {path.parent} is not writable.")


def _why_not(certificate: GroupMarginCertificate, evaluate: int) -> str | None:
    """Why the explicit network is not evaluated, or None when it is."""
    order, factors = certificate.group.order, certificate.factors
    if (reason := _no_masses(certificate)) is not None:
        return reason
    if order > evaluate:
        return f"order above {evaluate}; raise it with --evaluate"
    return _too_large(certificate) or (
        f"{order}^{factors} inputs are too many"
        if factors > 2 and order ** (factors + 1) * factors > LARGEST_NETWORK
        else None
    )


def _no_masses(certificate: GroupMarginCertificate) -> str | None:
    """Why there are no optimal masses as numbers; None where there are."""
    if certificate.solution is not None:
        return None
    return "the square roots in its optimal masses share no cyclotomic field of supported order"


def _too_large(certificate: GroupMarginCertificate) -> str | None:
    if certificate.group.order > MAX_TABLE_ORDER:
        return f"Cayley tables are built up to order {MAX_TABLE_ORDER}"
    if certificate.solution is not None and network_numbers(certificate.solution) > LARGEST_NETWORK:
        return f"its weights are {network_numbers(certificate.solution)} numbers, more than {LARGEST_NETWORK}"
    return None


def _attainment(
    certificate: GroupMarginCertificate, evaluate: int, wanted: bool
) -> tuple[tuple[FiniteGroup, HomogeneousNetwork] | None, Attainment | None]:
    """The group and the network, if it is evaluated or wanted in itself, and what its evaluation gave, if there is one.

    Raises:
        ValueError: if the network is wanted, and is too large.
    """
    why_not = _why_not(certificate, evaluate)
    if why_not is not None and not wanted:
        return None, None
    reason = _too_large(certificate) or _no_masses(certificate)
    if wanted and reason is not None:
        raise ValueError(f"The network of {certificate.group.name} cannot be written: {reason}.")
    assert certificate.solution is not None
    finite, explicit = optimal_network(certificate.group, certificate.solution)
    return (finite, explicit), None if why_not is not None else attained_margin(explicit, finite)
