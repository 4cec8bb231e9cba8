"""Five targets at once on one matrix W#: the slopes of the linearised outputs on the tokens, over many networks.

For each network the outputs f_(j, s)(W#) at 16 inputs are fitted by a constant, z_2, z_3, z_4 and their squares, where
z_i is the coordinate of the token i that the targets look at: 36 slopes for the six outputs (j, s), of which five are
on target. The same is done with their mean over fresh rows (`fresh_changes`), which predicts each slope, attenuation
and cross terms included. H is bounded, as definition 5.3 asks for, with an eps_e that lemma 5.1 allows. The literal
window and input scale need a width near 10^2211 (`feasibility`): here both are free, with eps_c < eps_x < 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray
from scipy import stats

from lemmata.constructions.recurrent.averages import batch_trace, fresh_changes, own_changes
from lemmata.constructions.recurrent.comparator import Comparator, comparator
from lemmata.constructions.recurrent.concepts import Part, TargetFunction, input_sequences
from lemmata.constructions.recurrent.elman import random_elman
from lemmata.numerics.runs.comparison import FIFTH_DIGIT, above, below
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["COMPARATORS", "five_targets", "on_target", "over_networks", "slopes"]

_EXISTENCE, _NORM = "rnn-sgd:lemma-5.4", "rnn-sgd:claim-G.1"
Floats = NDArray[np.float64]
LENGTH = 5
PLACES = ((2, 4, 0, 1), (3, 4, 1, 1), (2, 5, 1, 1), (4, 5, 0, 1), (2, 3, 0, 2))
"""i, j, s and the power of z, of each part."""
WANTED = (1.0, -1.0, 0.5, 1.0, 1.0)
FIRST = 4
"""So many networks are kept one by one."""
SLOPES = 36
"""Six outputs (j, s), j = 3, 4, 5, by z_2, z_3, z_4, z_2^2, z_3^2, z_4^2."""


def five_targets() -> TargetFunction:
    """z, -z, z/2, z and z^2 for five pairs of positions and outputs, all along the first axis, d_x = 4, d = 2."""
    axis = np.array([1.0, 0.0, 0.0, 0.0])
    parts = [
        Part(i, j, s, (fmpq(0),) * power + (fmpq(int(2 * c), 2),), axis)
        for (i, j, s, power), c in zip(PLACES, WANTED, strict=True)
    ]
    return TargetFunction(LENGTH, 2, tuple(parts))


def on_target() -> list[int]:
    """The numbers of the five slopes on target, in the order of the parts."""
    return [6 * (2 * (j - 3) + s) + 3 * (power - 1) + (i - 2) for i, j, s, power in PLACES]


def slopes(outputs: Floats, inputs: Floats) -> Floats:
    """The 36 slopes of outputs (n, L, 2) on tokens of inputs (n, L - 2, 4), by least squares with a constant."""
    z = inputs[:, :, 0]
    design = np.concatenate([np.ones((len(z), 1)), z, z**2], axis=1)
    fitted = np.linalg.lstsq(design, outputs[:, 2:].reshape(len(z), -1), rcond=None)[0]
    return np.asarray(fitted[1:].T, dtype=np.float64).ravel()


def _inputs(count: int, rng: np.random.Generator) -> Floats:
    z = rng.standard_normal((count, LENGTH - 2, 3))
    z *= math.sqrt(0.75) / np.linalg.norm(z, axis=-1, keepdims=True)
    return np.concatenate([z, np.full((count, LENGTH - 2, 1), 0.5)], axis=-1)


def _one(settings: Mapping[str, Any], seed: int) -> tuple[Floats, Floats, Comparator]:
    """The slopes of one network, those predicted, and its comparator."""
    m, epsilon, window = settings["width"], settings["input_scale"], settings["window"]
    accuracy = fmpq(1, settings["one_over_accuracy"])
    rng = np.random.default_rng([seed, m])
    network, x = random_elman(m, 5, 2, rng), _inputs(settings["inputs"], rng)
    found = comparator(network, five_targets(), epsilon, window, accuracy)
    own = own_changes(found, network, batch_trace(network, input_sequences(x, epsilon)))
    return slopes(own, x), slopes(fresh_changes(network, found, x, epsilon, window), x), found


def over_networks(settings: dict[str, Any]) -> dict[str, Any]:
    """The slopes of the first networks; and over all, if they are more, means and standard deviations.

    These are given of the slopes, of what is predicted, and of the difference.
    """
    own, fresh, norms, ratios, normalisers = [], [], [], [], []
    for seed in range(settings["first"], settings["first"] + settings["networks"]):
        first, second, found = _one(settings, seed)
        own.append(first)
        fresh.append(second)
        norms.append(math.sqrt(settings["width"]) * found.frobenius_norm())
        ratios.append(found.frobenius_norm() / found.norm_bound())
        normalisers += [2 * weight.normaliser for weight in found.weights]
    result: dict[str, Any] = {"first": [_list(values) for values in own[:FIRST]]}
    if len(own) <= FIRST:
        return result
    table = {"own": np.array(own), "fresh": np.array(fresh), "difference": np.array(own) - np.array(fresh)}
    for name, v in table.items():
        result[name] = {"mean": _list(v.mean(axis=0)), "sd": _list(v.std(axis=0, ddof=1))}
    return result | {
        "norm": _list([math.sqrt(np.mean(np.square(norms))), np.std(norms, ddof=1)]),
        "norm over bound": _list([max(ratios)]),
        "d C": _list([min(normalisers), max(normalisers)]),
    }


def _list(values: Any) -> list[float]:
    return [float(f"{v:.5g}") for v in values]


def _fit(x: Floats, y: Floats) -> dict[str, float]:
    """The slope of log y in log x with its 95 % interval."""
    fit: Any = stats.linregress(np.log(x), np.log(y))
    half = float(stats.t.ppf(0.975, len(x) - 2) * fit.stderr)
    return {"slope": float(fit.slope), "low": float(fit.slope - half), "high": float(fit.slope + half)}


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    keys, on = list(settings), on_target()
    off = [k for k in range(SLOPES) if k not in on]

    def scores(name: str, key: str) -> Floats:
        root = math.sqrt(settings[key]["networks"])
        return np.array(results[key][name]["mean"]) / np.array(results[key][name]["sd"]) * root

    def limit(tests: int, key: str) -> float:
        return float(stats.t.isf(0.01 / 2 / tests, settings[key]["networks"] - 1))

    difference = {key: float(np.abs(scores("difference", key)).max()) for key in keys}
    away = {key: float(np.abs(scores("own", key)[off]).max()) for key in keys}
    predicted = {key: np.array(results[key]["fresh"]["mean"])[on] / WANTED for key in keys}
    found = {key: np.array(results[key]["own"]["mean"])[on] / WANTED for key in keys}
    active = np.array([settings[key]["width"] * settings[key]["window"] for key in keys])
    spread = np.array([np.array(results[key]["difference"]["sd"])[on] for key in keys])
    law = _fit(np.repeat(active, len(on)), (spread / spread.mean(axis=0)).ravel())
    one = [key for key in keys if settings[key]["window"] == settings[keys[0]]["window"]]
    widths = np.log([settings[key]["width"] for key in one])
    norms = np.log([results[key]["norm"][0] for key in one])
    norm = float(np.polyfit(widths, norms, 1)[0])
    return Findings(
        {
            "networks": sum(settings[key]["networks"] for key in keys),
            "largest |z| of 36 differences to the mean over fresh rows": difference,
            "its limit at 1 % in all": {key: limit(SLOPES * len(keys), key) for key in keys},
            "largest |z| of 31 slopes off target": away,
            "limit of these at 1 % in all": {key: limit(len(off) * len(keys), key) for key in keys},
            "slopes over targets": {key: _list(found[key]) for key in keys},
            "predicted": {key: _list(predicted[key]) for key in keys},
            "largest predicted slope off target": {
                key: float(np.abs(np.array(results[key]["fresh"]["mean"])[off]).max()) for key in keys
            },
            "exponent of the deviation between networks in m eps_c": law,
            "exponent of the root of the mean of m |W#|_F^2 in m": norm,
            "C d, least and largest": {key: results[key]["d C"] for key in keys},
        },
        (
            Criterion(_EXISTENCE, "all 36 slopes are, on average over networks, those of the exact mean over fresh "
                      "rows (1 %, Bonferroni over slopes and settings)",
                      all(below(difference[key], limit(SLOPES * len(keys), key)) for key in keys)),
            Criterion(_EXISTENCE, "where eps_c < eps_x, the predicted slopes on target lie between 0.6 and 1 of the "
                      "targets", all(above(value, 0.6) and below(value, 1)
                                     for key in keys if settings[key]["window"] < 0.1 for value in predicted[key])),
            Criterion(_EXISTENCE, "all 31 slopes off target are 0 on average over networks (1 %, Bonferroni)",
                      all(below(away[key], limit(len(off) * len(keys), key)) for key in keys)),
            Criterion(_EXISTENCE, "every slope on target differs from 0 with its sign (1 %, Bonferroni)",
                      all(above((scores("own", key)[on] * np.sign(WANTED)).min(), limit(len(on) * len(keys), key))
                          for key in keys)),
            Criterion(_EXISTENCE, "the deviation between networks falls like (m eps_c)^(-1/2): the 95 % interval of "
                      "the exponent lies in [-0.6, -0.4]", above(law["low"], -0.6) and below(law["high"], -0.4)),
            Criterion(_NORM, "|W#|_F is within the bound with its constants on every network",
                      all(below(results[key]["norm over bound"][0], 1) for key in keys)),
            Criterion(_NORM, "every C_(i -> j, s) d lies in [1/2, 2] from the width 1000 on",
                      all(above(results[key]["d C"][0], 0.5) and below(results[key]["d C"][1], 2)
                          for key in keys if settings[key]["width"] >= 1000)),
            Criterion(_NORM, "the root of the mean of m |W#|_F^2 is flat: its exponent in m lies in [-0.1, 0.1]",
                      below(abs(norm), 0.1)),
        ),
    )  # fmt: skip


def _setting(width: int, window: float, **changes: Any) -> dict[str, Any]:
    fixed = {"input_scale": 0.1, "one_over_accuracy": 2 * 10**6, "inputs": 16, "networks": 60, "first": 0}
    return {"width": width, "window": window, **fixed, **changes}


COMPARATORS = Experiment(
    name="comparator-slopes",
    statements=(_EXISTENCE, _NORM),
    title="Five targets at once on W#: 36 slopes on 50 or 60 networks of each width from 500 to 4000, eps_x = 0.1",
    scales={
        "quick": {
            f"m{m}-c{c}": _setting(m, c, networks=40, first=100) for m, c in ((200, 0.06), (400, 0.06), (400, 0.12))
        },
        "full": {
            f"m{m}-c{c}": _setting(m, c, networks=50 if m == 4000 else 60)
            for m, c in (
                (500, 0.06),
                (1000, 0.06),
                (2000, 0.06),
                (4000, 0.06),
                (1000, 0.03),
                (1000, 0.12),
                (2000, 0.12),
            )
        },
    },
    work=over_networks,
    summarise=_summarise,
    slice=("m500-c0.06", {"networks": 4}),
    # One forward and one backward pass in float64 through BLAS and a least squares fit to 16 inputs: errors near 10^-11
    # of the largest slope, which is 10^4 times the least; they matter on the boundary between two roundings only.
    rounding=FIFTH_DIGIT,
)
