"""Faults planted in `Head`: which chapters see them, by the checks that decide their statements.

| fault                  | induction_heads | turing | deep_icgd | hidden_progress |
|------------------------|-----------------|--------|-----------|-----------------|
| scores times 2         | red             | -      | red       | red             |
| scores times 11/10     | red             | -      | red       | red             |
| scores times 1/2       | red             | red    | red       | red             |
| mask reversed          | red             | red    | -         | -               |
| mask one token too far | red             | -      | -         | -               |
| last token hidden      | red             | red    | red       | red             |
| null key doubled       | -               | red    | -         | -               |
| null key left out      | -               | red    | -         | -               |
| relative keys shifted  | red             | -      | -         | -               |
| relative keys left out | red             | -      | -         | -               |

Where there is a dash the chapter cannot see the fault: a hard maximum does not change with a positive scale, and the
softmax of remark 4.1 has to be sharp enough, so that larger scores only help; the heads of deep_icgd and of the parity
transformer see all tokens, without a mask; in a batch of words those that are shorter see one row of padding too many,
whose key is the code of cell 0, where no head stands on a one-way tape; only machines have null pairs, and only
induction heads relative keys. feature_emergence has no attention.

The chapters that have no checks yet (qstr, pareto_frontiers, variable_creation) will take their heads from
`lemmata.constructions.networks` too. The registry stands for them: its entries are compared with torch modules, which
share no code with `Head`, and stored heads with their matrices.

| fault, registry        | softmax | hard | relu | relative | null | decoder | induction | parity | descent |
|------------------------|---------|------|------|----------|------|---------|-----------|--------|---------|
| scores times 2         | red     | -    | red  | red      | -    | -       | red       | red    | red     |
| scores times 11/10     | red     | -    | red  | red      | -    | -       | red       | red    | red     |
| scores times 1/2       | red     | -    | red  | red      | -    | -       | red       | red    | red     |
| mask reversed          | red     | red  | -    | red      | red  | -       | red       | -      | -       |
| mask one token too far | red     | red  | -    | red      | red  | -       | red       | -      | -       |
| last token hidden      | red     | red  | red  | red      | red  | red     | red       | red    | red     |
| null key doubled       | -       | -    | -    | -        | red  | red     | -         | -      | -       |
| null key left out      | -       | -    | -    | -        | red  | red     | -         | -      | -       |
| relative keys shifted  | -       | -    | -    | red      | -    | -       | red       | -      | -       |
| relative keys left out | -       | -    | -    | red      | -    | -       | red       | -      | -       |
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.networks.head import Head
from lemmata.constructions.registry import REGISTRY
from lemmata.theorems.deep_icgd import test_block, test_network, test_softmax
from lemmata.theorems.hidden_progress import test_parity_transformer
from lemmata.theorems.induction_heads import test_induction_head
from lemmata.theorems.induction_heads import test_transformer as test_definition
from lemmata.theorems.plugin import Effort
from lemmata.theorems.turing import test_machine_runs, test_transformer_precision
from lemmata.theorems.turing import test_transformer as test_decoder
from tests.constructions.test_registry import test_number_systems_and_torch_agree as agree
from tests.constructions.test_registry import test_stored_and_dense_forms_agree as forms_agree
from tests.theorems.planted_faults import UNRECORDED

Patch = Callable[[pytest.MonkeyPatch], None]


def unrecorded(name: str, value: Any) -> None:
    """Takes the place of the fixture `record_property`."""


def given_case(test: Any, **arguments: Any) -> None:
    """A test of Hypothesis on one case."""
    test.hypothesis.inner_test(**arguments)


# ---- faults


def scores_times(factor: fmpq) -> Patch:
    original = Head._scaled

    def scaled(self: Head, scores: Any) -> Any:
        return original(self, scores) * (factor if scores.dtype == object else float(factor.p) / float(factor.q))

    return lambda patch: patch.setattr(Head, "_scaled", scaled)


def mask(change: Callable[[np.ndarray], np.ndarray], *, always: bool = False) -> Patch:
    """The mask changed; with ``always`` also where all tokens are seen, which is a mask of ones then."""
    original = Head.weights

    def weights(self: Head, scores: Any, visible: Any = None, **options: Any) -> Any:
        shape = (*scores.shape[:-1], scores.shape[-1] - (self.null is not None))
        if visible is not None or always:
            visible = change(np.array(np.broadcast_to(True if visible is None else visible, shape)))
        return original(self, scores, visible, **options)

    return lambda patch: patch.setattr(Head, "weights", weights)


def one_too_far(visible: np.ndarray) -> np.ndarray:
    visible[..., 1:] |= visible[..., :-1].copy()
    return visible


def without_last(visible: np.ndarray) -> np.ndarray:
    if visible.shape[-1] > 1:
        visible[..., -1] = False
    return visible


def scored_with(name: str, change: Callable[[Any], Any]) -> Patch:
    """Scores of a head of which a part is another one."""
    original = Head._scores

    def scores(self: Head, queries: Any, keys: Any) -> Any:
        faulty = copy.copy(self)
        object.__setattr__(faulty, name, change(getattr(self, name)))
        return original(faulty, queries, keys)

    return lambda patch: patch.setattr(Head, "_scores", scores)


def null_key_times(factor: int) -> Patch:
    return scored_with("null", lambda null: None if null is None else (null[0] * factor, null[1]))


FAULTS: Mapping[str, Patch] = {
    "scores times 2": scores_times(fmpq(2)),
    "scores times 11/10": scores_times(fmpq(11, 10)),
    "scores times 1/2": scores_times(fmpq(1, 2)),
    "mask reversed": mask(lambda visible: np.flip(visible, axis=(-2, -1))),
    "mask one token too far": mask(one_too_far),
    "last token hidden": mask(without_last, always=True),
    "null key doubled": null_key_times(2),
    "null key left out": null_key_times(0),
    "relative keys shifted": scored_with("relative_keys", lambda table: np.roll(table, 1, axis=0)),
    "relative keys left out": scored_with("relative_keys", lambda table: table * 0),
}


# ---- checks of the chapters, each in less than a few seconds

CHECKS: Mapping[str, tuple[Callable[[], None], ...]] = {
    "induction_heads": (
        lambda: given_case(test_definition.test_forward_pass_is_that_of_8_4_and_8_5, seed=1, x=[1, 2, 2, 1, 2]),
        lambda: test_induction_head.test_printed_construction_adds_a_transition_at_the_first_token(UNRECORDED),
        lambda: test_induction_head.test_bound_is_attained_to_one_per_cent_when_the_first_layer_is_sharp(),
    ),
    "turing": (
        lambda: test_decoder.test_forward_pass_is_the_printed_one(2),
        lambda: test_machine_runs.test_palindromes_are_recognised(Effort("quick")),
        lambda: test_transformer_precision.test_softmax_computes_the_same_from_a_small_sharpness_on(
            Effort("quick"), unrecorded
        ),
    ),
    "deep_icgd": (
        lambda: test_block.test_one_block_is_one_projected_step("linear", 1, Effort("quick"), unrecorded),
        lambda: test_network.test_heads_of_the_library_have_the_corrected_matrix_form(3, 2),
        lambda: test_softmax.test_layers_of_the_library_make_the_block(2, 3, 3),
    ),
    "hidden_progress": (
        lambda: test_parity_transformer.test_explicit_weights_represent_parities_on_all_inputs(
            Effort("quick"), unrecorded
        ),
        lambda: test_parity_transformer.test_the_torch_module_agrees_and_positions_carry_the_symmetry(),
    ),
}


def is_red(check: Callable[[], None]) -> bool:
    """Whether a check fails, or a fault makes the head refuse its input."""
    try:
        check()
    except (AssertionError, ValueError):
        return True
    return False


def table(first: str) -> dict[str, set[str]]:
    """The columns that are red for each fault, of the table in the docstring of this module with this first cell."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (__doc__ or "").splitlines() if "|" in line]
    start = next(number for number, row in enumerate(rows) if row[0] == first)
    body = rows[start + 2 : start + 2 + len(FAULTS)]
    return {
        name: {head for head, cell in zip(rows[start][1:], row, strict=True) if cell == "red"} for name, *row in body
    }


