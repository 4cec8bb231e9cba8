"""A step of gradient descent as a torch module, its layers one after the other; use `GradientStep.to_torch`."""

from __future__ import annotations

import torch

from constructions.descent.step import GradientStep
from constructions.networks.stream import ResidualStream
from constructions.networks.torch import module_of, to_torch

__all__ = ["to_torch"]


@module_of(GradientStep)
def _layers(step: GradientStep, dtype: torch.dtype | None, stream: ResidualStream | None) -> torch.nn.Module:
    """Every head as matrices; prompts (..., T, width) to the same shape."""
    return to_torch(step.layers, dtype=dtype, stream=step.layout.stream if stream is None else stream)
