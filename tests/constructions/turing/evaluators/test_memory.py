"""The memory that an evaluator says it needs, beside what NumPy allocates; the layer that records a step."""

from __future__ import annotations

import tracemalloc

import pytest

from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.evaluators.memory import dense_memory
from lemmata.constructions.turing.evaluators.registry import DENSE
from lemmata.constructions.turing.evaluators.run import recording_layer
from lemmata.constructions.turing.machine import LeftEnd, palindrome_machine


def test_each_word_takes_about_what_is_said() -> None:
    """The growth of the peak from 1 to 12 words lies between 1 and 1.6 times what is announced."""
    transformer, peaks = compile_turing_machine(palindrome_machine(), 60), []
    for words in (1, 12):
        tracemalloc.start()
        DENSE.run(transformer, [(1, 2, 1)] * words)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    said = dense_memory(transformer, 12, False) - dense_memory(transformer, 1, False)
    assert said < peaks[1] - peaks[0] < 1.6 * said


@pytest.mark.parametrize("rule", ["refuse", "two-way", "stay"])
def test_the_last_layer_that_looks_back_records(rule: LeftEnd) -> None:
    transformer = compile_turing_machine(palindrome_machine(), 6, left_end=rule)
    looks_back = [layer.self_attention is not None for layer in transformer.layers]
    last = recording_layer(transformer)
    assert looks_back[last]
    assert not any(looks_back[last + 1 :])
