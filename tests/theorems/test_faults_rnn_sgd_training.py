"""Faults planted in Gram-Schmidt, comparators and training: a deciding check of the statement turns red with each."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.recurrent import comparator, concepts, elman
from lemmata.constructions.recurrent.concepts import TargetFunction
from lemmata.numerics.recurrent.gram_schmidt import gram_schmidt
from lemmata.numerics.recurrent.separation import state_cosines
from lemmata.numerics.recurrent.training import elman_steps
from lemmata.theorems.plugin import Effort
from lemmata.theorems.rnn_sgd import test_geometry, test_training
from lemmata.theorems.rnn_sgd.experiments import training
from lemmata.theorems.rnn_sgd.experiments.training import blind_bound, random_target
from tests.theorems.planted_faults import Fault, assert_seen, fault_name

QUICK = {"effort": Effort("quick")}
COMPARATOR, comparator_window = comparator.comparator, comparator.window_probability


def without_the_last_projection(vectors: Any) -> Any:
    """Each part is made orthogonal to all vectors before but the one just before it."""
    rows = gram_schmidt(vectors)
    if rows.dtype == object:
        rows[-1] = rows[-1] + rows[-2]
        return rows
    rows[-1] = (rows[-1] + 0.02 * rows[-2]) / np.linalg.norm(rows[-1] + 0.02 * rows[-2])
    return rows


def stretched(vectors: Any) -> Any:
    """The last vector is a fiftieth too long."""
    rows = gram_schmidt(vectors)
    rows[-1] = rows[-1] * (fmpq(51, 50) if rows.dtype == object else 1.02)
    return rows


def one_pass(vectors: Any) -> Any:
    """Each part is projected once."""
    rows = []
    for v in vectors:
        part = v
        for row in rows:
            part = part - (row @ part) * row
        rows.append(part / np.linalg.norm(part))
    return np.stack(rows)


def in_another_order(vectors: Any) -> Any:
    """The vectors from the last to the first."""
    return gram_schmidt(vectors[::-1])


def with_changed_weights(**changes: Any) -> Any:
    """The comparator whose weights are off by the given factors."""

    def faulty(*arguments: Any) -> comparator.Comparator:
        found = COMPARATOR(*arguments)
        weights = tuple(replace(w, **{k: getattr(w, k) * f for k, f in changes.items()}) for w in found.weights)
        return replace(found, weights=weights)

    return faulty


def with_larger_vectors(*arguments: Any) -> comparator.Comparator:
    """The comparator with all v_i larger by a fiftieth."""
    found = COMPARATOR(*arguments)
    return replace(found, vectors=1.02 * found.vectors)


def longer_backward(network: Any, run: Any, start: int, end: int) -> Any:
    """Back with one factor D too few."""
    result = network.readout
    for place in range(end, start, -1):
        result = (result * (run.active[place - 1] if place < end else 1)) @ network.state
    return result


def earlier_backward(network: Any, run: Any, start: int, end: int) -> Any:
    """Back with the patterns of the step before."""
    return elman.back(network, replace(run, active=np.roll(run.active, 1, axis=0)), start, end)


def small_entries(width: int, *rest: Any) -> elman.ElmanNetwork:
    """The initialisation with 2/m as the standard deviation of W."""
    network = elman.random_elman(width, *rest)
    return replace(network, state=network.state * (2 / width) ** 0.5)


def larger_entries(width: int, *rest: Any) -> elman.ElmanNetwork:
    """The initialisation with entries of W that are larger by a fortieth."""
    network = elman.random_elman(width, *rest)
    return replace(network, state=network.state * 1.025)


def without_later_tokens(network: elman.ElmanNetwork, tokens: Any) -> elman.Trace:
    """The trace on tokens of which all but the first are halved."""
    changed = tokens / 2
    changed[0] = tokens[0]
    return elman.trace(network, changed)


def same_rows(network: Any, run: Any, start: int, end: int) -> Any:
    """Back with the row of the first output for all outputs."""
    result = elman.back(network, run, start, end)
    return np.repeat(result[:1], len(result), axis=0)


def the_same(width: int, tokens: int, outputs: int, rng: Any) -> elman.ElmanNetwork:
    """The initialisation from one seed, whatever is asked for."""
    return elman.random_elman(width, tokens, outputs, np.random.default_rng(0))


NORM, BOUND = comparator.Comparator.frobenius_norm, comparator.Comparator.norm_bound


def of_one_sign(length: int, rng: Any) -> TargetFunction:
    """The random target with the same function for every position of the token: z for all of them."""
    target = random_target(length, rng)
    parts = tuple(replace(p, coefficients=(fmpq(0), fmpq(1))) for p in target.parts)
    return replace(target, parts=parts)


def record(name: str, value: object) -> None:
    """Nothing is recorded."""


FAULTS = [
    *(
        Fault(
            name, "fact-position-adaptivity", test_training, "test_positions_are_told_apart", training, attribute,
            faulty, {**QUICK, "record_property": record},
        )
        for name, attribute, faulty in (
            ("the rate", "elman_steps", lambda n, x, y, rate, scale: elman_steps(n, x, y, 1.02 * rate, scale)),
            ("the same function at all positions", "random_target", of_one_sign),
            ("the bound", "blind_bound", lambda target, x: 1.02 * blind_bound(target, x)),
        )
    ),
    *(
        Fault(name, "definition-notation", test_geometry, check, test_geometry, "gram_schmidt", faulty)
        for name, check, faulty in (
            ("a projection is left out, exact", "test_gram_schmidt_is_exact", without_the_last_projection),
            ("another order, exact", "test_gram_schmidt_is_exact", in_another_order),
            ("a projection is left out", "test_gram_schmidt_in_floating_point", without_the_last_projection),
            ("a length", "test_gram_schmidt_in_floating_point", stretched),
            ("a single pass", "test_gram_schmidt_in_floating_point", one_pass),
        )
    ),
    *(
        Fault(name, "fact-init-geometry", test_geometry, check, test_geometry, attribute, faulty, QUICK)
        for name, check, attribute, faulty in (
            ("the variance of W", "test_norms_of_states", "random_elman", small_entries),
            ("larger entries of W", "test_norms_of_states", "random_elman", larger_entries),
            ("no input after the first", "test_norms_of_states", "trace", without_later_tokens),
            ("the kernel of another order", "test_states_at_different_times_are_apart", "state_cosines",
             lambda n: [0 * c + (1 + c) / 2 for c in state_cosines(n)]),
            ("patterns of the step before", "test_backward_vectors_keep_their_length", "back", earlier_backward),
            ("a pattern too few in Back", "test_backward_vectors_keep_their_length", "back", longer_backward),
            ("one output for all", "test_backward_vectors_keep_their_length", "back", same_rows),
            ("Back of the null sequence for both", "test_backward_matrices_are_near_those_of_the_null_sequence",
             "input_sequence", lambda x, epsilon: concepts.null_sequence(6, 4, epsilon)),
            ("an input scale that stays", "test_backward_matrices_are_near_those_of_the_null_sequence",
             "input_sequence", lambda x, epsilon: concepts.input_sequence(x, 0.1)),
            ("rows that are not fresh", "test_a_few_fresh_rows_change_little", "random_elman", the_same),
        )
    ),
    Fault("cosines two per cent high", "fact-init-geometry", test_geometry, "test_the_cosines_of_the_limit",
          test_geometry, "state_cosines", lambda n: [c * 51 / 50 for c in state_cosines(n)]),
    *(
        Fault(name, "claim-G.1", test_geometry, "test_the_norm_of_the_comparator", owner, attribute, faulty, QUICK)
        for name, owner, attribute, faulty in (
            ("normalisers", test_geometry, "comparator", with_changed_weights(normaliser=1.02)),
            ("largest values", test_geometry, "comparator", with_changed_weights(largest=0.98)),
            ("the matrix", test_geometry, "comparator", with_larger_vectors),
            ("the window's probability", comparator, "window_probability",
             lambda window, norm: 1.02 * comparator_window(window, norm)),
            ("the norm", comparator.Comparator, "frobenius_norm", lambda c: 1.02 * NORM(c)),
            ("the bound", comparator.Comparator, "norm_bound", lambda c: 0.98 * BOUND(c)),
            ("a pattern too few in Back", comparator, "back", longer_backward),
            ("the variance of W", test_geometry, "random_elman", small_entries),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "rnn-sgd", monkeypatch)
