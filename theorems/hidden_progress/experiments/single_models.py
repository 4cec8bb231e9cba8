"""Experiments on single models whose dynamics is known in part: a sinusoidal neuron and disjoint PolyNets.

The sinusoidal neuron (figure B.8, right) is f(x) = cos(a.x), which is chi_S at a = (pi/2) 1_S for k = 4 and, up to its
sign, for k = 2. As |f| <= 1, the hinge loss is 1 - y f. The coefficients of its derivative are products of sines and
cosines (lemmata.numerics.fourier.boolean).

The PolyNets (figure B.1) start from Gaussian weights whose relevant product is positive, and are trained with the
correlation loss: by their gradient flow in small steps, and by SGD with batches of one sample at a constant rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.numerics.fourier.gaps import majority_gap
from lemmata.numerics.runs.comparison import FIFTH_DIGIT, above, below
from lemmata.numerics.runs.confidence import median_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["POLYNETS", "SINUSOIDS", "sinusoid_gaps"]

_GROWTH, _POLYNETS = "hidden-progress:experiment-B.8-right", "hidden-progress:experiment-B.1"
Array = NDArray[np.float64]


def sinusoid_gaps(weights: Array, k: int) -> float:
    """The Fourier gap of sin(a.x) at the first k inputs, k even, for the weights a, shape (n,)."""
    sines, cosines = np.abs(np.sin(weights)), np.abs(np.cos(weights))
    below = [math.prod(np.delete(sines[:k], i)) * cosines[i] * math.prod(cosines[k:]) for i in range(k)]
    above = [math.prod(sines[:k]) * math.prod(np.delete(cosines[k:], j)) * s for j, s in enumerate(sines[k:])]
    return float(min(below) - max(above))


def _train_sinusoid(settings: dict[str, Any]) -> dict[str, Any]:
    """One run; a starts uniform in +-(pi/2)/sqrt(n), as sigma(z) = cos(pi z/2) at the weights of PyTorch."""
    n, k, rate = settings["n"], settings["k"], settings["rate"] * (math.pi / 2) ** 2  # the rate of w, for a = pi w/2
    rng = np.random.default_rng([88, settings["seed"]])
    a = rng.uniform(-1, 1, size=n) * math.pi / 2 / math.sqrt(n)
    sign = 1.0 if k % 4 == 0 else -1.0
    held = rng.choice([-1.0, 1.0], size=(1024, n))
    target = np.prod(held[:, :k], axis=1)
    record: dict[str, list[float]] = {"steps": [], "gap": [], "accuracy": []}
    for step in range(settings["steps"] + 1):
        if step % settings["every"] == 0:
            accuracy = float(np.mean(sign * np.cos(held @ a) * target > 0))
            record["steps"].append(step)
            record["gap"].append(float(f"{sinusoid_gaps(a, k):.5g}"))
            record["accuracy"].append(round(accuracy, 4))
            if accuracy == 1:
                break
        x = rng.choice([-1.0, 1.0], size=(settings["batch"], n))
        y = np.prod(x[:, :k], axis=1)
        a -= rate * (sign * y * np.sin(x @ a)) @ x / len(x)
    return record


def _summarise_sinusoids(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers: dict[str, Any] = {}
    positive, lower, grown = True, [], []
    for k in sorted({cell["k"] for cell in settings.values()}):
        cells = {key: cell for key, cell in settings.items() if cell["k"] == k}
        n = next(iter(cells.values()))["n"]
        gap = majority_gap(n, k).gap
        majority = float(int(gap.p) / int(gap.q))
        starts = [results[key]["gap"][0] for key in cells]
        growth = [max(results[key]["gap"]) / results[key]["gap"][0] for key in cells]
        positive &= above(min(starts), 0)
        lower += [below(start, majority) for start in starts]
        grown += [above(factor, 2) for factor in growth]
        numbers[f"k = {k}"] = {
            "gap of majority": majority, "gap at the start": median_interval(starts).as_dict(),
            "largest gap over the first": median_interval(growth).as_dict(),
            "converged": sum(results[key]["accuracy"][-1] == 1 for key in cells), "runs": len(cells),
        }  # fmt: skip
    return Findings(
        numbers,
        (
            Criterion(_GROWTH, "the gap is positive at the start of every run", bool(positive)),
            Criterion(
                _GROWTH, "it is below majority's at the start of 80 % of the runs", sum(lower) >= 0.8 * len(lower)
            ),
            Criterion(_GROWTH, "it at least doubles in 90 % of the runs", sum(grown) >= 0.9 * len(grown)),
        ),
    )


def _sinusoid(seed: int, k: int, **changes: Any) -> dict[str, Any]:
    return {"n": 15, "k": k, "seed": seed, "batch": 32, "rate": 0.01, "steps": 40_000, "every": 10 if k == 2 else 200,
            **changes}  # fmt: skip


SINUSOIDS = Experiment(
    name="parity-sinusoid-gap",
    statements=(_GROWTH,),
    title="The Fourier gap of a sinusoidal neuron along SGD: n = 15, k = 2 and 4, B = 32",
    scales={
        "quick": {f"k2-seed-{seed}": _sinusoid(seed, 2, steps=2000) for seed in range(6)},
        "full": {f"k{k}-seed-{seed}": _sinusoid(seed, k) for k in (2, 4) for seed in range(10)},
    },
    work=_train_sinusoid,
    summarise=_summarise_sinusoids,
    slice=("k2-seed-0", {"steps": 2000}),
    others=(("k2-seed-5", {"steps": 2000}), ("k4-seed-9", {"steps": 2000})),
    rounding=FIFTH_DIGIT,  # float64 through BLAS and sines: errors near 10^-12 matter on a boundary of roundings only
)


def _gaussian_start(runs: int, k: int, block: int, rng: np.random.Generator) -> Array:
    w = rng.normal(size=(runs, k, block))
    w[:, 0, 0] *= np.sign(np.prod(w[:, :, 0], axis=1))
    return w


def _others(values: Array) -> Array:
    """For each i the product of the other entries along the last axis."""
    return np.stack([np.prod(np.delete(values, i, axis=-1), axis=-1) for i in range(values.shape[-1])], axis=-1)


def _flow_step(w: Array, rate: float) -> None:
    """A step of length ``rate`` of the population gradient, which moves the relevant weights alone."""
    w[:, :, 0] += rate * _others(w[:, :, 0])


def _sgd_step(w: Array, rate: float, rng: np.random.Generator) -> None:
    """A step on one sample for each run."""
    x = rng.choice([-1.0, 1.0], size=w.shape)
    y = np.prod(x[:, :, 0], axis=1)
    w += rate * (y[:, None] * _others(np.einsum("rkb,rkb->rk", w, x)))[:, :, None] * x


def _polynets(settings: dict[str, Any]) -> dict[str, Any]:
    """All runs of one kind: the error on 8192 inputs, until it is below 1 % or a weight exceeds 10^4."""
    rng = np.random.default_rng([11, settings["seed"]])
    w = _gaussian_start(settings["runs"], settings["k"], settings["block"], rng)
    held = rng.choice([-1.0, 1.0], size=(8192, *w.shape[1:]))
    target = np.prod(held[:, :, 0], axis=1)
    step: Callable[[], None]
    if settings["kind"] == "flow":
        step = lambda: _flow_step(w, settings["rate"])  # noqa: E731
    else:
        step = lambda: _sgd_step(w, settings["rate"], rng)  # noqa: E731
    curves: list[list[float]] = [[] for _ in w]
    live = np.ones(len(w), dtype=bool)
    for t in range(settings["steps"] + 1):
        if t % settings["every"] == 0:
            for r in np.flatnonzero(live):
                outputs = np.prod(np.einsum("skb,kb->sk", held, w[r]), axis=1)
                curves[r].append(round(float(np.mean(outputs * target <= 0)), 4))
            live &= np.array([curve[-1] >= 0.01 for curve in curves]) & (np.abs(w).max(axis=(1, 2)) < 1e4)
            if not live.any():
                break
        before = w[~live].copy()
        step()
        w[~live] = before  # a finished run stays as it is
    return {"curves": curves}


def _summarise_polynets(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    numbers, done, flat = {}, [], []
    for key in settings:
        curves = results[key]["curves"]
        shares = [sum(error > 0.45 for error in curve) / len(curve) for curve in curves]
        learned = sum(curve[-1] < 0.01 for curve in curves)
        done.append(learned == len(curves))
        flat.append(above(float(np.median(shares)), 0.5))
        numbers[key] = {
            "share of the time with an error above 45 %": median_interval(shares).as_dict(),
            "error below 1 %": learned, "runs": len(curves),
        }  # fmt: skip
    return Findings(
        numbers,
        (
            Criterion(_POLYNETS, "by the flow and by SGD every run ends with an error below 1 %", all(done)),
            Criterion(_POLYNETS, "the median run spends half of its time above 45 %, in both cases", all(flat)),
        ),
    )


def _polynet_runs(kind: str, runs: int, seed: int = 0, **changes: Any) -> dict[str, Any]:
    return {"kind": kind, "runs": runs, "seed": seed, "k": 3, "block": 20, "rate": 1e-4 if kind == "sgd" else 1e-3,
            "steps": 200_000, "every": 500 if kind == "sgd" else 50, **changes}  # fmt: skip


POLYNETS = Experiment(
    name="parity-polynet-curves",
    statements=(_POLYNETS,),
    title="Disjoint PolyNets from Gaussian weights, k = 3, n' = 20: gradient flow and SGD with B = 1",
    scales={
        "quick": {kind: _polynet_runs(kind, 8, block=6, rate=1e-3, every=50) for kind in ("flow", "sgd")},
        "full": {kind: _polynet_runs(kind, 15) for kind in ("flow", "sgd")},
    },
    work=_polynets,
    summarise=_summarise_polynets,
    slice=("flow", {"steps": 2000}),  # counts of the signs of outputs in float64
    others=(("sgd", {"steps": 2000}),),
)
