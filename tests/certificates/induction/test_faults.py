"""Faults planted in what the certificates rest on, one at a time: each turns a test of this folder red."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import arb

from lemmata.certificates.induction import cells, circuits, document, layers, links, losses, moments, tables, windows
from lemmata.constructions.induction.head import CountingHead
from lemmata.numerics.markov import enclosed
from tests.certificates.induction import (
    test_circuits,
    test_document,
    test_layers,
    test_links,
    test_losses,
    test_tables,
)
from tests.numerics.markov import test_enclosed


@dataclass(frozen=True)
class Fault:
    """A replacement of a name of a module, and a test that passes without it, and with it fails or is refused."""

    name: str
    owner: Any
    attribute: str
    faulty: Callable[[Any], Any]
    check: Callable[..., None]
    arguments: tuple[Any, ...] = ()
    refusal: str | None = None


def scaled(factor, part=None):
    """The function with its result, or one part of its result, scaled."""

    def plant(old):
        def faulty(*arguments):
            found = old(*arguments)
            if part is None:
                return found * factor
            return tuple(entry * factor if i == part else entry for i, entry in enumerate(found))

        return faulty

    return plant


def narrowed(side):
    """Intervals whose one end is moved inwards by two per cent of their width, and 1e-9."""

    def plant(old):
        def faulty(*arguments):
            found = old(*arguments).copy()
            width = found[..., 1] - found[..., 0]
            found[..., side] += (1 - 2 * side) * (0.02 * width + 1e-9)
            return found

        return faulty

    return plant


def one_sum(place, factor):
    """Sums over classes of which one is scaled: 0 of e v, 5 of its square, 10 of the product with the sum of e."""

    def plant(old):
        def faulty(*arguments):
            found = old(*arguments).copy()
            found[..., place] *= factor
            return found

        return faulty

    return plant


def flattened(old):
    """The cost of a cell without its mean square."""
    return lambda one, outputs, mean, square, *rest: old(one, outputs, mean, 0.0 * square, *rest)


def exchanged(count):
    """Numbers of sequences of which the largest and the least are exchanged."""
    found = count.copy()
    most, least = np.argmax(count), np.argmin(np.where(count > 0, count, count.max() + 1))
    found.flat[most], found.flat[least] = count.flat[least], count.flat[most]
    return found


def _with_upper_gap(certificate, factor):
    low, high = certificate.proved.gap
    return replace(certificate, proved=replace(certificate.proved, gap=(low, high * factor)))


def of_torch(name, t):
    return test_losses.test_the_loss_is_that_of_torch, (name, t)


EVERY = test_losses.test_every_sequence_lies_in_its_cell
EVERY_KIND = test_layers.test_every_sequence_lies_in_its_cell
FAULTS = [
    Fault("values of both layers", tables, "_values", scaled(1.02), *of_torch("random", 3)),
    Fault("slopes of values", tables, "_linear_values", scaled(1.02), *of_torch("trained", 3)),
    Fault("scores of layer 1", tables, "_scores", scaled(1.02), *of_torch("random", 3)),
    Fault(
        "relative keys", tables, "_table", scaled(1.02), test_tables.test_tables_are_the_model, (test_losses.TRAINED,)
    ),
    Fault("cost of an output", cells, "_cost", scaled(arb(102) / 100), *of_torch("trained", 3)),
    Fault(
        "entropy rate",
        cells,
        "entropy_rate",
        scaled(arb(102) / 100),
        test_losses.test_the_strategies_are_those_of_the_reference,
    ),
    Fault(
        "share of counting",
        cells,
        "_class",
        lambda old: lambda *a: replace(old(*a), bigram=old(*a).bigram * 102 / 100),
        test_losses.test_a_perfect_counter_has_no_distance,
    ),
    Fault(
        "upper end of the gap",
        test_losses,
        "enumerate_losses",
        lambda old: lambda *a: _with_upper_gap(old(*a), 0.98),
        *of_torch("random", 3),
    ),
    Fault(
        "bounds rounded to the nearest",
        test_losses,
        "outwards",
        lambda old: lambda low, high, least=-np.inf: (max(float(low), least), float(high)),
        test_losses.test_bounds_are_rounded_outwards,
    ),
    Fault("distances", cells, "_distances", scaled(arb(98) / 100, 1), test_links.test_the_links_hold_on_all_sequences),
    Fault("exponential", losses, "EXP_TABLE", lambda table: table**1.02, *of_torch("trained", 3)),
    Fault("outputs of all sequences", losses, "all_outputs", scaled(1.02), EVERY, ("trained", 7, 2, 2)),
    Fault("largest ratios", windows, "extreme_ratios", narrowed(1), EVERY, ("trained", 9, 5, 32)),
    Fault("least ratios", windows, "extreme_ratios", narrowed(0), EVERY, ("trained", 9, 5, 32)),
    Fault("means of classes", losses, "class_means", scaled(1.02, 0), EVERY, ("trained", 9, 5, 32)),
    Fault(
        "sums over classes",
        moments,
        "sums_of_squares",
        one_sum(0, 1.02),
        EVERY,
        ("trained", 9, 5, 32),
        "finite interval",
    ),
    Fault(
        "squares of sums",
        moments,
        "sums_of_squares",
        one_sum(5, 0.98),
        test_losses.test_means_are_known_better_than_outputs,
    ),
    Fault(
        "products of sums",
        moments,
        "sums_of_squares",
        one_sum(10, 1.02),
        EVERY,
        ("random", 8, 3, 9),
        "finite interval",
    ),
    *(
        Fault(
            f"errors of {part}",
            moments,
            "_distance",
            lambda old: lambda *a: 0.5 * old(*a),
            test_losses.test_tables_that_are_known_to_within_a_twentieth_enclose_all_that_they_allow,
            (part,),
        )
        for part in ("copied", "pairs")
    ),
    Fault("curvature of a cost", cells, "_by_means", flattened, test_losses.test_the_mean_cost_of_a_cell),
    *(
        Fault(
            f"{name} means of layer 1",
            test_layers,
            "window_means",
            narrowed(side),
            test_layers.test_means_are_extreme,
            ("all at once",),
        )
        for name, side in (("least", 0), ("largest", 1))
    ),
    Fault("means of layer 1", windows, "window_means", scaled(0.9), EVERY, ("trained", 9, 5, 32)),
    Fault("distance of a query", windows, "_give_or_take", scaled(0.5), EVERY_KIND, ("two heads", 2, 9, 1)),
    Fault("rows in front", layers, "_in_front", scaled(arb(102) / 100), EVERY_KIND, ("all at once", 3, 9, 3)),
    Fault(
        "number of 2s before",
        losses,
        "ones_before",
        lambda old: lambda *a: np.maximum(old(*a) - 1, 0),
        EVERY,
        ("trained", 9, 5, 32),
    ),
    Fault(
        "evidence of a row",
        cells,
        "_row_evidence",
        scaled(2),
        test_layers.test_a_uniform_first_symbol,
        ("one layer behind a token",),
    ),
    Fault(
        "numbers of sequences",
        losses,
        "window_counts",
        lambda old: lambda *a: exchanged(old(*a)),
        EVERY,
        ("trained", 7, 2, 2),
    ),
    Fault(
        "evidence of the next symbol",
        enclosed,
        "_difference",
        scaled(arb(102) / 100),
        test_enclosed.test_evidences_contain_the_exact_ones,
        (5,),
    ),
    Fault(
        "attention on the previous token",
        circuits,
        "_least_previous",
        scaled(arb(99) / 100),
        test_circuits.test_the_least_attention_on_the_previous_token_is_attained,
        (test_losses.TRAINED,),
    ),
    Fault(
        "first score of the constructed head",
        circuits,
        "_constructed_scores",
        scaled(arb(102) / 100, 0),
        test_circuits.test_the_constructed_head_attends_as_it_is_said_to,
    ),
    Fault(
        "second score of the constructed head",
        circuits,
        "_constructed_scores",
        scaled(arb(102) / 100, 1),
        test_circuits.test_cut_and_patched_paths_are_what_they_say,
        ("QK of head 2 constructed", {"score": 16 / np.sqrt(6)}),
    ),
    Fault(
        "a path cut at another mass",
        circuits,
        "_cut",
        lambda old: (
            lambda table, base, slope: np.where(
                np.arange(table.shape[-1]) == base, old(table, base, slope) * 102 / 100, old(table, base, slope)
            )
        ),
        test_circuits.test_cut_and_patched_paths_are_what_they_say,
        ("no K-composition", {"key": 0.5}),
    ),
    Fault(
        "a tenth of the error of the circuit",
        CountingHead,
        "error_bound",
        lambda old: lambda self, t, matches: old(self, t, matches) / 10,
        test_links.test_every_output_of_the_circuit_lies_in_its_cell,
        ((24, 5),),
    ),
    Fault(
        "logits of the circuit",
        links,
        "_logits",
        lambda old: lambda *a: (0.1 * old(*a)[0] + 0.9 * old(*a)[1], old(*a)[1]),
        test_links.test_every_output_of_the_circuit_lies_in_its_cell,
        ((64, 7),),
    ),
    Fault(
        "slack of a document",
        document,
        "SLACK",
        lambda old: 1.0,
        test_document.test_edited_bounds_are_refused,
        ("sequences", "loss", 1, 1.02),
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name.replace(" ", "_") for fault in FAULTS])
def test_a_planted_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    enclosed.enclosed_evidence.cache_clear()
    fault.check(*fault.arguments)
    enclosed.enclosed_evidence.cache_clear()
    monkeypatch.setattr(fault.owner, fault.attribute, fault.faulty(getattr(fault.owner, fault.attribute)))
    failure = AssertionError if fault.refusal is None else ValueError
    with pytest.raises((failure, pytest.fail.Exception), match=fault.refusal):
        fault.check(*fault.arguments)
    monkeypatch.undo()
    enclosed.enclosed_evidence.cache_clear()