SEEN, SEEN_IN_REGISTRY = table("fault"), table("fault, registry")

ENTRIES: Mapping[str, str] = {
    "softmax": "layer: head, softmax",
    "hard": "layer: head, hard maximum",
    "relu": "layer: head, ReLU",
    "relative": "layer: head, relative keys and sharpness",
    "null": "layer: head, null pair",
    "decoder": "layer: decoder",
    "induction": "induction: bigram head",
    "parity": "parity: transformer",
    "descent": "descent: ReLU attention",
}


def test_the_tables_name_all_faults_chapters_and_entries() -> None:
    assert list(SEEN) == list(SEEN_IN_REGISTRY) == list(FAULTS)
    assert set.union(*SEEN.values()) == set(CHECKS)
    assert set.union(*SEEN_IN_REGISTRY.values()) == set(ENTRIES)
    assert all(SEEN.values())
    assert all(SEEN_IN_REGISTRY.values())


@pytest.mark.parametrize("chapter", CHECKS)
def test_checks_pass_without_a_fault(chapter: str) -> None:
    for check in CHECKS[chapter]:
        check()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("chapter", CHECKS)
def test_a_fault_turns_checks_of_chapters_red(chapter: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    assert any(is_red(check) for check in CHECKS[chapter]) == (chapter in SEEN[fault])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_turns_entries_of_the_registry_red(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {one.name: one for one in REGISTRY}
    FAULTS[fault](monkeypatch)
    red = set[str]()
    for name, entry in ENTRIES.items():
        one = entries[entry]
        if is_red(lambda one=one: agree(one, 1)) or (one.dense and is_red(lambda one=one: forms_agree(one))):
            red.add(name)
    assert red == SEEN_IN_REGISTRY[fault]
