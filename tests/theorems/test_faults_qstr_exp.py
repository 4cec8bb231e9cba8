"""Faults planted in the training study of token regression: the deciding check of the trained matrices sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lemmata.numerics.tokens import codes as token_codes
from lemmata.numerics.tokens import encoding, prompts
from lemmata.theorems.evidence import MARK
from lemmata.theorems.plugin import Effort
from lemmata.theorems.qstr import test_experiments
from lemmata.theorems.qstr.experiments import long_prompts, query_key, samples, training
from tests.theorems.planted_faults import passes_without_fault

ARGUMENTS = {"effort": Effort("quick"), "record_property": lambda *_: None}
CHECK: Any = test_experiments.test_a_trained_head_compares_index_codes_with_position_codes

CODES: Any = training.random_sign_codes
ENCODE: Any = training.encode
DRAW: Any = training.draw_prompts
SCALE: Any = encoding.encoding_scale
NETWORK: Any = query_key.attention_network


def other_codes(count: int, dimension: int, seed: int) -> Any:
    """Codes of the next seed."""
    return CODES(count, dimension, seed + 1)


def small_codes(*arguments: Any) -> Any:
    """Codes without the root of d."""
    return SCALE(*arguments) / 10


def shifted_indices(*arguments: Any, **options: Any) -> Any:
    """Labels of the tokens after the indices."""
    drawn = DRAW(*arguments, **options)
    return prompts.Prompts(np.roll(drawn.tokens, 1, axis=1), drawn.indices)


def exchanged_blocks(drawn: Any, codes: Any, variant: Any) -> Any:
    """The codes of the index before those of the position."""
    z, d = ENCODE(drawn, codes, variant), drawn.dimension
    return np.concatenate([z[..., :d], z[..., d + codes.dimension :], z[..., d : d + codes.dimension]], axis=-1)


def sharp_network(width: int) -> Any:
    """Matrices of queries that start 2 % too large."""
    import torch

    network = NETWORK(width)
    with torch.no_grad():
        network.query.weight *= 1.02
    return network


def loose_codes(self: token_codes.PositionCodes) -> list[Any]:
    """Codes that violate nothing."""
    return []


FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "codes of another seed": (training, "random_sign_codes", other_codes),
    "codes a third as long": (encoding, "encoding_scale", small_codes),
    "tokens moved by one": (training, "draw_prompts", shifted_indices),
    "index before position": (training, "encode", exchanged_blocks),
    "queries 2 % too large": (query_key, "attention_network", sharp_network),
}


def test_the_check_decides_and_passes_without_a_fault() -> None:
    marks = [mark.args[0] for mark in CHECK.pytestmark if mark.name == MARK]
    assert "qstr:figure-2" in {one.statement for one in marks if not one.supporting}
    passes_without_fault(CHECK, ARGUMENTS)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_turns_red(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, faulty = FAULTS[fault]
    monkeypatch.setattr(owner, attribute, faulty)
    with pytest.raises(AssertionError):
        CHECK(**ARGUMENTS)


def test_the_counterexample_needs_the_violations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_codes.PositionCodes, "violations", loose_codes)
    with pytest.raises(AssertionError):
        test_experiments.test_the_printed_codes_of_a_hundred_positions_violate_the_assumption()


SAMPLES_CHECK: Any = test_experiments.test_the_samples_of_the_architectures
FEED_FORWARD: Any = samples.feed_forward_network


def linear_second_layer(*sizes: int) -> Any:
    """Without the second rectifier."""
    import torch

    network = FEED_FORWARD(*sizes)
    network[4] = torch.nn.Identity()
    return network


def turned(some: Any, others: Any) -> float:
    """The test for the other side."""
    return LESS(others, some)


LESS: Any = samples._less
SAMPLE_FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "one layer without a rectifier": (samples, "feed_forward_network", linear_second_layer),
    "codes of another seed": (training, "random_sign_codes", other_codes),
    "tokens moved by one": (training, "draw_prompts", shifted_indices),
    "the test for the other side": (samples, "_less", turned),
    "growth upside down": (samples, "_growth", lambda row: sum(row[min(row)]) / sum(row[max(row)])),
    "intervals of other runs": (
        long_prompts,
        "mean_interval",
        lambda row: samples.mean_interval([1.02 * x for x in row]),
    ),
}


def test_the_check_of_the_samples_decides_and_passes_without_a_fault() -> None:
    marks = [mark.args[0] for mark in SAMPLES_CHECK.pytestmark if mark.name == MARK]
    assert "qstr:figure-1" in {one.statement for one in marks if not one.supporting}
    passes_without_fault(SAMPLES_CHECK, {"record_property": lambda *_: None})


@pytest.mark.parametrize("fault", SAMPLE_FAULTS)
def test_the_check_of_the_samples_turns_red(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, faulty = SAMPLE_FAULTS[fault]
    monkeypatch.setattr(owner, attribute, faulty)
    with pytest.raises(AssertionError):
        SAMPLES_CHECK(lambda *_: None)
