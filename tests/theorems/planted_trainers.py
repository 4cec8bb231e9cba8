"""Trainers with a fault, planted through public names: always the first batch, or held-out data that are training data.

The first batch of a run is the right one, and so is the start; where the held-out data are those of training, the
batches stay what they are. So a result differs by the fault alone. `FIRST_BATCH` and `OWN_TEST` hold what plants a
fault by the trainer, and `trainers_of` names those of an experiment.
"""

import copy
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lemmata.numerics.margins.group_descent as group_descent
import lemmata.numerics.parity.training as parity_training
import lemmata.theorems.deep_icgd.experiments.regression as regression
import lemmata.theorems.deep_icgd.experiments.tasks as tasks
import lemmata.theorems.hidden_progress.experiments.neurons as neurons
import lemmata.theorems.hidden_progress.experiments.quadratic as quadratic
import lemmata.theorems.hidden_progress.experiments.relu_networks as relu_networks
import lemmata.theorems.hidden_progress.experiments.runs as runs
import lemmata.theorems.hidden_progress.experiments.training as parity_runs
import lemmata.theorems.hidden_progress.experiments.transformers as transformers
import lemmata.theorems.induction_heads.experiments.training as induction_training
import lemmata.theorems.pareto_frontiers.experiments.lottery as lottery
import lemmata.theorems.pareto_frontiers.experiments.sweep as sweep
import lemmata.theorems.qstr.experiments.training as token_training
import lemmata.theorems.rnn_sgd.experiments.training as recurrent_training
import lemmata.theorems.variable_creation.experiments.curves as conjunction_curves
import lemmata.theorems.variable_creation.experiments.sample_sizes as sample_sizes
import tests.numerics.parity.test_architecture_training as on_architecture
import tests.numerics.parity.test_compiled_training as on_compiled
import tests.numerics.parity.test_quadratic_training as on_quadratic
import tests.numerics.parity.test_sinusoidal_neuron as on_neurons
from lemmata.numerics.learning.attention_training import Adam
from lemmata.numerics.parity.architecture_training import ArchitectureRun
from lemmata.numerics.parity.compiled_training import CompiledRun
from lemmata.numerics.parity.quadratic_training import QuadraticRun
from lemmata.numerics.runs.definitions import uses
from lemmata.theorems.experiments import PACKAGES, Experiment
from lemmata.theorems.induction_heads.experiments.measures import TestSet

__all__ = ["FIRST_BATCH", "OWN_TEST", "Plant", "trainers_of"]

Plant = Callable[[pytest.MonkeyPatch], None]
Words = NDArray[np.uint64]


def first(function: Callable[..., Any], key: Callable[..., Any], *changed: int) -> Callable[..., Any]:
    """A function that takes some of its arguments from its first call with a key."""
    seen: dict[Any, Any] = {}

    def stuck(*given: Any, **named: Any) -> Any:
        kept = seen.setdefault(key(*given), given)
        return function(*(kept[i] if i in changed else one for i, one in enumerate(given)), **named)

    return stuck


def same(function: Callable[..., Any], which: Callable[..., Any] = lambda *_: 0) -> Callable[..., Any]:
    """A function that gives, for each key, what it gave at first."""
    seen: dict[Any, Any] = {}

    def stuck(*given: Any, **named: Any) -> Any:
        now = function(*given, **named)  # its generator goes on
        key = which(*given)
        return now if key is None else copy.deepcopy(seen.setdefault(key, now))

    return stuck


class Generator:
    """A generator of random numbers, some of whose draws are changed.

    Args:
        of: the generator.
        change: gets the number of a draw, what it gave, and the generator after it; gives what is handed out.
    """

    def __init__(self, of: np.random.Generator, change: Callable[[int, Any, np.random.Generator], Any]) -> None:
        self.of, self.change, self.count = of, change, 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.of, name)

        def draw(*given: Any, **named: Any) -> Any:
            found = self.change(self.count, method(*given, **named), self.of)
            self.count += 1
            return found

        return draw


def _copied(generator: np.random.Generator) -> np.random.Generator:
    return copy.deepcopy(generator)


