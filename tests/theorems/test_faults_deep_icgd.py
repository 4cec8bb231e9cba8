"""Faults planted in what the chapter on descent in context builds and certifies: the deciding checks must see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates import descent_trajectory
from lemmata.certificates.descent import StepCertificate
from lemmata.certificates.descent_trajectory import _Descent
from lemmata.constructions.descent import block, layers, layout, products, quantiser, risk, softmax
from lemmata.numerics.functions import relu_sums, smooth, waves
from lemmata.theorems.deep_icgd import instances
from lemmata.theorems.deep_icgd import test_theorem_1_printed as printed
from lemmata.theorems.deep_icgd.experiments import tasks
from lemmata.theorems.plugin import Effort
from tests.theorems.planted_faults import Fault, assert_seen, changed, fault_name, scaled

Change = Callable[[Any], Any]


FIXTURES = {"effort": Effort("quick"), "record_property": lambda *_: None}


def fault(what: str, statement: str, check: str, where: str | tuple[Any, str], wrong: Change, **known: Any) -> Fault:
    """A fault made of the right attribute of the module of the check, or of an owner.

    The check is given by its module and by as much of its name as tells it from all others there.
    """
    place, begin = check.split()
    module = import_module(f"lemmata.theorems.deep_icgd.test_{place}")
    (name,) = (name for name in vars(module) if name.startswith(f"test_{begin}"))
    owner, attribute = (module, where) if isinstance(where, str) else where
    code = getattr(module, name).__code__
    given = {key: value for key, value in FIXTURES.items() if key in code.co_varnames[: code.co_argcount]} | known
    return Fault(what, statement, module, name, owner, attribute, wrong(getattr(owner, attribute)), given)


def result(change: Change) -> Change:
    """Changes what a function returns."""
    return lambda function: changed(function, change)


def part(name: str, change: Change) -> Change:
    """Changes one part of what a function returns."""
    return result(lambda whole: replace(whole, **{name: change(getattr(whole, name))}))


BLOCK, STEP, TIGHT = "gradient_descent_block", "theorem_1_block every_block", "theorem_1_block the_certified"
PRINTED, CERTIFIED = "theorem_1_printed printed_bounds", "trajectory certified"
FORWARD, WITHIN = "layers forward_and_derivative_layers", "products attention_and_one_hidden_layer"
PROJECTION_FIRST = part("layers", lambda found: (found[-1], *found[:-1]))
FAULTS = [
    # ---- definitions and the gradient
    fault("a softmax prompt", "equation-2.1", "network width_of", "PromptLayout", lambda _: layout.SoftmaxLayout),
    fault("r for its derivative", "definition-3", "gradient back_propagation_gives", "risk_gradient",
          lambda f: lambda V, x, y, r, _, u: f(V, x, y, r, r, u), shape=(2, 2, 2)),
    fault("queries for keys", "definition-7", "network heads_of", "Head",
          lambda f: lambda q, k, v, **known: f(k, q, v, **known), tokens=3, size=2),
    fault("the last layer first", "definition-9", "network block_runs", (instances, BLOCK),
          part("layers", lambda found: found[::-1]), depth=2),
    fault("the identity", "definition-13", "softmax corrected_condition", "Head",
          lambda f: lambda q, k, v, **known: f(q, k, replace(v, weight=0 * v.weight), **known)),
    fault("no update", "problem-2", "zero_start from_the_start_of_ones", BLOCK,
          part("layers", lambda found: (*found[:-2], found[-1])), depth=2),
    fault("the first example alone", "lemma-1", "gradient gradient_is", "risk_gradient",
          lambda f: lambda V, x, y, *more: f(V, x[:1], y[:1], *more), shape=(2, 3, 2)),
    # ---- the layers and the block
    fault("a steeper activation", "lemma-2", FORWARD, "forward_layer",
          lambda f: lambda at, j, r: f(at, j, replace(r, coefficients=r.coefficients * fmpq(6, 5))), shape=(4, 4, 1)),
    fault("only layer 2", "lemma-9", FORWARD, "forward_layer", lambda f: lambda at, _, r: f(at, 2, r), shape=(4, 4, 1)),
    fault("derivatives of the first layer alone", "lemma-3", FORWARD, "derivative_layer",
          part("families", lambda heads: heads[:4]), shape=(4, 4, 1)),
    fault("no mask", "lemma-4", "layers loss_gradient_", "loss_gradient_layer", lambda f: lambda at, u, _: f(at, u, 0)),
    fault("a mask that always holds", "lemma-11", "layers an_oversized", "loss_gradient_layer",
          lambda f: lambda at, u, _: f(at, u, 1000)),
    fault("rows for columns", "lemma-5", "layers multiplication", "error_layer",
          lambda f: lambda at, j: replace(f(at, j), query=at.weight_rows(j + 1)) if j < at.depth else f(at, j),
          shape=(1, 2, 2)),
    fault("the first error twice", "lemma-12", "layers one_mul", "error_layer", lambda f: lambda at, j: f(at, 1)),
    fault("the last row stays", "construction-update", "layers_update update_layer_adds", "update_layer",
          part("families", lambda heads: heads[:-1]), shape=(2, 3, 4)),
    fault("scratch that stays", "construction-proj", "layers_update projection_layer", "projection_layer",
          lambda _: layers.clipping_layer),
    fault("errors from the first layer on", "construction-block", "block one_block", (instances, BLOCK),
          part("layers", lambda found: (*found[:-4], *found[-3:-5:-1], *found[-2:])), kind="linear", depth=2),
    fault("a certificate that says 0.001 of it", "theorem-1", STEP, (StepCertificate, "gradient_error"),
          lambda right: property(lambda found: right.fget(found) / 1000), widths=(2, 2)),
    fault("the units of the printed weights", "theorem-1", PRINTED, "small_scales",
          result(lambda found: replace(found, outputs=(fmpq(1),) * len(found.outputs))), widths=(1, 1, 1)),
    fault("twice the loss", "theorem-4", PRINTED, "small_scales",
          result(lambda found: replace(found, loss=2 * found.loss)), widths=(1, 1, 1)),
    fault("a sum that goes on", "theorem-5", PRINTED, "sums",
          lambda f: lambda at, m: (printed.approximate_activation(at, printed.R0, printed.BOX, 1, pieces=m)[0],
                                   *f(at, m)[1:]), widths=(1, 1, 1)),
    fault("a bound a third larger", "theorem-1", TIGHT, (StepCertificate, "gradient_error"),
          lambda right: property(lambda found: right.fget(found) * 1.34), widths=(2, 2, 2)),
    fault("the first row stays", "theorem-4", STEP, (block, "update_layer"), part("families", lambda heads: heads[1:]),
          widths=(2, 2)),
    fault("the projection first", "theorem-5", STEP, BLOCK, PROJECTION_FIRST, widths=(2, 1)),
    fault("the projection first", "theorem-2", "theorem_2 block_for", BLOCK, PROJECTION_FIRST, widths=(2, 2)),
    # ---- errors and sums of ReLUs
    fault("no mask", "lemma-6", "error_recursion test_token", (block, "loss_gradient_layer"),
          lambda f: lambda at, u, _: f(at, u, 0)),
    fault("rows for columns", "lemma-13", "error_recursion recursion_holds", "gradient_error",
          lambda f: lambda found, *more: f([replace(one, norm=one.row) for one in found], *more)),
    fault("errors that do not grow", "lemma-14", "trajectory corrected_bounds", "trajectory_error",
          lambda f: lambda eps, eta, L: f(eps, eta, 0), seed=0),
    fault("no projection", "corollary-1.1", "trajectory unprojected", (block, "projection_layer"),
          lambda _: lambda at, *box: layers.clearing_layer(at)),
    fault("the error of one step", "corollary-4.1", "trajectory certified", (StepCertificate, "trajectory_error"),
          lambda f: lambda found, steps: f(found, 1) * steps, steps=6),
    fault("no clip in the certificate of the run", "corollary-1.1", "trajectory unprojected", (_Descent, "step"),
          lambda _: lambda run, w: w - arb(run.step_size) * run.gradient(w)),
    fault("half of the gradient in it", "corollary-1.1", CERTIFIED, (_Descent, "gradient"),
          lambda f: scaled(f, fmpq(1, 2)), steps=6),
    fault("the smallest entry for a norm in it", "corollary-1.1", CERTIFIED, (descent_trajectory, "_norm"),
          lambda _: lambda v: (min(x.abs_lower() for x in v), min(x.abs_upper() for x in v)), steps=6),
    fault("half of the knots", "construction-1d", "relu_sums error_units", "interpolant",
          lambda f: lambda g, R, m: f(g, R, (m + 1) // 2), function=smooth.sine, R=1),
    fault("a draw that costs nothing", "lemma-7", "smooth_sums few_units", "thinned",
          lambda f: lambda g, *more: replace(f(g, *more), error=g.error), k=1, share="1/2", cells=400),
    fault("no affine part", "lemma-7", "smooth_sums constants", "sum_bounds",
          result(lambda found: replace(found, weight=found.mass)), k=2),
    # ---- softmax
    fault("no step back", "construction-quantizer", "quantizer printed_last", (quantiser.Quantizer, "boxed"),
          lambda _: quantiser.Quantizer.quantiser),
    fault("other cells", "construction-selfattn-bounds", "quantizer at_every", (quantiser.Quantizer, "boxed"),
          lambda f: lambda q: f(replace(q, granularity=8 * q.granularity, ramp=q.ramp / 8)), D=2),
    fault("scratch that stays", "construction-softmax-explicit", "softmax block_is_back", (softmax, "projection_layer"),
          lambda _: layers.clipping_layer, widths=(2, 1)),
    fault("the largest place for the spread", "lemma-17", "contextual attention_is_a_contextual_mapping_on_e",
          "contextual_attention", result(lambda found: replace(found, spread=found.largest)), name="both signs"),
    fault("directions that nobody tried", "lemma-17", "contextual direction", "separating_direction",
          lambda _: lambda z, seed: np.random.default_rng(seed).integers(-9, 9, z.shape[1]), d=2),
    fault("errors that do not grow", "theorem-6", "general_risk bounds_of_the_block",
          (risk.RiskDescentBlock, "trajectory_error"), lambda f: lambda found, steps, _: f(found, steps, 0)),
    fault("the plain Fourier sum", "theorem-6", "waves waves_of", (waves, "damping"), lambda _: lambda *given: arb(1),
          name="distance"),
    fault("every sum accepted", "theorem-3", "general_risk sums_are", (relu_sums.ReluSum, "require"),
          lambda _: lambda *given: None),
    fault("attention to earlier tokens", "theorem-3", "general_risk four_layers", (risk, "mean_attention"),
          part("heads", lambda heads: tuple(replace(head, causal=True) for head in heads)), sizes=(2, 1, 1, 3)),
    # ---- products, scores, experiments
    fault("a transposed order", "remark-3", WITHIN, (products, "order_weights"), result(np.transpose), tokens=4),
    fault("hinges before the order", "remark-3", WITHIN, "token_product",
          part("layers", lambda found: (*found[:3], *found[4:2:-1], *found[5:])), tokens=4),
    fault("variables exchanged", "lemma-19", "score_network network_on_a_grid", "grid_network",
          lambda f: lambda axes, values: f(axes[::-1], values.swapaxes(0, 1)), sizes=(3, 4)),
    fault("the score of one time", "lemma-19", "score_network networks_of_scores", "score_network",
          lambda f: lambda score, *more: f(lambda x, _: score(x, 1.0), *more), name="two points"),
    fault("weights of tasks 2 % too large", "figure-1", "longer_runs relu_transformers", (tasks, "sample_weights"),
          lambda f: scaled(f, 1.02)),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "deep-icgd", monkeypatch)
