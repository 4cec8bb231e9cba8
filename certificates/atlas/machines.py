"""The rows of Turing machines: the margin of the transformer that runs one, enclosed when the row is made.

There is no document of such a bound: the conditions are evaluated in ball arithmetic, and a flip is repeated in exact
arithmetic, both by this toolkit.
"""

from __future__ import annotations

import time
from fractions import Fraction
from math import isqrt

from flint import fmpq

from lemmata.certificates.atlas.catalogue import Item
from lemmata.certificates.atlas.committed import Row
from lemmata.certificates.groups.decimals import outward_decimals
from lemmata.certificates.margins.turing_direct import direct_margin_bound
from lemmata.certificates.margins.turing_ones import measured_ones
from lemmata.certificates.margins.turing_scores import score_flip
from lemmata.constructions.turing.compiler import compile_turing_machine
from lemmata.constructions.turing.machine import NAMED_MACHINES

__all__ = ["machine_row"]

DIGITS = 12
PLACES = 10**30
NO_DOCUMENT = "There is no format for margins of machines: the check is the run of the command."


def machine_row(item: Item) -> Row:
    """The row of a machine: bounds of the all-layer margin at a word, or a lower bound at all words that are decided.

    ``margin`` holds decimals, the upper one None where no flip was looked for; a machine that decides nothing has no
    margin, and the reason says so. ``seconds`` is the time in which the bounds were found.
    """
    name, steps, word = (item.settings[key] for key in ("machine", "steps", "word"))
    machine = NAMED_MACHINES[name]()
    begin = time.process_time()
    row: Row = {
        "key": item.key,
        "name": item.name,
        "machine": [len(machine.states), len(machine.symbols), steps],
        "command": f"lemmata turing {name} --steps {steps}{f' --input {word}' if word else ''} --margin",
        "margin": [None, None],
        "exact": None,
        "gap": None,
        "grade": None,
        "decided_by": None,
        "bytes": None,
        "sha256": None,
        "seconds": 0.0,
        "reason": NO_DOCUMENT,
    }
    if not machine.accept | machine.reject:
        return row | {"reason": "The machine never accepts or rejects: it has no margin."}
    transformer = compile_turing_machine(machine, steps, left_end=machine.left_end)
    if word is None:
        bound = direct_margin_bound(transformer)
        lower, _ = outward_decimals(_rational(bound.value), _rational(bound.value), DIGITS)
        upper = None
    else:
        symbols = machine.encode(word)
        bound = direct_margin_bound(transformer, measured_ones(transformer, [symbols]))
        flip = score_flip(transformer, symbols)
        above = None if flip is None else _root_above(flip.norm_squared)
        lower, upper = outward_decimals(_rational(bound.value), _rational(above or bound.value), DIGITS)
        upper = None if above is None else upper
    return row | {
        "margin": [lower, upper],
        "gap": None if upper is None else f"{1 - float(lower) / float(upper):.2g}",
        "grade": "enclosed",
        "decided_by": bound.binding,
        "seconds": round(time.process_time() - begin, 2),
    }


def _rational(number: Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def _root_above(square: Fraction) -> Fraction:
    """A rational number of thirty decimals that is at least the square root."""
    return Fraction(isqrt(square.numerator * PLACES**2 // square.denominator) + 1, PLACES)
