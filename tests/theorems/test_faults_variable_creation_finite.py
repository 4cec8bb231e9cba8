"""Faults planted in finite classes, codes and shattered points: the deciding checks of variable creation see them.

Most are written into the body of a function: its code object is replaced, so that every module that has imported the
function runs the faulty one.
"""

from __future__ import annotations
import __future__

import inspect
from textwrap import dedent
from types import CodeType, FunctionType
from typing import Any

import pytest

import certificates.capacity.covers as covers
import certificates.capacity.set_cover as set_cover
import certificates.capacity.shattering as shattering
import numerics.learning.entropy as entropy
import numerics.learning.finite_classes as finite_classes
from tests.theorems.planted_faults import Fault, assert_seen, fault_name
from theorems.plugin import Effort
from theorems.variable_creation import test_finite_classes as finite
from theorems.variable_creation import test_shattering as shattered

REFUSALS: Any = (set_cover.CoverError, pytest.fail.Exception)
"""What a check raises besides assertions: a refused certificate, or an error that did not come."""
QUICK = {"effort": Effort("quick")}


def rewritten(function: FunctionType, old: str, new: str) -> CodeType:
    """The code of a function in whose source one piece, which occurs once, is replaced."""
    source = dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times in {function.__name__}"
    tree = compile(source.replace(old, new), "<planted>", "exec", __future__.annotations.compiler_flag, True)
    space = dict(function.__globals__)
    exec(tree, space)
    made = space[function.__name__]
    for wrapper in ("fget", "func"):  # of a property, of a cached one
        made = getattr(made, wrapper, made)
    return made.__code__


def inside(
    name: str, statement: str, module: Any, check: str, function: Any, old: str, new: str, **arguments: Any
) -> Fault:
    """A fault in the body of a function."""
    return Fault(name, statement, module, check, function, "__code__", rewritten(function, old, new), arguments)


