"""What `lemmata certify` does with a table of any operation: table:FILE.csv, op:mul:7, latin:5:1, S3 with --cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape

from lemmata.certificates import operation_kernel
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.operations.apart import ApartNetwork
from lemmata.certificates.operations.certify import OperationCertificate, certify_operation
from lemmata.certificates.operations.forms import Kind, kind_for
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.programs import OperationProgramError
from lemmata.certificates.operations.programs_effort import TooMuchWorkError
from lemmata.certificates.operations.rounding import BITS, proof_order
from lemmata.commands.console import deliver, err, working
from lemmata.commands.operation_names import DEGREES
from lemmata.constructions.networks.files import export_npz
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import operation_symmetries
from lemmata.reports.operations import operation_summary, print_operation_certificate

__all__ = ["certify_named_operation"]

DIGITS = 12
"""Of the decimals: some more than a proof from floating point closes."""


def certify_named_operation(
    table: Operation,
    degree: str | None,
    out_file: Path | None,
    digits: int | None,
    as_json: bool,
    *,
    seed: int = 0,
    starts: int | None = None,
    bits: int | None = None,
    seconds: float | None = None,
    network: Path | None = None,
) -> None:
    """The certificate of a table, accepted by the kernel, written and printed; ``out_file`` "-" is standard output.

    ``network`` is the file for the network of its lower bound, of norm 1.

    Raises:
        ValueError: for a table beyond the sizes that are certified, a solver that gives no bound, and a certificate
            that the kernel refuses.
        OSError: for files that cannot be written.
    """
    kind = None if degree is None else DEGREES[degree]
    _refuse_large(table, kind_for(table.label_count) if kind is None else kind)
    with err.status(f"finding the symmetries of {escape(table.name)}"):
        symmetries = operation_symmetries(table)
    with working(f"certifying {table.name}") as status:

        def progress(what: str) -> None:
            status.update(escape(f"certifying {table.name}: {what}"))

        certificate = _certified(
            table,
            kind=kind,
            symmetries=symmetries,
            digits=digits or DIGITS,
            seed=seed,
            starts=starts,
            bits=bits or BITS,
            seconds=seconds,
            progress=progress,
        )
    deliver(
        dumps(certificate.document),
        out_file,
        as_json,
        lambda: operation_summary(certificate, symmetries),
        lambda console: print_operation_certificate(console, certificate, symmetries),
    )
    if network is not None:
        export_npz(_homogeneous(certificate.network), network)


def _homogeneous(network: OperationNetwork | ApartNetwork) -> HomogeneousNetwork:
    """The network of norm 1 with inputs (onehot(a), onehot(b)), in floats."""
    unit = network.floats()
    return HomogeneousNetwork(np.concatenate([unit.u, unit.v], axis=1), unit.w, unit.masses, 2, 1.0)


def _certified(table: Operation, **options: Any) -> OperationCertificate:
    """`certify_operation`, with the failures of solvers as refusals."""
    try:
        return certify_operation(table, **options)
    except TooMuchWorkError as error:
        raise ValueError(f"{error} On the command line --seconds sets the time.") from error
    except OperationProgramError as error:
        raise ValueError(f"{error} On the command line --degree sets the degree.") from error
    except RuntimeError as error:  # of a solver of the network's side
        raise ValueError(f"No certificate was found: {error} Try another --seed, or other --starts.") from error


def _refuse_large(table: Operation, kind: Kind) -> None:
    """The check of the size of a proof before the work, not after it.

    Raises:
        ValueError: for a matrix beyond what the kernel checks, and the plane with more than three labels.
    """
    order = proof_order(table.size, table.label_count, kind)
    if order**3 <= operation_kernel.MAX_ORDER_CUBED:
        return
    most = round(operation_kernel.MAX_ORDER_CUBED ** (1 / 3))
    name = kind if isinstance(kind, str) else f"degree {kind}"
    smaller = " Degree 4 takes a smaller one." if kind == 6 else ""
    raise ValueError(
        f"A proof of the kind {name} for {table.name} ({table.rows} rows, {table.columns} columns, {table.label_count} "
        f"labels) is a matrix of order {order}, whose floats take {8 * order**2 / 2**30:.2g} GB and its program many "
        f"times that; orders up to {most} are certified.{smaller}"
    )