def stream(seed: int, count: int) -> Words:
    """The first words of the generator SplitMix64."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, count + 1, dtype=np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


# ---- compiled trainers: the held-out sample is drawn first, then a fixed one if there is one, then the seed of batches


def _log(trainer: Callable[..., Any], before: tuple[Any, ...], rng: np.random.Generator, named: Any) -> list[Any]:
    """What a trainer draws."""
    found: list[Any] = []
    trainer(*copy.deepcopy(before), 1, Generator(_copied(rng), lambda _, draw, __: found.append(draw) or draw), **named)
    return found


def stepwise(trainer: Callable[..., Any], join: Callable[[list[tuple[int, Any]]], Any]) -> Callable[..., Any]:
    """A trainer that takes every step on the first batch: one step after the other, with the same seed of batches."""

    def stuck(*given: Any, **named: Any) -> Any:
        *before, steps, rng = given
        every, held_out = named.pop("check_every", CHECKS[trainer.__name__]), named.pop("held_out", None)
        held = {} if held_out is None else {"held_out": held_out}
        log = _log(trainer, tuple(before), rng, {**named, **held})
        trainer(*copy.deepcopy(before), 1, rng, **named, **held)  # the generator goes on
        checks: list[tuple[int, Any]] = []
        for step in range(1, steps + 1):
            check = step % every == 0 or step == steps
            size = held if check else {"held_out": 1}
            cut = {"recorded": 0} if "recorded" in named and not check else {}

            def replayed(number: int, draw: Any, _: Any, log: list[Any] = log) -> Any:
                return log[number][: len(draw)] if np.ndim(draw) else log[number]

            run = trainer(
                *before, 1, Generator(_copied(np.random.default_rng(0)), replayed), **{**named, **size, **cut}
            )
            if check:
                checks.append((step, run))
                if ends(run, named):
                    break
        return join(checks)

    return stuck


CHECKS = {"train_compiled": 100, "train_architecture": 10, "train_quadratic": 1000}


def ends(run: Any, named: Any) -> bool:
    """Whether a run ends at a check."""
    if isinstance(run, CompiledRun):
        return run.test_time is not None and named.get("until_success", True)
    return run.converged is not None


def join_compiled(checks: list[tuple[int, CompiledRun]]) -> CompiledRun:
    def time(name: str) -> int | None:
        return next((step for step, run in checks if getattr(run, name) is not None), None)

    return CompiledRun(
        [step for step, _ in checks],
        [run.test_error[0] for _, run in checks],
        [error for _, run in checks for error in run.train_error],
        time("test_time"),
        time("train_time"),
    )


def join_architecture(checks: list[tuple[int, ArchitectureRun]]) -> ArchitectureRun:
    found = ArchitectureRun()
    found.accuracy += [one for _, run in checks for one in run.accuracy]
    found.converged = next((step for step, run in checks if run.converged is not None), None)
    return found


def join_quadratic(checks: list[tuple[int, QuadraticRun]]) -> QuadraticRun:
    last, run = checks[-1]
    return QuadraticRun(None if run.converged is None else last, run.accuracy, max(one.best for _, one in checks))


def own_test(trainer: Callable[..., Any], inputs: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled trainer whose held-out sample is its fixed one, or the first fresh samples."""

    def shared(*given: Any, **named: Any) -> Any:
        *before, steps, rng = given
        log = _log(trainer, tuple(before), rng, named)
        fixed = log[1] if len(log) > 2 else None

        def change(number: int, draw: Any, _: Any) -> Any:
            if number or len(log) < 2:
                return draw
            return np.resize(fixed, draw.shape) if fixed is not None else inputs(int(log[-1]), draw, *before)

        return trainer(*before, steps, Generator(rng, change), **named)

    return shared


