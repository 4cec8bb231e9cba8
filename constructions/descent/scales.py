"""The block with its intermediate values in small units, so that its norms are as small as the document claims.

The weights that the document prints have norms such as 1 + max(K, d) C_1, which do not get small with the step size.
But nobody reads the intermediate values of a block: they may be stored as multiples of what they are. With

    pi_j p(j),   chi_j r'(j-1),   gamma g,   sigma_j s(j)        in the slots of p(j), r'(j-1), g, s(j), pi_0 = 1,

relu(c t) = c relu(t) for c > 0 lets each layer work in these units: a forward head multiplies its offset by pi_(j-1)
and its value by pi_j / pi_(j-1); a head for r'(j-1) its offset by pi_(j-1) and its value by chi_j / pi_(j-1); unit h of
the loss layer, of coefficient c_h, stores theta |c_h| times its argument; products multiply units, so that sigma_N =
gamma chi_N and sigma_j = chi_j sigma_(j+1); and the update divides by sigma_j pi_(j-1). The choice

    pi_j = delta^j, delta = 1 / (max_j K_j C_1),          chi_j = pi_(j-1) / ((K_1 + ... + K_N) C_2),
    theta = pi_N / (2 d C_3 (R_3 + 1)), gamma = theta / 2          (denominators below 1 count as 1)

gives all layers before the update the norm 2 at most, and the update the norm 1 + eta `growth` at most,

    growth = 2 sum_j K_j / (sigma_j pi_(j-1)),

a number that depends on the widths, C_1, C_2, C_3 and R_3 alone. The multiplications and the last layer stay as they
are.

Source: deep-icgd, theorem-1 (the bound of the norms).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from flint import fmpq

from lemmata.constructions.descent.block import DescentBlock
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward
from lemmata.numerics.functions.smooth import rational


@dataclass(frozen=True)
class Scales:
    """The units of the intermediate values for networks of the given widths; see `small_scales`.

    Attributes:
        widths: (d_x, K_1, ..., K_(N-1), d_y).
        outputs: (pi_0, ..., pi_N).
        derivatives: (chi_1, ..., chi_N).
        unit: theta, of the hidden units of the loss layer.
        loss: gamma.
        errors: (sigma_1, ..., sigma_N).
    """

    widths: tuple[int, ...]
    outputs: tuple[fmpq, ...]
    derivatives: tuple[fmpq, ...]
    unit: fmpq
    loss: fmpq
    errors: tuple[fmpq, ...]

    @property
    def growth(self) -> fmpq:
        """The norm of the update layer is at most 1 + eta times this."""
        parts = zip(self.widths[1:], self.errors, self.outputs, strict=False)
        return 2 * sum((k / (sigma * pi) for k, sigma, pi in parts), fmpq(0))


def small_scales(widths: tuple[int, ...], weights: tuple[object, object, object], mask_bound: object) -> Scales:
    """The choice above.

    Args:
        widths: (d_x, K_1, ..., K_(N-1), d_y).
        weights: (C_1, C_2, C_3), bounds of the sums of |c_h| for activation, derivative and derivative of the loss.
        mask_bound: R_3.

    Raises:
        ValueError: if a number is not exact.
    """
    C_1, C_2, C_3 = (rational(C, f"weights[{i}]") for i, C in enumerate(weights))
    largest, d_y, N = rational(mask_bound, "mask_bound"), widths[-1], len(widths) - 1
    delta = 1 / max(fmpq(1), max(widths[1:]) * C_1)
    outputs = tuple(delta**j for j in range(N + 1))
    derivatives = tuple(pi / max(fmpq(1), sum(widths[1:]) * C_2) for pi in outputs[:-1])
    unit = outputs[-1] / (2 * max(fmpq(1), d_y * C_3 * (largest + 1)))
    errors = [unit / 2 * derivatives[-1]]
    for chi in reversed(derivatives[:-1]):
        errors.insert(0, chi * errors[0])
    return Scales(tuple(widths), outputs, derivatives, unit, unit / 2, tuple(errors))


def rescaled(block: DescentBlock, scales: Scales | None = None) -> DescentBlock:
    """The same step, from prompts to prompts, with the intermediate values in the given units.

    Args:
        block: exact, as `gradient_descent_block` makes it.
        scales: for the widths of the block; default: `small_scales` for its own sums.

    Raises:
        ValueError: if the scales are for other widths.
    """
    if scales is None:
        weights = block.activation.weight, block.derivative.weight, block.loss_derivative.weight
        scales = small_scales(block.layout.widths, weights, block.mask_bound)
    if scales.widths != block.layout.widths:
        raise ValueError(f"The scales are for the widths {scales.widths}, but the block has {block.layout.widths}.")
    N, widths = block.layout.depth, block.layout.widths
    pi, chi, sigma = scales.outputs, scales.derivatives, scales.errors
    before = list(chain.from_iterable([j] * widths[j + 1] for j in range(N)))  # j - 1 for each family of all layers
    layers = list(block.layers)
    for j in range(N):
        layers[j] = _heads(layers[j], [(pi[j], pi[j + 1] / pi[j])] * widths[j + 1])
    layers[N] = _heads(layers[N], [(pi[j], chi[j] / pi[j]) for j in before])
    layers[N + 1] = _loss_layer(layers[N + 1], scales)
    layers[-2] = _heads(layers[-2], [(fmpq(1), 1 / (sigma[j] * pi[j])) for j in before])
    return replace(block, layers=tuple(layers))


def _heads(layer: object, factors: list[tuple[fmpq, fmpq]]) -> StoredAttention:
    """The layer with offsets and coefficients of each family multiplied by its factors."""
    assert isinstance(layer, StoredAttention)

    def scaled(family: HeadFamily, offset: fmpq, coefficient: fmpq) -> HeadFamily:
        return replace(family, offsets=family.offsets * offset, coefficients=family.coefficients * coefficient)

    return StoredAttention(tuple(scaled(f, *pair) for f, pair in zip(layer.families, factors, strict=True)))


def _loss_layer(layer: object, scales: Scales) -> StoredFeedForward:
    """Unit h with theta |c_h| times its argument, read from pi_N p(N), and the coefficient gamma sign(c_h) / theta."""
    assert isinstance(layer, StoredFeedForward)
    sizes = np.array([scales.unit * abs(c) if c else scales.unit for c in layer.coefficients.tolist()], dtype=object)
    weights = layer.weights * sizes[:, None]
    weights[:, 0] = weights[:, 0] / scales.outputs[-1]
    return StoredFeedForward(layer.source, weights, layer.target, scales.loss * layer.coefficients / sizes)