DUDLEY = {"seed": 4, "functions": 6, "points": 1}
FAULTS = [
    inside(
        "a radius that is two per cent too large",
        "definition-4.1",
        finite,
        "test_covering_numbers_are_those_of_the_definition",
        covers._near_sets,
        "limit = eps if proper",
        "limit = eps * 51 / 50 if proper",
        **QUICK,
    ),
    inside(
        "functions at the radius that are not covered",
        "definition-4.1",
        finite,
        "test_covering_numbers_are_those_of_the_definition",
        covers._near_sets,
        "if x <= limit",
        "if x < limit",
        **QUICK,
    ),
    inside(
        "distances without their last point",
        "definition-4.1",
        finite,
        "test_covering_numbers_are_those_of_the_definition",
        finite_classes.sample_distances,
        "gaps.max(axis=-1)\n    return",
        "gaps[..., :-1].max(axis=-1)\n    return",
        **QUICK,
    ),
    inside(
        "a Euclidean norm that is not squared twice",
        "definition-4.1",
        finite,
        "test_covering_numbers_of_vector_valued_classes",
        covers._near_sets,
        "limit = limit**2",
        "limit = limit * fmpq(98, 100) * limit",
        norm="euclidean",
    ),
    inside(
        "a sum of components that is a maximum",
        "definition-4.1",
        finite,
        "test_covering_numbers_of_vector_valued_classes",
        finite_classes.sample_distances,
        "gaps.sum(axis=-1)\n",
        "gaps.max(axis=-1)\n",
        norm="sum",
    ),
    inside(
        "a lower bound that is one too low",
        "definition-4.1",
        finite,
        "test_covering_numbers_are_those_of_the_definition",
        set_cover.least_set_cover,
        "lower, searched = _rounded_up(sum(weights, start=fmpq(0))), False\n    while lower < len(chosen)",
        "lower, searched = _rounded_up(sum(weights, start=fmpq(0))) - 1, False\n    while lower < 0",
        **QUICK,
    ),
    inside(
        "an absolute value",
        "definition-A.1",
        finite,
        "test_rademacher_complexity_is_the_mean_of_the_maxima",
        finite_classes.empirical_rademacher,
        "(integers @ signs).max()",
        "abs(integers @ signs).max()",
    ),
    inside(
        "signs of equal points that agree",
        "definition-A.1",
        finite,
        "test_rademacher_complexity_is_the_mean_of_the_maxima",
        finite_classes.empirical_rademacher,
        "prod(comb(c, k) for",
        "prod(1 for",
    ),
    inside(
        "a mean over one point too many",
        "definition-A.1",
        finite,
        "test_rademacher_complexity_is_the_mean_of_the_maxima",
        finite_classes.empirical_rademacher,
        "scale * sum(shown)",
        "scale * (sum(shown) + 1)",
    ),
    inside(
        "an entropy integral that is two per cent too large",
        "lemma-A.2",
        finite,
        "test_dudley_bounds_the_complexity_of_finite_classes",
        entropy.entropy_integral,
        "(right - left) *",
        "(right - left) * fmpq(51, 50) *",
        **DUDLEY,
    ),
    inside(
        "a radius that is not tried",
        "lemma-A.2",
        finite,
        "test_dudley_bounds_the_complexity_of_finite_classes",
        entropy.entropy_bound,
        "for radius in radii if radius < top] + [top]",
        "for radius in radii if radius < 0] + [top]",
        **DUDLEY,
    ),
    inside(
        "an integral to half of the range",
        "lemma-A.2",
        finite,
        "test_dudley_bounds_the_complexity_of_finite_classes",
        entropy.entropy_bound,
        "top = part * A",
        "top = part * A / 2",
        **DUDLEY,
    ),
    inside(
        "steps that forget a fall",
        "lemma-A.2",
        finite,
        "test_dudley_bounds_the_complexity_of_finite_classes",
        covers.covering_steps,
        "fill(0, len(radii) - 1)",
        "pass",
        **DUDLEY,
    ),
    inside(
        "an entropy without its root",
        "lemma-A.2",
        finite,
        "test_the_constant_of_dudley_is_at_least_six_fifths",
        entropy.entropy_integral,
        "(arb(number).log() / m).sqrt()",
        "(arb(number).log() / m)",
        points=2,
    ),
    inside(
        "a constant that is two per cent too large",
        "corollary-A.3",
        finite,
        "test_the_corrected_bound_is_the_least_objective",
        entropy.rademacher_bound,
        "return c * ball_min",
        "return c * arb(102) / 100 * ball_min",
    ),
    inside(
        "a lost logarithm",
        "corollary-A.3",
        finite,
        "test_the_corrected_bound_is_the_least_objective",
        entropy._positive_log,
        "x.log()",
        "0 * x.log()",
    ),
    inside(
        "a logarithm that may be negative",
        "corollary-A.3",
        finite,
        "test_complexities_are_below_the_corrected_bound",
        entropy._positive_log,
        ".max(arb(0))",
        "",
        seed=4,
        functions=6,
        points=1,
    ),
    inside(
        "a sharp form at another point",
        "corollary-A.3",
        finite,
        "test_the_corrected_bound_is_the_least_objective",
        entropy.rademacher_bound,
        "A / (6 * K)",
        "A / (5 * K)",
    ),
    inside(
        "the printed form beyond its regime",
        "corollary-A.3",
        finite,
        "test_complexities_are_below_the_corrected_bound",
        entropy.rademacher_bound,
        "decided_less_equal(C, A * A * m)",
        "decided_less_equal(C, 2 * A * A * m)",
        seed=4,
        functions=6,
        points=1,
    ),
    inside(
        "a third factor that is 2",
        "theorem-A.4",
        finite,
        "test_the_corrected_bound_has_its_constants",
        entropy.deviation_bound,
        '(4, 2) if form == "printed" else (2, 3)',
        '(4, 2) if form == "printed" else (2, 2)',
    ),
    inside(
        "three events that are two",
        "theorem-A.4",
        finite,
        "test_the_corrected_bound_has_its_constants",
        entropy.deviation_bound,
        '"corrected": 4',
        '"corrected": 2',
    ),
    inside(
        "a complexity that is not doubled",
        "theorem-A.4",
        finite,
        "test_failure_probabilities_are_those_of_ordered_samples",
        entropy.deviation_bound,
        "slope * L * rad",
        "L * rad",
        m=2,
    ),
    inside(
        "samples that are counted once up to order",
        "theorem-A.4",
        finite,
        "test_failure_probabilities_are_those_of_ordered_samples",
        finite_classes._samples,
        "orders * prod",
        "prod",
        m=3,
    ),
    inside(
        "deviations in one direction",
        "theorem-A.4",
        finite,
        "test_failure_probabilities_are_those_of_ordered_samples",
        finite_classes.largest_deviation,
        "max(abs(x) for x",
        "max(x for x",
        m=2,
    ),
    inside(
        "a generalisation bound of half the complexity",
        "lemma-A.5",
        finite,
        "test_generalisation_bounds_fail_rarely_enough",
        entropy.generalisation_bound,
        "deviation_bound(rad,",
        "deviation_bound(rad / 2,",
        size=finite.fmpq(1, 10),
        m=20,
    ),
    inside(
        "a Lipschitz constant that is lost",
        "lemma-4.2",
        finite,
        "test_generalisation_bounds_fail_rarely_enough",
        entropy.deviation_bound,
        "slope * L * rad",
        "slope * rad",
        size=finite.fmpq(1, 10),
        m=20,
    ),
]