def codes(seed: int, draw: Any, *_: Any) -> Any:
    """Fresh samples of the compiled trainers, four signs to a code; 16 codes to a word."""
    count, groups = draw.shape
    words = stream(seed, count * -(-groups // 16)).reshape(count, -1)
    shifts = np.uint64(4) * np.arange(16, dtype=np.uint64)
    return ((words[:, :, None] >> shifts) & np.uint64(15)).reshape(count, -1)[:, :groups].astype(np.uint8)


def words(seed: int, draw: Any, network: Any, *_: Any) -> Any:
    """Fresh samples of networks with the activation z^2, an input to a word."""
    return stream(seed, len(draw)) & np.uint64(2 ** network.widths[0] - 1)


# ---- by the module that trains


def _parity_test(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = parity_runs.train_parity

    def shared(network: Any, steps: int, batch: int, rate: float, rng: Any, **named: Any) -> Any:
        size = named.get("sample") or batch

        def change(number: int, draw: Any, after: np.random.Generator) -> Any:
            if number:
                return draw
            return np.resize(_copied(after).integers(0, 2, size=(size, draw.shape[1]), dtype=np.int8), draw.shape)

        return trainer(network, steps, batch, rate, Generator(rng, change), **named)  # type: ignore[arg-type]

    monkeypatch.setattr(parity_runs, "train_parity", shared)


def _drawn(change: Callable[[int, Any, np.random.Generator], Any]) -> Plant:
    """Change the draws of every generator that is made."""
    make = np.random.default_rng
    return lambda monkeypatch: monkeypatch.setattr(np.random, "default_rng", lambda key: Generator(make(key), change))


def _choices() -> Callable[[int, Any, np.random.Generator], Any]:
    """Of the single models: the draws are the start, the held-out sample, and batches."""
    kept: dict[int, Any] = {}

    def change(number: int, draw: Any, of: np.random.Generator) -> Any:
        return draw if number < 2 else kept.setdefault(id(of), (draw, of))[0]

    return change


def _held_choice(number: int, draw: Any, after: np.random.Generator) -> Any:
    """32 inputs as the next batch has them, or one."""
    if number != 1:
        return draw
    shape = (32, draw.shape[1]) if draw.ndim == 2 else (1, *draw.shape[1:])
    return np.resize(_copied(after).choice([-1.0, 1.0], size=shape), draw.shape)


def _neurons(change: Callable[[int, Any, np.random.Generator, Any], Any]) -> Callable[[Any], Any]:
    def planted(trainer: Callable[..., Any]) -> Callable[..., Any]:
        def run(given: Any, k: int, rng: Any, **named: Any) -> Any:
            size = len(given.weights) * given.weights.shape[1] * named["batch"]
            return trainer(given, k, Generator(rng, lambda i, x, of: change(i, x, of, size)), **named)

        return run

    return planted


def _first_bytes() -> Callable[..., Any]:
    kept: dict[int, Any] = {}
    return lambda number, draw, of, _: (
        kept.setdefault(id(of), (draw, of))[0] if number and isinstance(draw, bytes) else draw
    )


def _held_bytes(number: int, draw: Any, after: np.random.Generator, size: int) -> Any:
    if number:
        return draw
    batch = _copied(after).bytes(-(-size // 8))
    return (batch * (len(draw) // len(batch) + 1))[: len(draw)]


def _each(*plants: Plant) -> Plant:
    def all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
        for one in plants:
            one(monkeypatch)

    return all_of_them


def _set(module: Any, name: str, change: Callable[[Any], Any]) -> Plant:
    return lambda monkeypatch: monkeypatch.setattr(module, name, change(getattr(module, name)))


def _adam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Adam, "step", first(Adam.step, lambda adam, *_: adam, 1, 2))


def _one_string(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a sample that every step takes whole: its first string alone."""
    step = Adam.step
    monkeypatch.setattr(Adam, "step", lambda adam, strings, labels: step(adam, strings[:1], labels[:1]))


def _reader(trainer: Callable[..., Any]) -> Callable[..., Any]:
    return lambda settings, sample, _, *rest, **named: trainer(
        settings, sample, (sample.bits, sample.labels), *rest, **named
    )


def _token_batches(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Test prompts have a seed that is a multiple of 10^8; those of the steps follow."""
    return lambda settings, codes, count, seed: draw(settings, codes, count, seed - max(0, seed % 10**8 - 1))


def _token_test(draw: Callable[..., Any]) -> Callable[..., Any]:
    return lambda settings, codes, count, seed: draw(settings, codes, count, seed + (seed % 10**8 == 0))


def _training_tasks(sample: Callable[..., Any]) -> Callable[..., Any]:
    """The first batch of the transformer with seed 0, again and again, in the place of test tasks."""

    def shared(layers: int, count: int, length: int, share: float, rng: Any) -> Any:
        sizes = regression.TRANSFORMER["batch"], regression.TRANSFORMER["trained"] + 1
        parts = sample(layers, *sizes, share, np.random.default_rng([0, layers]))
        return tuple(np.resize(part, (count, length, *part.shape[2:])) for part in parts)

    return shared


def _sequence_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test sequences of the stream of the training data."""
    sample = TestSet.sample

    def shared(*given: Any) -> Any:
        make = np.random.default_rng
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(np.random, "default_rng", lambda key: make([key[0], 1]))
            return sample(*given)

    monkeypatch.setattr(TestSet, "sample", shared)


def _recurrent_test(inputs: Callable[..., Any]) -> Callable[..., Any]:
    """Of two draws of one generator, those for kernel regression and for its test, the second is like the first."""
    seen: dict[int, Any] = {}

    def shared(count: int, length: int, rng: Any) -> Any:
        found = inputs(count, length, rng)
        kept, _ = seen.setdefault(id(rng), (found, rng))
        return found if len(kept) <= len(found) else kept[: len(found)]

    return shared


def _transformer_test(draw: Callable[..., Any]) -> Callable[..., Any]:
    """The held-out sample has the generator [seed, 2], the batches [seed, 1]: it is then the first batch, repeated."""

    def shared(rng: np.random.Generator, n: int, k: int, count: int) -> Any:
        seed, stream = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
        found = draw(np.random.default_rng([seed, 1]), n, k, 32) if stream == 2 else draw(rng, n, k, count)
        return tuple(np.resize(part, (count, *part.shape[1:])) for part in found)

    return shared


COMPILED = (relu_networks, sweep, lottery, neurons, on_compiled)

FIRST_BATCH: dict[str, Plant] = {
    "train_parity": _set(
        parity_training, "network_gradient", lambda f: first(f, lambda network, *_: id(network), 1, 2)
    ),
    "single": _drawn(_choices()),
    "train_quadratic": _each(
        *(_set(one, "train_quadratic", lambda f: stepwise(f, join_quadratic)) for one in (quadratic, on_quadratic)),
    ),
    "train_architecture": _each(
        *(_set(one, "train_architecture", lambda f: stepwise(f, join_architecture)) for one in (runs, on_architecture)),
    ),
    "train_compiled": _each(
        *(_set(one, "train_compiled", lambda f: stepwise(f, join_compiled)) for one in COMPILED),
    ),
    "train_neurons": _each(*(_set(one, "train_neurons", _neurons(_first_bytes())) for one in (neurons, on_neurons))),
    "train_transformer": _set(tasks, "sample_tasks", same),
    "train_parity_transformer": _set(transformers, "draw_inputs", lambda f: same(f, lambda rng, *_: id(rng))),
    "train_on_group": _set(group_descent, "group_gradient", lambda f: first(f, lambda *given: len(given) > 3, 3)),
    "training_steps": _set(induction_training, "sample_sequences", same),
    "steps": _set(token_training, "draw_batch", _token_batches),
    "elman_steps": _set(
        recurrent_training,
        "elman_steps",
        lambda f: (
            lambda columns, tokens, labels, *rest: f(
                columns, np.repeat(tokens[:1], len(tokens), 0), np.repeat(labels[:1], len(labels), 0), *rest
            )
        ),
    ),
    "train_reader": _one_string,
    "parity_courses": _adam,
}

OWN_TEST: dict[str, Plant] = {
    "train_parity": _parity_test,
    "single": _drawn(_held_choice),
    "train_quadratic": _each(
        *(_set(one, "train_quadratic", lambda f: own_test(f, words)) for one in (quadratic, on_quadratic)),
    ),
    "train_architecture": _each(
        *(_set(one, "train_architecture", lambda f: own_test(f, codes)) for one in (runs, on_architecture)),
    ),
    "train_compiled": _each(*(_set(one, "train_compiled", lambda f: own_test(f, codes)) for one in COMPILED)),
    "train_neurons": _each(*(_set(one, "train_neurons", _neurons(_held_bytes)) for one in (neurons, on_neurons))),
    "train_transformer": _set(regression, "sample_tasks", _training_tasks),
    "train_parity_transformer": _set(transformers, "draw_inputs", _transformer_test),
    "training_steps": _sequence_test,
    "steps": _set(token_training, "draw_batch", _token_test),
    "elman_steps": _set(recurrent_training, "random_inputs", _recurrent_test),
    "train_reader": _each(*(_set(one, "train_reader", _reader) for one in (conjunction_curves, sample_sizes))),
}


def trainers_of(experiment: Experiment) -> list[str]:
    """The trainers that an experiment uses, as they are named in `FIRST_BATCH`; none if it trains nothing."""
    work = experiment.work
    if work.__module__.endswith("single_models"):
        return ["single"]
    used = {name for _, name in uses(Path(inspect.getfile(work)), work.__name__, PACKAGES).definitions}
    return [name for name in FIRST_BATCH if name in used]
