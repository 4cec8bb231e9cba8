"""A step of gradient descent as a torch module, its layers one after the other; use `LayeredStep.to_torch`.

The mask that silences the test token adds and subtracts a bound R of all outputs and labels inside a ReLU, so that a
short format loses the digits of labels below u R, u its unit of rounding, and leaks as much of the test token.
"""

from __future__ import annotations

import warnings

import torch

from lemmata.constructions.descent.bounds import largest_value, preactivation_bounds
from lemmata.constructions.descent.products import TokenProduct
from lemmata.constructions.descent.risk import RiskDescentBlock
from lemmata.constructions.descent.step import GradientStep
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.torch import module_of, to_torch

__all__ = ["mask_rounding", "to_torch"]

_NOTABLE = 1e-3  # of the derivative of the loss, whose scale is that of the labels
_ROUNDINGS = 8  # of one argument of a unit: three products, four sums and the weight itself


def mask_rounding(step: GradientStep | RiskDescentBlock, dtype: torch.dtype | None) -> float:
    """A bound of what rounding in the mask does to one coordinate of the derivative of the loss: 8 u R C.

    The arguments of its units a . [p; y; 1] - R (1 - t), with ||a||_1 <= 1, have partial sums of at most 2 R in size,
    relative roundings of u/2 each, and enter with coefficients of sum C. Of a general risk it is a coordinate of its
    gradient, and [w; x; y; 1] the variables.
    """
    u = torch.finfo(torch.float64 if dtype is None else dtype).eps
    if isinstance(step, RiskDescentBlock):
        return _ROUNDINGS * u * float(step.mask) * float(max(sums.weight for sums in step.gradient))
    _, outputs = preactivation_bounds(
        step.layout, (step.lower, step.upper), step.input_bound, largest_value(step.activation)
    )
    return _ROUNDINGS * u * float(step.checked_mask(outputs[-1])) * float(step.loss_derivative.weight)


@module_of(RiskDescentBlock)
@module_of(GradientStep)
def _layers(
    step: GradientStep | RiskDescentBlock, dtype: torch.dtype | None, stream: ResidualStream | None
) -> torch.nn.Module:
    """Every head as matrices; prompts (..., T, width) to the same shape.

    Raises:
        ValueError: if rounding in the mask may change the derivative of the loss by as much as 1 in this format.

    Warns:
        UserWarning: if it may change it by more than 1/1000.
    """
    rounding = mask_rounding(step, dtype)
    if rounding > _NOTABLE:
        message = (
            f"In {dtype} the mask that silences the test token may change the derivative of the loss by "
            f"{rounding:.2g}, because it is as large as the bounds of outputs and labels: use float64, or a smaller "
            "box, input_bound or label_bound."
        )
        if rounding >= 1:
            raise ValueError(message)
        warnings.warn(message, stacklevel=5)
    return to_torch(step.layers, dtype=dtype, stream=step.layout.stream if stream is None else stream)


@module_of(TokenProduct)
def _products(network: TokenProduct, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    """All layers as matrices; streams (..., T, width) to the same shape."""
    return to_torch(network.layers, dtype=dtype, stream=network.stream if stream is None else stream)
