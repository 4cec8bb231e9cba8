"""The report of the success frontier of a sparse parity: a table, and a picture in the plane of width and samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from flint import arb, fmpq
from rich.console import Console

from lemmata.constructions.parity.frontier import (
    ProofSizes,
    SparseStart,
    frontier_point,
    hidden_samples,
    printed_sizes,
    proof_sizes,
    sparse_start,
    usable_sparsities,
)
from lemmata.constructions.parity.frontier_runs import enough_samples
from lemmata.reports.bounds import rounded_up
from lemmata.reports.pictures import save_figure
from lemmata.reports.tables import plain_table, print_table

__all__ = [
    "FrontierRow",
    "draw_frontier",
    "frontier_rows",
    "plot_frontier",
    "print_frontier",
    "shown_sparsities",
    "with_runs",
]

_ROWS = 12  # of a table of all sparsities
_DRAWN = 10**300  # the largest number in a picture
_UNDER, _OVER, _GREY, _RED = "#D55E00", "#0072B2", "#666666", "#CC79A7"  # told apart by everybody


@dataclass(frozen=True)
class FrontierRow:
    """A sparse start, the width and the samples that one step needs, and the sizes of the proofs (None if none).

    ``proof`` has the constants of the repaired theorem, ``printed`` those of the printed proof, ``found`` the number of
    samples that was enough in all runs (None without runs, where one failed with all samples, and for too much work).
    """

    start: SparseStart
    width: int
    samples: int
    proof: ProofSizes | None
    printed: ProofSizes | None
    found: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON; exact numbers as strings."""
        values = self.start.values
        numbers = {
            "s": self.start.s, "regime": self.start.regime, "good": str(self.start.good), "biases": self.start.biases,
            "relevant": str(values.relevant), "irrelevant": str(values.irrelevant), "width": self.width,
            "samples": self.samples, "found": self.found,
        }  # fmt: skip
        proofs = {name: None if sizes is None else asdict(sizes)
                  for name, sizes in (("proof", self.proof), ("printed", self.printed))}  # fmt: skip
        return {**numbers, **proofs}

    def risks(self, copies: int, width: int | None, samples: int | None) -> dict[str, float]:
        """Bounds for what may fail with a given width, and with a given number of samples (at the row's width if none).

        ``short``: the probability that some bias has fewer good pairs than ``copies``. ``off``: that some estimated
        gradient is further from the population's than the tolerance.
        """
        pairs = self.width // 2 if width is None else width // 2
        risks = {}
        if width is not None:
            risks["short"] = float((1 - self.start.coverage(pairs, copies)).upper())
        if samples is not None:
            risks["off"] = float(self.start.missed(pairs, samples).upper())
        return risks


def frontier_rows(
    n: int, k: int, sparsities: Sequence[int], delta: fmpq, epsilon: fmpq, copies: int
) -> list[FrontierRow]:
    """One row for each sparsity; errors as `lemmata.constructions.parity.frontier.sparse_start`."""
    rows = []
    for s in sparsities:
        start = sparse_start(n, k, s)
        width, samples = frontier_point(start, delta, copies)
        over = start.regime == "over"
        told = start.in_theorems and (over or 4 * abs(start.values.irrelevant) <= abs(start.values.relevant))
        proof = proof_sizes(start, epsilon, delta) if told else None
        printed = printed_sizes(start, epsilon, delta) if told and over else None
        rows.append(FrontierRow(start, width, samples, proof, printed))
    return rows


