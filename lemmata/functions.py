"""Scalar functions for networks that train networks: sums of ReLUs, and the smooth functions that they approximate.

sums of ReLUs   ReluSum, identity, constant, affine, relu, leaky_relu, absolute_value, piecewise_linear,
                relu_derivative, squared_loss_derivative: exact; interpolant, interpolant_within: with a certified error
smooth          SmoothFunction, tanh, sigmoid, softplus, gelu, sine, exponential, log_cosh; each has .derivative()
"""

from numerics.functions.interpolation import interpolant, interpolant_within
from numerics.functions.relu_sums import (
    ReluSum,
    absolute_value,
    affine,
    constant,
    identity,
    leaky_relu,
    piecewise_linear,
    relu,
    relu_derivative,
    squared_loss_derivative,
)
from numerics.functions.smooth import SmoothFunction, exponential, gelu, log_cosh, sigmoid, sine, softplus, tanh

__all__ = [
    "ReluSum",
    "SmoothFunction",
    "absolute_value",
    "affine",
    "constant",
    "exponential",
    "gelu",
    "identity",
    "interpolant",
    "interpolant_within",
    "leaky_relu",
    "log_cosh",
    "piecewise_linear",
    "relu",
    "relu_derivative",
    "sigmoid",
    "sine",
    "softplus",
    "squared_loss_derivative",
    "tanh",
]