CIRCLE = shattering.CircleFamily
SHATTERED = [
    inside(
        "a parameter of half the powers",
        "remark-4.4.2a",
        shattered,
        "test_sinusoids_shatter_any_number_of_points",
        shattering.sinusoid_parameter,
        "2**l for",
        "2 ** (l - 1) for",
        **QUICK,
    ),
    inside(
        "a parameter without its offset",
        "remark-4.4.2a",
        shattered,
        "test_sinusoids_shatter_any_number_of_points",
        shattering.sinusoid_parameter,
        "return 1 + sum",
        "return sum",
        **QUICK,
    ),
    inside(
        "labels that are exchanged",
        "remark-4.4.2a",
        shattered,
        "test_sinusoids_shatter_any_number_of_points",
        shattering.sinusoid_parameter,
        "if y < 0",
        "if y > 0",
        **QUICK,
    ),
    inside(
        "a count that is one too low",
        "remark-4.4.2a",
        shattered,
        "test_sinusoids_shatter_any_number_of_points",
        shattering.certify_sinusoids,
        "realised = 0",
        "realised = -1",
        **QUICK,
    ),
    inside(
        "angles that are two per cent too large",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_by_their_forward_pass",
        CIRCLE._turn,
        "fmpq(2 * t, self.length)",
        "fmpq(102 * t, 50 * self.length)",
        **QUICK,
    ),
    inside(
        "keys that are two per cent too short",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_by_their_forward_pass",
        CIRCLE.key,
        "self.scale * x for",
        "self.scale * fmpq(98, 100) * x for",
        **QUICK,
    ),
    inside(
        "keys of length T",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_by_their_forward_pass",
        CIRCLE.__post_init__,
        "T * T if",
        "T if",
        **QUICK,
    ),
    inside(
        "bits from the other end",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_by_their_forward_pass",
        CIRCLE.bit,
        "t >> (self.points - i)",
        "t >> (i - 1)",
        **QUICK,
    ),
    inside(
        "a threshold that is missed",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_by_their_forward_pass",
        CIRCLE.margin.fget,
        "fmpq(1, 2)",
        "fmpq(49, 100)",
        **QUICK,
    ),
    inside(
        "weights that turn the other way",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_for_longer_sequences",
        CIRCLE.output,
        "(t - s) % self.length",
        "(t + s) % self.length",
    ),
    inside(
        "scores that are two per cent too large",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_for_longer_sequences",
        CIRCLE.weights.func,
        "self.scale * (",
        "self.scale * fmpq(51, 50) * (",
    ),
    inside(
        "a point too few",
        "proposition-4.8",
        shattered,
        "test_unbounded_heads_shatter_by_their_forward_pass",
        CIRCLE.points.fget,
        "bit_length() - 1",
        "bit_length() - 2",
        **QUICK,
    ),
]


@pytest.mark.parametrize("fault", FAULTS + SHATTERED, ids=fault_name)
def test_planted_faults_are_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "variable-creation", monkeypatch, REFUSALS)
