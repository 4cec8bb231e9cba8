"""SGD on Elman networks of several widths, trained in the recurrent matrix alone, on targets that know positions.

The token i enters the output j by z_i or z_i^2, according to the parity of i, with a sign according to that of j - i,
where z_i = <w_(i -> j), x*_i> for random directions w. Positions are not fed to the network. The standard of
comparison is the best constant, the median of each label. Kernel regression uses the tangent kernel of the same start.
A predictor P that is blind to the order of the tokens has P(x) = P(pi x) for every permutation pi of them, and since
pi x is distributed as x, E|F(x) - P(x)| >= E|F(x) - F(pi x)|/2: no training brings such a predictor below that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lemmata.constructions.recurrent.concepts import Part, TargetFunction, input_sequences, target_values
from lemmata.constructions.recurrent.elman import ElmanNetwork, random_elman
from lemmata.numerics.recurrent.tangent_kernel import kernel_regression, tangent_features, tangent_kernel
from lemmata.numerics.recurrent.training import elman_columns, elman_steps
from lemmata.numerics.runs.comparison import FIFTH_DIGIT, above, below
from lemmata.numerics.runs.confidence import mean_interval
from lemmata.theorems.experiments import Criterion, Experiment, Findings

__all__ = ["TRAINING", "blind_bound", "random_inputs", "random_target", "train"]

_THEOREM, _POSITIONS, _SAMPLES = (
    f"rnn-sgd:{name}" for name in ("theorem-1", "fact-position-adaptivity", "fact-sample-complexity")
)
Floats = NDArray[np.float64]
_PLANE = 3
"""The width d_x of the true inputs: a circle of unit vectors with last coordinate 1/2."""
_STEP = 100
"""Objectives are averaged over so many steps to see when training is done."""


def random_target(length: int, rng: np.random.Generator) -> TargetFunction:
    """One part for each pair i < j: z for even and z^2 for odd i, with the sign (-1)^(j - i)."""
    parts = []
    for j in range(3, length + 1):
        for i in range(2, j):
            angle, sign = rng.uniform(0, 2 * math.pi), (-1) ** (j - i)
            coefficients = (0, sign) if i % 2 == 0 else (0, 0, sign)
            w = np.array([math.cos(angle), math.sin(angle), 0.0])
            parts.append(Part(i, j, 0, coefficients, w))  # pyright: ignore[reportArgumentType]
    return TargetFunction(length, 1, tuple(parts))


def random_inputs(count: int, length: int, rng: np.random.Generator) -> Floats:
    """Independent true inputs on the circle, shape (count, L - 2, 3)."""
    angle = rng.uniform(0, 2 * math.pi, (count, length - 2))
    root = math.sqrt(0.75)
    return np.stack([root * np.cos(angle), root * np.sin(angle), np.full(angle.shape, 0.5)], axis=-1)


def blind_bound(target: TargetFunction, inputs: Floats) -> float:
    """An estimate of what sum_j E|F_j - P_j| is at least for all P that are blind to the order of the tokens.

    For each j the largest over the permutations of the tokens before j, less four standard errors.
    """
    values, total = target_values(target, inputs)[:, :, 0], 0.0
    for j in range(3, target.length + 1):
        least = 0.0
        for order in itertools.permutations(range(j - 2)):
            moved = inputs.copy()
            moved[:, : j - 2] = inputs[:, order]
            half = np.abs(values[:, j - 1] - target_values(target, moved)[:, j - 1, 0]) / 2
            least = max(least, float(half.mean() - 4 * half.std() / math.sqrt(len(half))))
        total += least
    return total


def train(settings: dict[str, Any]) -> dict[str, Any]:
    """For every seed the course of the objective and of sqrt(m) |W_t - W_0|_F, and what others reach on its target."""
    names = ("objective", "norm", "done", "average", "constant", "blind", "kernel")
    result: dict[str, Any] = {name: [] for name in names}
    for seed in settings["seeds"]:
        for name, value in _train(settings, seed).items():
            result[name].append(value)
    return result


def _train(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    length, m, steps, window = (settings[name] for name in ("length", "width", "steps", "window"))
    network = random_elman(m, _PLANE + 1, 1, np.random.default_rng([seed, 0]))
    target = random_target(length, np.random.default_rng([seed, 1]))
    inputs = random_inputs(settings["held_out"], length, np.random.default_rng([seed, 2]))
    labels = target_values(target, inputs)
    constant = float(np.abs(labels - np.median(labels, axis=0)).mean(axis=0).sum())
    columns, rng = elman_columns(network.state, network.token, network.readout), np.random.default_rng([seed, 3])
    start, losses, norms = columns.state.astype(np.float64), [], []
    for _ in range(steps // window):
        x = random_inputs(window, length, rng)
        tokens = input_sequences(x, settings["input_scale"])
        losses.append(elman_steps(columns, tokens, target_values(target, x), settings["rate"] / m, settings["scale"]))
        norms.append(_five(math.sqrt(m) * float(np.linalg.norm(columns.state - start))))
    course = np.concatenate(losses)
    fine = course.reshape(-1, _STEP).mean(axis=1) <= settings["threshold"] * constant
    return {
        "objective": [_five(part.mean()) for part in losses],
        "norm": norms,
        "done": int(fine.argmax() + 1) * _STEP if fine.any() else None,
        "average": [_five(course[: window * (k + 1)].mean()) for k in range(len(losses))],
        "constant": _five(constant),
        "blind": _five(blind_bound(target, inputs)),
        "kernel": _five(_kernel_objective(settings, network, target, seed)),
    }


def _kernel_objective(settings: Mapping[str, Any], network: ElmanNetwork, target: TargetFunction, seed: int) -> float:
    """The mean objective of tangent kernel regression, each output by itself, on fresh inputs."""
    length, counts = settings["length"], (settings["kernel_samples"], settings["kernel_tests"])
    rng, total = np.random.default_rng([seed, 4]), 0.0
    inputs = [random_inputs(count, length, rng) for count in counts]
    for j in range(3, length + 1):
        seen, fresh = (
            tangent_features(
                network.state, network.token, network.readout[0], input_sequences(x, settings["input_scale"]), j
            )
            for x in inputs
        )
        labels, wanted = (target_values(target, x)[:, j - 1, 0] for x in inputs)
        scale = settings["scale"]
        found = kernel_regression(
            tangent_kernel(seen, seen), labels - scale * seen.outputs, tangent_kernel(fresh, seen)
        )
        total += float(np.abs(found + scale * fresh.outputs - wanted).mean())
    return total


def _five(value: float) -> float:
    return float(f"{value:.5g}")


def _runs(settings: Mapping[str, Any], results: Mapping[str, Any]) -> dict[int, dict[str, list[Any]]]:
    """The results of all seeds by width."""
    found: dict[int, dict[str, list[Any]]] = {}
    for key, setting in settings.items():
        runs = found.setdefault(setting["width"], {name: [] for name in results[key]})
        for name, values in results[key].items():
            runs[name] += values
    return found


def _slope(widths: Sequence[int], values: Sequence[float]) -> dict[str, float]:
    """The slope of the logarithm of the values in that of the width, with its 95 % interval."""
    fit: Any = stats.linregress(np.log(widths), np.log(values))
    half = float(stats.t.ppf(0.975, len(values) - 2) * fit.stderr)
    return {"slope": _five(fit.slope), "low": _five(fit.slope - half), "high": _five(fit.slope + half)}


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    runs = _runs(settings, results)
    last = 1000 // next(iter(settings.values()))["window"]
    shares: dict[str, dict[int, Any]] = {"average": {}, "end": {}, "kernel": {}, "end over blind": {}}
    for m, found in runs.items():
        end = [float(np.mean(course[-last:])) for course in found["objective"]]
        pairs = {
            "average": zip([course[-1] for course in found["average"]], found["constant"], strict=True),
            "end": zip(end, found["constant"], strict=True),
            "kernel": zip(found["kernel"], found["constant"], strict=True),
            "end over blind": zip(end, found["blind"], strict=True),
        }
        for name, values in pairs.items():
            shares[name][m] = mean_interval([value / unit for value, unit in values])
    flat = [(m, norms[-1]) for m, found in runs.items() for norms in found["norm"]]
    norm = _slope(*zip(*flat, strict=True))
    done = [(m, time) for m, found in runs.items() for time in found["done"]]
    finished = all(time is not None for _, time in done)
    wait = _slope(*zip(*done, strict=True)) if finished else None
    return Findings(
        {
            "networks": len(flat),
            **{f"{name}, m = {m}": {k: _five(v) for k, v in interval.as_dict().items()}
               for name, widths in shares.items() for m, interval in widths.items()},
            "sqrt(m) |W_T - W_0|_F, mean": {
                str(m): _five(float(np.mean([v for w, v in flat if w == m]))) for m in runs
            },
            "slope of its logarithm in log m": norm,
            "steps to a quarter of the best constant, median": {
                str(m): float(np.median(found["done"])) if finished else None for m, found in runs.items()
            },
            "slope of their logarithm in log m": wait,
        },
        (
            Criterion(_THEOREM, "at every width the mean objective of all steps is at most half of that of the best "
                      "constant (upper end of the 95 % interval)",
                      all(below(i.high, 0.5) for i in shares["average"].values())),
            Criterion(_THEOREM, "at every width that of the last 1000 steps is at most a quarter (upper end)",
                      all(below(i.high, 0.25) for i in shares["end"].values())),
            Criterion(_THEOREM, "sqrt(m) |W_T - W_0|_F is flat: the 95 % interval of the slope of its logarithm in "
                      "log m lies in [-0.15, 0.15]", above(norm["low"], -0.15) and below(norm["high"], 0.15)),
            Criterion(_THEOREM, "regression with the tangent kernel is at most half of the best constant at every "
                      "width (upper end)", all(below(i.high, 0.5) for i in shares["kernel"].values())),
            Criterion(_POSITIONS, "at every width the objective of the last 1000 steps is below what is possible "
                      "without regard to the order of the tokens (upper end)",
                      all(below(i.high, 1) for i in shares["end over blind"].values())),
            Criterion(_SAMPLES, "all networks reach a quarter of the best constant in the mean of 100 steps",
                      finished),
            Criterion(_SAMPLES, "the steps that it takes do not grow with the width: the upper end of the 95 % "
                      "interval of the slope of their logarithm in log m is at most 0.15",
                      wait is not None and below(wait["high"], 0.15)),
        ),
    )  # fmt: skip


def _setting(width: int, seeds: Sequence[int], **changes: Any) -> dict[str, Any]:
    return {
        "length": 5, "width": width, "input_scale": 0.5, "rate": 0.1, "scale": 1.0, "steps": 6000, "window": 500,
        "threshold": 0.25, "held_out": 20_000, "kernel_samples": 1000, "kernel_tests": 500, "seeds": list(seeds),
        **changes,
    }  # fmt: skip


_QUICK = {"steps": 3000, "held_out": 5000, "kernel_samples": 200, "kernel_tests": 200}

TRAINING = Experiment(
    name="recurrent-sgd",
    statements=(_THEOREM, _POSITIONS, _SAMPLES),
    title="SGD in the recurrent matrix alone, batches of one: L = 5, widths 128, 512 and 2048, 16 networks each",
    scales={
        "quick": {f"m{m}": _setting(m, range(100, 104), **_QUICK) for m in (128, 256)},
        "full": {
            f"m{m}-{part}": _setting(m, range(4 * part, 4 * part + 4)) for m in (128, 512, 2048) for part in range(4)
        },
    },
    work=train,
    summarise=_summarise,
    slice=("m128-0", {"seeds": [0], "steps": 1000}),
    others=(("m128-1", {"seeds": [6], "steps": 1000}), ("m128-3", {"seeds": [15], "steps": 1500})),
    # The steps are compiled, and float64 enters them through labels that are rounded to float32; means, norms and the
    # kernel regression go through BLAS and LAPACK, with errors of 10^-16 times condition numbers below 10^8: what is
    # kept can differ on the boundary between two roundings only.
    rounding=FIFTH_DIGIT,
)
