"""Machines in the front door: what describes one, and what runs it."""

import numpy as np
import pytest

import lemmata as lm
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.evaluators.registry import EVALUATORS
from lemmata.constructions.turing.machine import busy_beaver, palindrome_machine

RULES = {("s", a): ("yes" if a == "1" else "no", a, "R") for a in "_12"}


def test_a_machine_comes_from_a_name_a_text_a_table_or_itself():
    assert lm.machine("bb4") == busy_beaver(4)
    assert lm.machine("1RB1LB_1LA1RZ").table == busy_beaver(2).table
    assert lm.machine(busy_beaver(3)) == busy_beaver(3)
    first_letter = lm.machine(RULES, start="s", blank="_", accept=["yes"], reject=["no"], name="first letter")
    assert first_letter.name == "first letter"
    assert first_letter.states[first_letter.start] == "s"
    with pytest.raises(ValueError, match="Nor is it one of the names palindromes, counter, bb2"):
        lm.machine("palindrome")
    with pytest.raises(TypeError, match="The options start belong to a table of rules"):
        lm.machine("bb4", start="A")


def test_compiled_machines_are_those_of_the_compiler():
    transformer = lm.compile_machine("palindromes", 12, bits=5)
    reference = compile_turing_machine(palindrome_machine(), 12, bits=5)
    assert transformer.layout.bits == 5
    assert len(transformer.layers) == len(reference.layers)
    assert all((a == b).all() for a, b in zip(_arrays(transformer), _arrays(reference), strict=True))
    assert lm.compile_machine("bb4", steps=107).machine == busy_beaver(4)


def _arrays(transformer):
    return [layer.weight for part in transformer.layers for layer in part.feed_forward.layers]


def test_all_evaluators_give_the_run_of_the_simulator():
    transformer = lm.compile_machine("palindromes", 12)
    reference = lm.reference_run(transformer, "aba")
    assert reference.heads == lm.reference_run(transformer, transformer.machine.encode("aba")).heads
    for evaluator in ("dense", "exact", "torch", "indexed"):
        run = lm.run_machine(transformer, "aba", evaluator, hidden=True)
        assert (run.heads[0] - transformer.start_cell).tolist() == reference.heads
        assert run.states[0].tolist() == reference.states
        tolerance = 0.0 if evaluator in ("exact", "indexed") else 1e-6
        assert lm.violations(transformer, "aba", run.hidden[0], tolerance=tolerance) == []
    hidden = lm.run_machine(transformer, "aba", "exact", hidden=True).hidden[0]
    hidden[3, 0, 0] += 1
    [violation] = lm.violations(transformer, "aba", hidden)
    assert violation.time == 3


def test_words_are_texts_or_numbers_one_or_many():
    transformer = lm.compile_machine("palindromes", 21)
    one, many = lm.run_machine(transformer, "abba"), lm.run_machine(transformer, ["abba", (1, 2), ""])
    assert one.predictions.shape == (1,)
    assert np.sign(many.predictions).tolist() == [1, -1, 1]
    for evaluator in EVALUATORS.values():
        assert (many.states == evaluator.run(transformer, [(1, 2, 2, 1), (1, 2), ()]).states).all()
    assert lm.run_machine(transformer, (1, 2, 2, 1)).predictions == one.predictions
    assert lm.run_machine(lm.compile_machine("bb2", 6)).states.shape == (1, 7)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("a", "sparse"), {}, "There is no evaluator 'sparse'"),
        (("a", "exact"), {"softmax": 3.0}, "The exact evaluator has hard attention only"),
        (("a", "indexed"), {"softmax": 3.0}, "The indexed evaluator answers hard attention only"),
        (("c",), {}, "no symbol of"),
    ],
)
def test_what_an_evaluator_does_not_take_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        lm.run_machine(lm.compile_machine("palindromes", 5), *arguments, **options)
