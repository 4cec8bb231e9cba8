"""Reference back-propagation for N-layer networks without biases, index by index, in any field.

The network is p(0) = x, p(j) = r(V_j p(j-1)) with r on every layer, the output included; the risk is

    L(w) = (1 / 2n) sum_i sum_k phi(p_i(N)[k], y_i[k]).

Everything is written with Python loops over numbers and the three scalar functions that the caller gives, so that it
runs in exact rationals as it does in floats, and shares nothing with the constructions that are checked against it.

Source: deep-icgd, definition-1, definition-3 and lemma-1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Scalar = Callable[[Any], Any]
Matrix = list[list[Any]]


def forward(matrices: Sequence[Matrix], x: Sequence[Any], activation: Scalar) -> list[list[Any]]:
    """The outputs p(0) = x, p(1), ..., p(N) of all layers."""
    outputs = [list(x)]
    for V in matrices:
        outputs.append([activation(_dot(row, outputs[-1])) for row in V])
    return outputs


def risk_gradient(
    matrices: Sequence[Matrix],
    inputs: Sequence[Sequence[Any]],
    labels: Sequence[Sequence[Any]],
    activation: Scalar,
    derivative: Scalar,
    loss_derivative: Callable[[Any, Any], Any],
) -> list[Matrix]:
    """The gradient of the risk in V_1, ..., V_N, with `derivative` for r' and `loss_derivative(t, y)` for dphi/dt.

    Args:
        matrices: V_1, ..., V_N as nested lists, V_j of shape (K_j, K_(j-1)).
        inputs: x_1, ..., x_n, each of length K_0.
        labels: y_1, ..., y_n, each of length K_N.
        activation: r.
        derivative: r'.
        loss_derivative: the derivative of phi in its first argument.

    Raises:
        ValueError: if the lengths do not fit, or there is no example.
    """
    _check_shapes(matrices, inputs, labels)
    total = [[[0 * entry for entry in row] for row in V] for V in matrices]
    for x, y in zip(inputs, labels, strict=True):
        p = forward(matrices, x, activation)
        error = [loss_derivative(t, target) for t, target in zip(p[-1], y, strict=True)]
        for j in range(len(matrices) - 1, -1, -1):
            V = matrices[j]
            error = [derivative(_dot(V[k], p[j])) * error[k] for k in range(len(V))]
            for k in range(len(V)):
                for b in range(len(p[j])):
                    total[j][k][b] = total[j][k][b] + error[k] * p[j][b]
            error = [_dot([V[k][b] for k in range(len(V))], error) for b in range(len(p[j]))]
    return [[[entry / (2 * len(inputs)) for entry in row] for row in V] for V in total]


def projected_step(matrices: Sequence[Matrix], gradient: Sequence[Matrix], step_size: Any, box: Any) -> list[Matrix]:
    """The weights V - step_size gradient, clipped to box(j, k, b), the two ends for entry (k, b) of layer j."""
    result: list[Matrix] = []
    for j, (V, G) in enumerate(zip(matrices, gradient, strict=True)):
        layer: Matrix = []
        for k, (row, slopes) in enumerate(zip(V, G, strict=True)):
            moved = [entry - step_size * slope for entry, slope in zip(row, slopes, strict=True)]
            layer.append([min(max(entry, box(j, k, b)[0]), box(j, k, b)[1]) for b, entry in enumerate(moved)])
        result.append(layer)
    return result


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    total = a[0] * b[0]
    for left, right in zip(a[1:], b[1:], strict=True):
        total = total + left * right
    return total


def _check_shapes(matrices: Sequence[Matrix], inputs: Sequence[Any], labels: Sequence[Any]) -> None:
    if not matrices or not len(inputs) or len(inputs) != len(labels):
        raise ValueError(f"There must be a layer and as many labels as inputs, not {len(inputs)} and {len(labels)}.")
    sizes = [len(inputs[0]), *(len(V) for V in matrices)]
    for j, V in enumerate(matrices):
        if any(len(row) != sizes[j] for row in V):
            raise ValueError(f"The rows of V_{j + 1} must have length {sizes[j]}, the width of the layer before.")
    if any(len(x) != sizes[0] for x in inputs) or any(len(y) != sizes[-1] for y in labels):
        raise ValueError(f"All inputs must have length {sizes[0]} and all labels length {sizes[-1]}.")
