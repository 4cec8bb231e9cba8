"""What `lemmata certify` does with an operation of three arguments: ternary:01101001, ternary:FILE.npy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from lemmata.certificates.groups.format import dumps
from lemmata.certificates.operations.programs import OperationProgramError
from lemmata.certificates.operations.ternary import TernaryCertificate, certify_ternary
from lemmata.commands.console import deliver, working
from lemmata.numerics.operations.ternary import parse_ternary
from lemmata.reports.operations import MEANING
from lemmata.reports.tables import print_fields

__all__ = ["certify_named_ternary"]

DIGITS = 12


def certify_named_ternary(
    text: str, degree: str | None, out_file: Path | None, digits: int | None, as_json: bool, seed: int
) -> None:
    """The certificate of a table, accepted by the kernel, written and printed; ``out_file`` "-" is standard output.

    Raises:
        ValueError: for what is no table of three arguments, a degree other than 4 and 6, a table beyond the sizes that
            are certified, and a solver that gives no bound.
        OSError: for files that cannot be written.
    """
    if degree not in (None, "4", "6"):
        raise ValueError(f"A proof for three arguments has the degree 4 or 6, not {degree}.")
    table = parse_ternary(text)
    with working(f"certifying {table.name}"):
        try:
            certificate = certify_ternary(
                table, degree=None if degree is None else int(degree), seed=seed, digits=digits or DIGITS
            )
        except OperationProgramError as error:
            raise ValueError(f"No certificate was found: {error}") from error
    deliver(
        dumps(certificate.document),
        out_file,
        as_json,
        lambda: _summary(certificate),
        lambda console: _report(console, certificate),
    )


def _summary(certificate: TernaryCertificate) -> dict[str, Any]:
    document = certificate.document
    return {
        "table": document["table"],
        "margin": document["margin"],
        "gap": document["gap"],
        "grade": document["grade"],
        "neurons": len(document["network"]["neurons"]),
        "proof": document["proof"]["kind"],
        "kernel": certificate.line,
    }


def _report(out: Console, certificate: TernaryCertificate) -> None:
    table, document = certificate.table, certificate.document
    margin, tests = document["margin"], len(table.tests[1])
    sides = " x ".join(map(str, table.values.shape))
    out.print(
        f"[bold]{escape(table.name)}[/bold]: three arguments, {sides} cells, {table.labels} labels", soft_wrap=True
    )
    out.print(f"  {tests} tests of a given cell and a wrong label")
    out.print("  networks f(a, b, c) = sum_i (u_i(a) + v_i(b) + s_i(c))^3 w_i of any width")
    out.print("  normalised margin = smallest f_y - f_k / ||theta||^4, in the norm L_{2,4}")
    out.print()
    fields = [
        ("at least", margin["lower"]),
        ("at most", margin["upper"]),
        ("relative gap", document["gap"]),
        ("grade", f"{document['grade']} ({MEANING[document['grade']]})"),
        ("kernel", "valid: certificates/ternary_kernel.py has checked every line"),
    ]
    print_fields(out, [("maximum margin", margin["exact"]), *fields] if margin["exact"] is not None else fields)
    out.print()
    neurons, weights = len(document["network"]["neurons"]), sum(q > 0 for q in document["multipliers"])
    out.print(f"Attained: an explicit network of {neurons} neurons with integer weights")
    out.print(
        f"Bounded: weights on {weights} tests, and a sum of squares ({document['proof']['kind']}), a matrix of order "
        f"{len(document['proof']['matrix'])}",
        soft_wrap=True,
    )
