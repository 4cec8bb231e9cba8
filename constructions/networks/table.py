"""The table of a stack of layers: what each reads, writes and drops, its heads, hidden units, norm and weights.

`layer_table(stream, layers, names)` reads it off the weights, `str(table)` is the text, `table.rows` the entries:

    table = layer_table(block.layout.stream, block.layers, purposes, norm=descent_norm)
    print(table)
    table.rows[0].reads, sum(row.heads for row in table.rows)

Each layer answers for itself (`Layer.kind`, `reads`, `writes`, `drops`, `head_count`, `unit_count`, `one_norm`,
`count`); what a residual carries on is neither read nor written. A construction names its layers, may count another
norm than the sum of absolute values, and may add `columns` of its own, functions of the layer. Columns that are empty
in every row are left out of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lemmata.constructions.networks.layer import Layer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.numbers import to_float


@dataclass(frozen=True)
class LayerSummary:
    """One line of the table.

    Attributes:
        number: 1, 2, ...
        name: what the construction calls the layer, for instance its purpose or its lemma.
        kind: "attention", "MLP" and so on.
        reads, writes: names of blocks of the stream, in its order; a residual left out.
        drops: names of the blocks that are 0 after the layer whatever they held.
        heads: of attention or multiplication.
        units: hidden units of a token-wise map.
        norm: the 1-norm of the weights, unless the table says otherwise.
        count: the weights that are not zero.
        columns: further entries, by the name of the column.
    """

    number: int
    name: str
    kind: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    drops: tuple[str, ...]
    heads: int
    units: int
    norm: Any
    count: int
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class LayerTable:
    """The summaries of all layers over one stream; its text by `str`."""

    stream: ResidualStream
    rows: tuple[LayerSummary, ...]

    def __iter__(self) -> Iterator[LayerSummary]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> LayerSummary:
        """The first layer of this name.

        Raises:
            KeyError: if there is none.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"There is no layer {name!r}; the layers are {', '.join(row.name for row in self.rows)}.")

    def __str__(self) -> str:
        """One line per layer below a line of headings, and a last line with the totals."""
        lines = [_cells(row) for row in self.rows]
        titles = [title for title in lines[0] if any(line[title] for line in lines)]
        cells = [titles, *([line[title] for title in titles] for line in lines)]
        cells[0] = ["" if title == "number" else title for title in titles]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
        heads, units, count = (sum(getattr(row, name) for row in self.rows) for name in ("heads", "units", "count"))
        text.append(f"width {self.stream.width}, {heads} heads, {units} hidden units, {count} weights other than 0")
        return "\n".join(text)


def layer_table(
    stream: ResidualStream,
    layers: Sequence[Layer],
    names: Sequence[str],
    *,
    norm: Callable[[Any], Any] = lambda layer: layer.one_norm,
    columns: Mapping[str, Callable[[Any], Any]] = MappingProxyType({}),
) -> LayerTable:
    """The table of layers that read and write one stream.

    Args:
        stream: its blocks give the names.
        layers: at least one, first to last.
        names: one for each layer.
        norm: of a layer, the sum of the absolute values of its weights by default.
        columns: further columns, functions of a layer, by name.

    Raises:
        ValueError: if there is no layer, or another number of names.
    """
    if not layers or len(names) != len(layers):
        raise ValueError(f"A table needs layers and a name for each, not {len(layers)} layers and {len(names)} names.")
    rows = (
        LayerSummary(
            number=number,
            name=name,
            kind=layer.kind,
            reads=layer.reads(stream),
            writes=layer.writes(stream),
            drops=layer.drops(stream),
            heads=layer.head_count,
            units=layer.unit_count,
            norm=norm(layer),
            count=layer.count,
            columns=MappingProxyType({title: column(layer) for title, column in columns.items()}),
        )
        for number, (name, layer) in enumerate(zip(names, layers, strict=True), start=1)
    )
    return LayerTable(stream, tuple(rows))


def _cells(row: LayerSummary) -> dict[str, str]:
    """The entries of one line as text, by the heading of their column."""
    return {
        "number": str(row.number),
        "layer": row.kind,
        "name": row.name,
        "reads": ", ".join(row.reads),
        "writes": ", ".join(row.writes),
        "drops": ", ".join(row.drops),
        "heads": str(row.heads or ""),
        "units": str(row.units or ""),
        "norm": _number(row.norm),
        "weights": str(row.count),
        **{title: _number(value) for title, value in row.columns.items()},
    }


def _number(value: Any) -> str:
    """A number to four digits, a text as it is, and a tuple entry by entry."""
    if isinstance(value, str):
        return value
    return ", ".join(map(_number, value)) if isinstance(value, tuple) else f"{float(to_float([value])[0]):.4g}"
