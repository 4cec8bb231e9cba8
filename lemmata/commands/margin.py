"""The command `lemmata margin`: how far a trained network is from the certified maximum margin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import ArrayLike
from rich.markup import escape

from lemmata.certificates import kernel
from lemmata.certificates.groups.certify import GroupMarginCertificate, certify_group
from lemmata.certificates.groups.document import document_of, kernel_refusal
from lemmata.certificates.groups.format import Document, dumps
from lemmata.certificates.groups.report import margin_report
from lemmata.certificates.saddle.effective_neurons import read_addition
from lemmata.certificates.saddle.measured import (
    MeasuredMargin,
    measured_margin,
    predicted_labels,
    representation_shares,
)
from lemmata.commands.console import err, out, refusals
from lemmata.commands.models import CHECKPOINTS, Checkpoint, Picture, deliver_measurement
from lemmata.commands.operation_names import named_group_or_operation
from lemmata.commands.options import AsJson, Limit
from lemmata.constructions.networks.checkpoints import (
    ACCEPTED_WEIGHTS,
    OperationWeights,
    load_operation_weights,
    read_tensors,
)
from lemmata.constructions.networks.pair_transformer import (
    ACCEPTED_PAIR_TRANSFORMERS,
    is_attention,
    load_pair_transformer,
)
from lemmata.numerics.groups.isotopy import isotopism
from lemmata.numerics.groups.names import ACCEPTED_NAMES, parse_group
from lemmata.numerics.groups.permutations import DEFAULT_LIMIT, MAX_TABLE_ORDER, PermutationGroup
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.operations.names import ACCEPTED_CELLS, ACCEPTED_TABLES, parse_operation
from lemmata.numerics.operations.operation import MISSING, Operation
from lemmata.reports.margin import (
    MarginOfCheckpoint,
    RepresentationLine,
    checkpoint_summary,
    draw_checkpoint,
    print_checkpoint,
)
from lemmata.reports.pictures import check_picture
from lemmata.reports.transformer_addition import TransformerAddition, addition_summary, draw_addition, print_addition

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(
    help="Measure how far a trained network is from the certified maximum margin of a group or an operation: "
    "the normalised margin of f(a, b) = sum_i (u_i(a) + v_i(b))^2 w_i on all inputs, its representations, its deficit. "
    f"{CHECKPOINTS} "
    "The activation is the square: no other one has the certified maximum. Of a one-layer transformer, with "
    "--activation relu --group Zn, the neurons are read beside those of the theory, without a deficit. A network of a "
    "group that numbers its elements in another way is measured in its own numbering, which is found from its outputs. "
    f"Weights: {ACCEPTED_WEIGHTS}. Biases must be zero. Elements of a group are numbered as in "
    "lm.certify(GROUP).group.elements, those of Zn as 0, 1, ..., n - 1; a table numbers its own."
)
def margin(
    checkpoint: Checkpoint,
    group: Annotated[str | None, typer.Option(metavar="GROUP", help=f"the group: {ACCEPTED_NAMES}")] = None,
    operation: Annotated[
        str | None, typer.Option(metavar="OPERATION", help=f"or an operation: {ACCEPTED_TABLES}")
    ] = None,
    cells: Annotated[str | None, typer.Option(metavar="CELLS", help=f"its given cells: {ACCEPTED_CELLS}")] = None,
    activation: Annotated[
        str, typer.Option(metavar="NAME", help="of the network: square, or relu of a transformer")
    ] = "square",
    picture: Picture = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
    old_table: Annotated[str | None, typer.Option("--table", hidden=True)] = None,
) -> None:
    """The margin and the deficit; exit 0 also for a negative margin, 2 when the input is refused."""
    with refusals():
        if old_table is not None:
            raise ValueError(f"--table is called --operation now: --operation {old_table}.")
        if (group is None) == (operation is None):
            raise ValueError(
                "Name what the network was trained for: --group GROUP or --operation OPERATION, one of the two."
            )
        if cells is not None and operation is None:
            raise ValueError("--cells is for operations: give --operation.")
        check_picture(picture)
        if is_attention(read_tensors(checkpoint)):
            addition = _of_transformer(checkpoint, group, activation, limit)
            deliver_measurement(
                addition_summary(addition),
                lambda: print_addition(out, addition),
                picture,
                lambda path: draw_addition(addition, path),
                as_json,
            )
            return
        if activation != "square":
            raise ValueError(
                f"A maximum is certified for the square alone, so that a network with the activation {activation} has "
                "no deficit: train f(a, b) = sum_i (u_i(a) + v_i(b))^2 w_i (--activation square)."
            )
        if group is not None:
            result = _of_group(checkpoint, group, limit)
        else:
            result = _of_table(checkpoint, str(operation), cells, limit)
        result.deficit  # noqa: B018 - a margin above the maximum is refused before anything is shown
    deliver_measurement(
        checkpoint_summary(result),
        lambda: print_checkpoint(out, result),
        picture,
        lambda path: draw_checkpoint(result, path),
        as_json,
    )


def _of_group(checkpoint: Path, name: str, limit: int) -> MarginOfCheckpoint:
    group = parse_group(name, limit)
    _refuse_renumbered(name, group)
    _refuse_large(group)
    n = group.order
    weights = load_operation_weights(checkpoint, n, n, n)
    finite = group.to_finite_group()
    with err.status(f"certifying {escape(name)}"):
        document, certificate = _accepted(group)
    weights, measured, numbering, as_relu = _measured(weights, finite.table, finite)
    a, b, c = measured.worst
    labels = _names(finite)
    optimal = {irrep.name: float(irrep.mass) for irrep in margin_report(document).irreps}
    lines = []
    for entry in representation_shares(weights, group, certificate.table):
        names = " and ".join(certificate.table.irrep_names[row] for row in entry.rows)
        indicator = document["characters"]["rows"][entry.rows[0]]["indicator"]
        dimension = entry.degree if indicator == 1 else 2 * entry.degree
        lines.append(RepresentationLine(names, dimension, entry.share, optimal.get(names, 0.0)))
    return MarginOfCheckpoint(
        group.name,
        weights.source,
        measured,
        document["margin"]["lower"],
        document["margin"]["upper"],
        document["grade"],
        (labels[a], labels[b], labels[finite.table[a, b]], labels[c]),
        tuple(lines),
        numbering,
        as_relu,
    )


def _of_transformer(checkpoint: Path, group: str | None, activation: str, limit: int) -> TransformerAddition:
    """What the neurons of a one-layer transformer are, in its own numbering if it has one of Z_n."""
    if activation != "relu":
        raise ValueError(
            f"{checkpoint.name} has attention, and a maximum is certified for f(a, b) = sum_i (u_i(a) + v_i(b))^2 w_i "
            "alone: there is no deficit. The neurons of a one-layer transformer with ReLUs that adds modulo n are read "
            f"with --activation relu --group Zn; accepted are {ACCEPTED_PAIR_TRANSFORMERS}."
        )
    finite = None
    if group is not None:
        parsed = parse_group(group, limit)
        _refuse_large(parsed)
        finite = parsed.to_finite_group()
    numbers = np.arange(0 if finite is None else len(finite.table))
    if group is None or finite is None or not np.array_equal(finite.table, (numbers[:, None] + numbers) % len(numbers)):
        raise ValueError("The neurons of a transformer are read for addition modulo n alone: give --group Zn.")
    network = load_pair_transformer(checkpoint, len(numbers))
    tables = network.tables()
    reading, numbering = read_addition(tables), None
    if reading.right < 1 and (found := isotopism(tables.logits.argmax(axis=2), finite)) is not None:
        parts = {"rows": found.rows, "columns": found.columns, "labels": found.labels}
        reading = read_addition(tables.renumbered(*(np.argsort(part) for part in parts.values())))
        numbering = {name: tuple(map(str, part)) for name, part in parts.items()}
    dimensions = sorted({head.key_dimension for head in network.heads.heads})
    scale = f"divided by {' or '.join(f'sqrt({k})' for k in dimensions)}"
    return TransformerAddition(group, reading, numbering, scale)


def _names(group: FiniteGroup) -> list[str]:
    """The elements as they are written: the numbers 0, ..., n - 1 if they are added modulo n."""
    n = len(group.table)
    numbers = np.arange(n)
    cyclic = np.array_equal(group.table, (numbers[:, None] + numbers) % n)
    return [str(name) for name in (numbers if cyclic else group.elements)]


def _measured(
    weights: OperationWeights, values: ArrayLike, group: FiniteGroup | None
) -> tuple[OperationWeights, MeasuredMargin, dict[str, tuple[str, ...]] | None, float | None]:
    """The margin, in the network's own numbering if it has one of a group, and how right it is as a ReLU network."""
    measured = measured_margin(weights, values)
    if measured.right == 1:
        return weights, measured, None, None
    found = None if group is None else isotopism(predicted_labels(weights), group)
    if found is not None and group is not None:
        names = _names(group)
        parts = {"rows": found.rows, "columns": found.columns, "labels": found.labels}
        ordered = [part[np.argsort(at)] for part, at in zip(weights.parts, parts.values(), strict=True)]
        weights = OperationWeights(ordered[0], ordered[1], ordered[2], weights.source)
        numbering = {name: tuple(names[i] for i in at) for name, at in parts.items()}
        return weights, measured_margin(weights, group.table), numbering, None
    labels = np.asarray(values)
    given = labels != MISSING
    as_relu = float((predicted_labels(weights, relu=True) == labels)[given].mean())
    return weights, measured, None, as_relu if as_relu > measured.right else None


