"""The experiments of section D.2: committed results of runs, their criteria, and slices that are repeated.

The runs are those of `lemmata experiment run`; the criteria were written down before them. The numbers of the results
follow from their items, and the beginning of an item comes out bit for bit with the code of today.
"""

from __future__ import annotations

from collections.abc import Callable

from theorems.evidence import check
from theorems.experiments import assert_met, committed_results, recomputed, slice_again, starts
from theorems.feature_emergence.experiments.modular import MODULAR_31


@check("feature-emergence:experiment-D.2.1", grade="sampled", target="corrected", cases="p = 31, seeds 0, 1, 2")
def test_modular_addition_31(record_property: Callable[[str, object], None]) -> None:
    """Figures 7.1, 7.4 and D.1. Quadratic networks: margin gamma*, one frequency in every neuron, equal masses. ReLUs:
    power near 0.93 at one frequency. The power of a frequency is that of j and -j together.
    """
    summary = committed_results(MODULAR_31)
    assert recomputed(summary) == summary
    assert starts(*slice_again(summary))
    record_property("numbers", summary["numbers"])
    assert_met(
        summary,
        "all pairs are answered rightly",
        "quadratic: the margin ends between 0.999 and 1.00001",
        "the median of the largest power is below 0.5 at the start",
        "quadratic: u, v and w of every neuron",
        "ReLU: the largest power of u ends with a median from 0.85 to 0.97",
        "ReLU: nine of ten neurons",
        "every frequency has neurons",
        "the distribution over the frequencies ends within 0.2",
        "quadratic: the mass of every frequency",
    )
