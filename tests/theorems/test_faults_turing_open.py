"""Faults planted in generalisation bounds with constants: the deciding checks of their statements have to see them."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from types import ModuleType
from typing import Any

import pytest

from lemmata.certificates.capacity.decoder_shattering import RecallingDecoder
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.layout import TuringLayout
from lemmata.numerics.learning import inverse_margins, sign_patterns
from lemmata.theorems.plugin import Effort
from lemmata.theorems.turing import (
    test_inverse_margins,
    test_shattering_decoders,
    test_sign_patterns,
    test_transformer_precision,
)
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten


def edited(
    statement: str,
    tests: ModuleType,
    check: str,
    owner: ModuleType,
    attribute: str,
    arguments: dict[str, Any],
    *edits: tuple[str, str, str],
) -> list[Fault]:
    """Faults of one function, where the check or else the library looks it up: a name, a piece, what stands instead."""
    function = getattr(owner, attribute)
    place = tests if hasattr(tests, attribute) else owner
    return [
        Fault(name, statement, tests, check, place, attribute, rewritten(function, old, new), arguments)
        for name, old, new in edits
    ]


def margins(check: str, attribute: str, arguments: dict[str, Any], *edits: tuple[str, str, str]) -> list[Fault]:
    """Faults of the bounds from inverse margins."""
    return edited("corollary-A.1", test_inverse_margins, check, inverse_margins, attribute, arguments, *edits)


PARTS = "test_the_bounds_from_their_parts"
FAULTS = [
    *margins(
        "test_relative_deviations_of_binomial_counts",
        "relative_deviation",
        {"n": 200, "delta": Fraction(1, 10)},
        ("the share once", "return 2 * part", "return part"),
        ("a probability in place of its logarithm", "arb(rest).log()", "arb(rest)"),
    ),
    *margins(
        "test_relative_deviations_of_binomial_counts",
        "relative_deviation",
        {"n": 30, "delta": Fraction(1, 100)},
        ("a quarter of the remainder", " / size", " / (4 * size)"),
    ),
    *margins(
        "test_centres_are_within_half_of_gamma",
        "log_centres",
        {"p": 2, "k": 2},
        ("signs that are not counted", "arb(2 * size + 1)", "arb(size + 1)"),
        ("picks that grow like k", "2**scale * arb", "scale * arb"),
    ),
    *margins(
        PARTS,
        "inverse_margin_bound",
        {},
        ("a constant 2 per cent larger", "main = 6 *", "main = 51 * 6 / arb(50) *"),
        ("no iterated logarithm", "2 * (1 + arb(size)", "0 * (1 + arb(size)"),
        ("a square without its root", "arb(square) / size).sqrt()", "arb(square)**2 / size).sqrt()"),
        ("natural logarithms for binary ones", " / arb(2).log()", ""),
    ),
    *margins(
        "test_small_margins_need_a_small_scale",
        "margins_bound",
        {"n": 3000, "rho": Fraction(6, 5), "k": 2},
        ("two scales only", "range(n.bit_length() + 1)", "range(2)"),
    ),
    *margins(
        PARTS,
        "_scale_bound",
        {},
        ("margins at gamma left out", "<= 4 * radius", "< 4 * radius"),
        ("half of gamma", "<= 4 * radius", "<= radius"),
        ("scales without their own share", "arb((k + 1) * (k + 2)).log()", "arb(0)"),
    ),
]

SHATTERED = "test_all_labellings_of_the_words_are_realised"


def recalling(attribute: str, *edits: tuple[str, str, str]) -> list[Fault]:
    """Faults of the decoder that recalls labels."""
    found = []
    for name, old, new in edits:
        member = vars(RecallingDecoder)[attribute]
        function = getattr(member, "func", getattr(member, "fget", member))  # of a cached or a plain property
        faulty = rewritten(function, old, new)
        if isinstance(faulty, cached_property):
            faulty.__set_name__(RecallingDecoder, attribute)
        given = {"n": 2, "T": 2} if attribute == "width" else {"n": 1, "T": 3}  # the stream is wider for n = 1
        found.append(
            Fault(name, "remark-4.1", test_shattering_decoders, SHATTERED, RecallingDecoder, attribute, faulty, given)
        )
    return found


FAULTS += [
    *recalling(
        "start",
        ("no leading digit", "4 ** (t + 1)", "4**t"),
        ("digits 1 in place of 2", "fmpq(2 * int(b)", "fmpq(int(b)"),
    ),
    *recalling(
        "layer",
        ("a slope 2 per cent larger and a bit above 1", "as_exact([3, 3, 1])", "as_exact(['153/50', 3, 1])"),
        ("a register that is doubled", "as_exact([4, -2, 2])", "as_exact([2, -2, 2])"),
        ("a digit that stays", "as_exact([4, -2, 2])", "as_exact([4, 0, 0])"),
        ("a letter that is not asked for", "as_exact([1, -1, 1])", "as_exact([1, -1, 0])"),
        ("a threshold that is missing", "lower[j] = -fmpq(1)", "lower[j] = -fmpq(0)"),
        ("codes without signs", "as_exact([-1] * P)", "as_exact([0] * P)"),
    ),
    *recalling("width", ("a width without the hidden units", "max(self.stream, 4 * self.letters + 1)", "self.stream")),
    *recalling("predictions", ("a step too few", "range(self.steps + 1):", "range(self.steps):")),
]

POLYNOMIALS = ("test_patterns_of_polynomials_in_one_variable", {"M": 3, "D": 2})
GROWTH = ("test_the_bounds_from_their_parts", {})


def signs(case: tuple[str, dict[str, Any]], attribute: str, *edits: tuple[str, str, str]) -> list[Fault]:
    """Faults of the counts of signs."""
    check, arguments = case
    return edited("remark-comparison", test_sign_patterns, check, sign_patterns, attribute, arguments, *edits)


FAULTS += [
    *signs(
        POLYNOMIALS,
        "sign_pattern_bound",
        ("a component too few", "(M * D + 1)", "(M * D)"),
        ("the degree once for all", "(M * D + 1)", "(M + D + 1)"),
    ),
    *signs(
        GROWTH,
        "network_log_growth",
        ("the outputs of a layer less", "layers + 1, 1", "layers, 1"),
        ("preactivations of degree 1", "size * hidden, layer, 1", "size * hidden, 1, 1"),
        ("one unit in a layer", "size * hidden, layer, 1", "size, layer, 1"),
    ),
    *signs(
        GROWTH,
        "sign_loss_bound",
        ("one complexity in place of two", "2 * (2 * growth", "(2 * growth"),
        ("a growth 2 per cent smaller", "2 * growth / n", "49 * growth / (25 * n)"),
    ),
    *signs(GROWTH, "vc_bound", ("one input more", " - 1", "")),
    *signs(
        ("test_the_sample_size_of_the_0_1_loss_is_polynomial", {}),
        "sign_loss_sample_size",
        ("half of the examples", "return smallest_integer(1, enough)", "return smallest_integer(1, enough) // 2"),
        ("twice the examples", "return smallest_integer(1, enough)", "return 2 * smallest_integer(1, enough)"),
    ),
]


BITS = ("test_weights_have_few_bits", {"steps": 30})
SOFT = ("test_softmax_keeps_a_margin", {"effort": Effort("quick")})
LEAST = (
    "test_softmax_computes_the_same_from_a_small_sharpness_on",
    {"effort": Effort("quick"), "record_property": lambda name, value: None},
)


def attention(
    case: tuple[str, dict[str, Any]], owner: Any, attribute: str, *edits: tuple[str, str, str]
) -> list[Fault]:
    """Faults of the machine's attention: its weights, and the softmax for the hard maximum."""
    check, arguments = case
    return [
        Fault(
            name,
            "remark-4.1",
            test_transformer_precision,
            check,
            owner,
            attribute,
            rewritten(vars(owner)[attribute], old, new),
            arguments,
        )
        for name, old, new in edits
    ]


SOFTENED = "sharpness=sharpness)"
FAULTS += [
    *attention(
        BITS,
        TuringLayout,
        "match",
        ("a null key one too large", '{"null": digits - 1}', '{"null": digits}'),
        ("a null key that is squared", '{"null": digits - 1}', '{"null": (digits - 1) ** 2}'),
        ("keys 4 in place of 2", "key = {(theirs, code): 2 *", "key = {(theirs, code): 4 *"),
    ),
    *attention(
        SOFT,
        TuringTransformer,
        "softened",
        ("a quarter of the sharpness", SOFTENED, "sharpness=sharpness / 4)"),
        ("a sharpness 2 per cent larger", SOFTENED, "sharpness=sharpness * 1.02)"),
        ("a hard maximum", 'weigh="softmax"', 'weigh="hardmax"'),
        ("attention to the input that stays hard", "soft(layer.cross_attention)", "layer.cross_attention"),
    ),
    *attention(LEAST, TuringTransformer, "softened", ("a hard maximum", 'weigh="softmax"', 'weigh="hardmax"')),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "turing", monkeypatch)