def _of_table(checkpoint: Path, text: str, cells: str | None, limit: int) -> MarginOfCheckpoint:
    table = parse_operation(text, cells)
    weights = load_operation_weights(checkpoint, table.rows, table.columns, table.label_count)
    kind = named_group_or_operation(text, cells, None, limit)
    with err.status(f"certifying {escape(text)}"):
        if isinstance(kind, Operation):
            from lemmata.certificates.operations.certify import (
                certify_operation,
            )  # solvers, which groups can do without

            document = certify_operation(table).document
        else:
            _refuse_large(kind)
            document, _ = _accepted(kind)
    group = None if isinstance(kind, Operation) else kind.to_finite_group()
    same = group is not None and np.array_equal(group.table, table.array())
    weights, measured, numbering, as_relu = _measured(weights, table.array(), group if same else None)
    a, b, c = measured.worst
    return MarginOfCheckpoint(
        table.name,
        weights.source,
        measured,
        document["margin"]["lower"],
        document["margin"]["upper"],
        document["grade"],
        (
            table.row_names[a],
            table.column_names[b],
            table.label_names[table.values[a][b]],
            table.label_names[c],
        ),
        numbering=numbering,
        as_relu=as_relu,
    )


def _accepted(group: PermutationGroup) -> tuple[Document, GroupMarginCertificate]:
    """The document of a group, which the kernel has accepted, and the certificate that it was written from."""
    certificate = certify_group(group)
    document: Document = document_of(certificate)
    try:
        kernel.check(dumps(document))
    except (kernel.MalformedError, kernel.ViolatedError) as error:
        raise ValueError(
            f"The kernel does not accept the certificate of {group.name}, so there is no deficit: {error}."
        ) from error
    return document, certificate


def _refuse_large(group: PermutationGroup) -> None:
    if group.order > MAX_TABLE_ORDER:
        raise ValueError(
            f"{group.name} has {group.order} elements; networks are evaluated for up to {MAX_TABLE_ORDER}."
        )
    if (reason := kernel_refusal(group)) is not None:
        raise ValueError(f"There is no deficit of a network for {group.name}: {reason}.")


def _refuse_renumbered(name: str, group: PermutationGroup) -> None:
    """ValueError for a Cayley table in a file whose elements the group numbers in another order."""
    if not name.strip().startswith("table:") or not name.strip().lower().endswith(".csv"):
        return
    if parse_operation(name).values != tuple(map(tuple, group.to_finite_group().table.tolist())):
        raise ValueError(f"{name} numbers its elements with the identity elsewhere than at 0: give it as --operation.")