def with_runs(rows: Sequence[FrontierRow], runs: int, told: Callable[[int], object]) -> list[FrontierRow]:
    """The rows with what so many runs found, seeds 0, 1, ...; ``told`` is called with each sparsity before."""
    found = []
    for row in rows:
        told(row.start.s)
        found.append(replace(row, found=enough_samples(row.start, row.width // 2, row.samples, runs)))
    return found


def shown_sparsities(n: int, k: int, most: int = _ROWS) -> list[int]:
    """At most so many usable sparsities, half of them or fewer below k; those above k are spread evenly in log.

    Raises:
        ValueError: if there are none, or as `usable_sparsities`.
    """
    usable = usable_sparsities(n, k)
    if not usable:
        raise ValueError(
            f"No sparsity lets truncation tell relevant from irrelevant inputs at n = {n}, k = {k}: "
            f"take n >= {3 * k + 1 if k % 2 else 3 * k - 2}, or give a sparsity."
        )
    under, over = [s for s in usable if s < k], [s for s in usable if s > k]
    under = under[:: -(-len(under) // (most // 2))] if under else []
    room = max(2, most - len(under))
    if len(over) > room:
        steps = [over[0] * (over[-1] / over[0]) ** (i / (room - 1)) for i in range(room)]
        over = sorted({min(over, key=lambda s: abs(math.log(s / step))) for step in steps})
    return [*under, *over]


def print_frontier(
    out: Console, n: int, k: int, rows: Sequence[FrontierRow], delta: fmpq, epsilon: fmpq,
    copies: int = 1, width: int | None = None, samples: int | None = None, runs: int = 0,
) -> None:  # fmt: skip
    """The table of the rows, and what a given width and number of samples are enough for."""
    out.print(f"[bold]Success frontier of the parity of {k} of {n} inputs[/bold]")
    out.print(
        f"one truncated gradient step from s-sparse neurons finds the {k} inputs, at every bias of the read-out, with "
        f"probability 1 - {_short(delta)}\n",
        soft_wrap=True,
    )
    ran = ["found"] if runs else []
    table = plain_table("s", "P(good)", "gap", "width", "samples", *ran, "hidden", "width*", "samples*")
    for column in table.columns:
        column.justify = "right"
    for row in rows:
        proof = row.proof
        table.add_row(
            f"{row.start.s}",
            _decimal(row.start.good),
            _decimal(row.start.values.gap),
            _count(row.width),
            _count(row.samples),
            *([] if not runs else ["-" if row.found is None else _count(row.found)]),
            _count(hidden_samples(n, k, row.width)),
            "-" if proof is None else _count(proof.width),
            "-" if proof is None else _count(proof.samples),
        )
    print_table(out, table)
    lines = ["hidden: up to so many samples, noise of their size can hide some parity, with probability 1/2"]
    if runs:
        lines.insert(0, "samples: proved to be enough for all estimated gradients, by Hoeffding's inequality")
        of = f"all of {runs} runs (seeds 0 to {runs - 1})"
        lines.insert(1, f"found: enough in {of}; - where one failed with all samples, or for too much work")
    if any(row.proof is not None for row in rows):
        lines.append(
            f"*: with all constants of theorems C.11 (s > k) and C.16 (s < k), as repaired, to within {_short(epsilon)}"
        )
    if not all(row.start.in_theorems for row in rows):
        lines.append("*: the theorems are for even k, odd s above k and even s below it, cut at half the gradient on S")
    for start in [row.start for row in rows if row.start.midway]:
        relevant, irrelevant = (f"{float(value):.3g}" for value in (start.values.relevant, start.values.irrelevant))
        lines.append(f"   s = {start.s}: cut midway between the gradients {relevant} on S and {irrelevant} off it")
    printed = [row.printed for row in rows if row.printed is not None]
    if printed:
        samples_asked = _count(min(sizes.samples for sizes in printed))
        least = _count(min(sizes.least_s for sizes in printed if sizes.least_s is not None))
        lines.append(f"   the printed proof for s > k asks for {samples_asked} samples or more, and for s >= {least}")
    for line in lines:
        out.print(line, soft_wrap=True)
    if width is not None or samples is not None:
        _print_budget(out, n, k, rows, copies, width, samples)


def _print_budget(
    out: Console, n: int, k: int, rows: Sequence[FrontierRow], copies: int, width: int | None, samples: int | None
) -> None:
    """What a width and a number of samples are enough for, sparsity by sparsity."""
    out.print(f"\n[bold]With {_budget(width, samples)}[/bold]")
    pair = "a good pair" if copies == 1 else f"{copies} good pairs"
    table = plain_table("s", f"P(some bias lacks {pair})", "P(some gradient is off)")
    for row in rows:
        risks = row.risks(copies, width, samples)
        lacking = "-" if width is None else f"<= {rounded_up(risks['short'])}"
        off = "-" if samples is None else f"<= {rounded_up(risks['off'])}" if risks["off"] < 1 else "not bounded"
        table.add_row(f"{row.start.s}", lacking, off)
    print_table(out, table)
    if width is not None and samples is not None:
        line = hidden_samples(n, k, width)
        if samples <= line:
            out.print(
                f"[red]below the lower bound[/red]: noise as large as that of {samples} samples can hide a parity"
            )
        else:
            out.print(f"lower bound at this width: {_count(line)} samples")


def _budget(width: int | None, samples: int | None) -> str:
    parts = [] if width is None else [f"width {width}"]
    return " and ".join([*parts, *([] if samples is None else [f"{samples} samples"])])


def draw_frontier(n: int, k: int, rows: Sequence[FrontierRow], path: Path) -> None:
    """Draw the rows in the plane of width and samples, with the sizes of the proofs and the lower bound, into a file.

    Raises:
        ValueError: as `save_figure`, or a number is above 10^300.
        OSError: if it cannot be written.
    """
    from matplotlib.figure import Figure

    largest = [n for row in rows for n in (row.width, row.samples, *_sizes(row.proof), *_sizes(row.printed))]
    if max(largest) > _DRAWN:
        raise ValueError("The picture has no room for numbers above 10^300: give larger sparsities, or a smaller k.")
    figure = Figure(figsize=(7.2, 4.6), dpi=150, layout="constrained")
    plot_frontier(figure.add_subplot(), n, k, rows)
    save_figure(figure, path)


def plot_frontier(axes: Any, n: int, k: int, rows: Sequence[FrontierRow]) -> None:
    """The same picture in axes of matplotlib."""
    sizes = [row.width for row in rows] + [size.width for row in rows for size in (row.proof, row.printed) if size]
    decades = math.log10(max(*sizes, math.comb(n, k))) - math.log10(2)
    for regime, colour, label, shift in (("under", _UNDER, f"s < {k}", -12), ("over", _OVER, f"s > {k}", 7)):
        part = [row for row in rows if row.start.regime == regime]
        if not part:
            continue
        axes.plot(
            [float(r.width) for r in part],
            [float(r.samples) for r in part],
            "o-",
            color=colour,
            ms=5,
            label=f"one step, {label}",
        )
        labelled = math.inf
        for row in sorted(part, key=lambda row: row.width):
            if abs(math.log10(row.width) - labelled) > 0.06 * decades:
                labelled = math.log10(row.width)
                axes.annotate(f"s={row.start.s}", (float(row.width), float(row.samples)), xytext=(0, shift), fontsize=7,
                              textcoords="offset points", color=colour, ha="center")  # fmt: skip
        for marker, name, found in (
            ("o", "with all constants", [row.proof for row in part]),
            ("x", "printed proof", [row.printed for row in part]),
        ):
            points = [_sizes(sizes) for sizes in found if sizes is not None]
            if points:
                axes.plot([float(x) for x, _ in points], [float(y) for _, y in points], marker, mfc="none",
                          color=colour, ms=4, label=f"{name}, {label}")  # fmt: skip
    widths = [2.0**i for i in range(1, 1 + max(2, math.ceil(math.log2(math.comb(n, k)))))]
    line = [(width, float(hidden_samples(n, k, int(width)))) for width in widths]
    line = [point for point in line if point[1] >= 1]
    if line:
        x, y = zip(*line, strict=True)
        axes.plot(x, y, color=_RED, label="lower bound, one step")
        axes.fill_between(x, 0.5, y, color=_RED, alpha=0.15, lw=0)
    axes.set(xscale="log", yscale="log", xlabel="width", ylabel="samples", ylim=(0.5, None),
             title=f"Finding a parity of {k} of {n} inputs in one step")  # fmt: skip
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(0, 0.62))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _sizes(sizes: ProofSizes | None) -> tuple[int, ...]:
    """Width and samples, nothing for None."""
    return () if sizes is None else (sizes.width, sizes.samples)


def _decimal(value: fmpq | arb) -> str:
    return f"{float(arb(value)):.3g}"


def _short(value: fmpq) -> str:
    return f"{float(arb(value)):g}"


def _count(value: int) -> str:
    """An integer in full up to six digits, and two digits of a larger one."""
    return f"{value:,}" if value < 10**6 else f"{Decimal(value):.1e}".replace("e+", "e")
