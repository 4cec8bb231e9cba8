"""Gradient descent on the parameters of an arithmetic circuit, in the numbers that it is given: exactly, if they are.

The inputs of an architecture are x, then the parameters theta. Its loss on a finite distribution is sum_i p_i l(y_i,
f(x_i; theta)), and the gradient by theta comes from the circuit of the gradient (`arithmetic.gradient`). Descent of all
kinds is one function of the batches that it is given:

    gradient descent      every batch is the population, with its probabilities
    online SGD            batches of fresh examples; `chunks` of a long sample are the same
    offline SGD           `epochs`: several passes, each in an order of its own
    offline descent       every batch is the whole training set

Source: variable-creation, definition-3.3b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lemmata.constructions.circuits.arithmetic import Circuit, gradient
from lemmata.numerics.learning.losses import Loss

__all__ = ["Batch", "chunks", "descend", "epochs", "mean_gradient", "mean_loss"]

Example = tuple[Sequence[Any], Any]
Batch = Sequence[tuple[Sequence[Any], Any, Any]]
"""Examples (x, y, weight); the weights are those of a mean, hence of sum 1."""


def mean_loss(circuit: Circuit, theta: Sequence[Any], batch: Batch, loss: Loss) -> Any:
    """sum_i w_i l(y_i, f(x_i; theta)).

    Raises:
        ValueError: for an empty batch, several outputs, or inputs that do not fit.
    """
    _check(circuit, theta, batch)
    return _total([weight * loss.value(y, circuit([*x, *theta])[0]) for x, y, weight in batch])


def mean_gradient(circuit: Circuit, theta: Sequence[Any], batch: Batch, loss: Loss) -> list[Any]:
    """The gradient of `mean_loss` by theta, through the circuit of the gradient.

    Raises:
        ValueError: as `mean_loss`.
    """
    _check(circuit, theta, batch)
    return _mean_gradient(circuit, gradient(circuit), theta, batch, loss)


def descend(
    circuit: Circuit,
    theta: Sequence[Any],
    batches: Iterable[Batch],
    rates: Sequence[Any],
    loss: Loss,
    penalty: Callable[[Sequence[Any]], Sequence[Any]] | None = None,
) -> list[list[Any]]:
    """theta_0, ..., theta_T with theta_(t+1) = theta_t - eta_t (gradient on batch t + penalty), t = 0, ..., T - 1.

    Args:
        circuit: the architecture, with one output; its inputs are x, then theta.
        theta: theta_0.
        batches: T of them.
        rates: eta_0, ..., eta_(T-1).
        loss: of `lemmata.numerics.learning.losses`.
        penalty: the gradient of a regularisation term, or none.

    Raises:
        ValueError: as `mean_loss`, and unless there is one rate for each batch.
    """
    listed = list(batches)
    if len(listed) != len(rates):
        raise ValueError(f"There must be one rate for each batch, not {len(rates)} for {len(listed)}.")
    for batch in listed:
        _check(circuit, theta, batch)
    backward, path = gradient(circuit), [list(theta)]
    for batch, rate in zip(listed, rates, strict=True):
        step = _mean_gradient(circuit, backward, path[-1], batch, loss)
        if penalty is not None:
            step = [a + b for a, b in zip(step, penalty(path[-1]), strict=True)]
        path.append([a - rate * b for a, b in zip(path[-1], step, strict=True)])
    return path


def chunks(examples: Sequence[Example], size: int, share: Callable[[int], Any]) -> list[Batch]:
    """Consecutive batches of ``size`` examples, in one pass; ``share(size)`` is 1/size in the numbers wanted.

    Raises:
        ValueError: unless the size is positive and divides the number of examples, which is not 0.
    """
    if size < 1 or not examples or len(examples) % size:
        raise ValueError(f"{len(examples)} examples are not cut into batches of {size}: give a divisor.")
    return [[(x, y, share(size)) for x, y in examples[start : start + size]] for start in range(0, len(examples), size)]


def epochs(
    examples: Sequence[Example], size: int, orders: Iterable[Sequence[int]], share: Callable[[int], Any]
) -> list[Batch]:
    """The batches of several passes, one for each order of the examples.

    Raises:
        ValueError: as `chunks`, and for an order that is no permutation.
    """
    result: list[Batch] = []
    for order in orders:
        if sorted(order) != list(range(len(examples))):
            raise ValueError(f"An order lists each of the {len(examples)} examples once, not {list(order)}.")
        result += chunks([examples[i] for i in order], size, share)
    return result


def _mean_gradient(circuit: Circuit, backward: Circuit, theta: Sequence[Any], batch: Batch, loss: Loss) -> list[Any]:
    rows = []
    for x, y, weight in batch:
        point = [*x, *theta]
        slope = weight * loss.slope(y, circuit(point)[0])
        rows.append([slope * partial for partial in backward(point)[len(x) :]])
    return [_total(column) for column in zip(*rows, strict=True)]


def _total(terms: Iterable[Any]) -> Any:
    first, *others = terms
    for term in others:
        first = first + term
    return first


def _check(circuit: Circuit, theta: Sequence[Any], batch: Batch) -> None:
    if len(circuit.outputs) != 1:
        raise ValueError(f"A loss needs a circuit with one output; this one has {len(circuit.outputs)}.")
    if not batch or not len(theta):
        raise ValueError("A mean over a batch needs an example, and descent a parameter.")
    if any(len(x) + len(theta) != circuit.inputs for x, _, _ in batch):
        sizes = sorted({len(x) for x, _, _ in batch})
        raise ValueError(
            f"The circuit has {circuit.inputs} inputs, which {len(theta)} parameters and examples of lengths {sizes} "
            "do not fill."
        )
