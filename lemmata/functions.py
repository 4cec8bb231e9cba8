"""Scalar functions for networks that train networks: sums of ReLUs, and the smooth functions that they approximate.

sums of ReLUs   ReluSum, identity, constant, affine, relu, leaky_relu, absolute_value, piecewise_linear,
                relu_derivative, squared_loss_derivative: exact; interpolant, interpolant_within: with a certified error
several         superposition of profiles on directions, thinned to fewer units; sum_bounds: what smooth functions of k
                variables need
waves           WaveSum, wave, fitted_waves, lipschitz_waves: sums of plane waves, which become sums of ReLUs
smooth          SmoothFunction, tanh, sigmoid, softplus, gelu, sine, exponential, log_cosh; each has .derivative()
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.numerics.functions.interpolation import interpolant, interpolant_within
from lemmata.numerics.functions.relu_sums import (
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
from lemmata.numerics.functions.several_variables import sum_bounds, superposition, thinned
from lemmata.numerics.functions.smooth import SmoothFunction, exponential, gelu, log_cosh, sigmoid, sine, softplus, tanh
from lemmata.numerics.functions.waves import WaveSum, fitted_waves, lipschitz_waves, wave

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
