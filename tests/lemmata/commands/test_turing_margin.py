"""The option `--margin` of `lemmata turing`."""

import json
from fractions import Fraction

from lemmata.certificates.margins.turing_direct import direct_margin_bound
from lemmata.certificates.margins.turing_ones import measured_ones
from lemmata.certificates.margins.turing_scores import score_flip
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import busy_beaver
from tests.lemmata.commands.runner import run


def test_the_margin_of_a_short_run_is_certified_and_attacked():
    transformer = compile_turing_machine(busy_beaver(2), 6, left_end="two-way")
    everywhere, here = (direct_margin_bound(transformer, ones) for ones in (None, measured_ones(transformer, [()])))
    flip = score_flip(transformer, ())
    status, printed, _ = run("turing", "bb2", "--steps", "6", "--margin", "--json")
    assert status == 0
    assert json.loads(printed)["margin"] == {
        "certified": float(everywhere.value),
        "decided_by": everywhere.binding,
        "certified_for_input": float(here.value),
        "flip": flip.norm,
        "flip_at": [transformer.layers[flip.layer].name, flip.time],
    }
    assert everywhere.value < here.value < flip.norm
    status, printed, _ = run("turing", "bb2", "--steps", "6", "--margin")
    assert status == 0
    assert "no change of all weights by 0.00579 in 2-norm flips an answer" in printed
    assert "none by 0.00849, and a change by 0.0136 flips it, in exact arithmetic" in printed
    places = Fraction(1, 100_000)  # what is printed is proved: rounded inwards for what is safe, outwards for a flip
    assert 0 <= everywhere.value - Fraction("0.00579") < places
    assert 0 <= here.value - Fraction("0.00849") < places
    assert 0 <= Fraction("0.0136") ** 2 - flip.norm_squared < places


def test_a_long_run_and_one_that_is_not_decided_are_not_attacked():
    status, printed, _ = run("turing", "bb4", "--steps", "107", "--margin")
    assert status == 0
    assert "for one input it is certified and attacked for runs of at most 64 steps" in printed
    status, printed, _ = run("turing", "bb4", "--steps", "20", "--margin")
    assert status == 0
    assert "for one input it is certified and attacked where the machine has accepted or rejected" in printed
    status, printed, _ = run("turing", "bb4", "--steps", "20", "--json")
    assert "margin" not in json.loads(printed)
