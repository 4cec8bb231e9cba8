"""Recurrent networks: what one matrix can be made to compute near its random start.

complexities  polynomial, sine_series, exponential_series, taylor, complexity, smooth_complexity; feasibility
indicators    indicator_function, clipping_level, clipping_error; least_supremum, supremum_bound
networks      ElmanNetwork, random_elman, trace, back, linear_change, weighted_gradient, constant_patterns
targets       Part, TargetFunction, target_values, lag_networks, interaction
inputs        padded, input_sequence, input_sequences, null_sequence
comparator    comparator, conditional_mean; batch_trace, own_changes, fresh_changes for many inputs
training      elman_columns, elman_steps, elman_gradient; tangent_features, tangent_kernel, kernel_regression
geometry      arc_cosine_kernel, state_cosines, stretch, stretched_vector
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.duality.indicator_size import least_supremum, supremum_bound
from lemmata.constructions.recurrent.averages import batch_trace, fresh_changes, own_changes
from lemmata.constructions.recurrent.comparator import comparator, conditional_mean
from lemmata.constructions.recurrent.concepts import (
    Part,
    TargetFunction,
    input_sequence,
    input_sequences,
    interaction,
    lag_networks,
    null_sequence,
    padded,
    target_values,
)
from lemmata.constructions.recurrent.elman import (
    ElmanNetwork,
    back,
    constant_patterns,
    linear_change,
    random_elman,
    trace,
    weighted_gradient,
)
from lemmata.constructions.recurrent.indicator import clipping_error, clipping_level, indicator_function
from lemmata.numerics.recurrent.complexities import (
    complexity,
    exponential_series,
    polynomial,
    sine_series,
    smooth_complexity,
    taylor,
)
from lemmata.numerics.recurrent.feasibility import feasibility
from lemmata.numerics.recurrent.rectified_norm import stretch, stretched_vector
from lemmata.numerics.recurrent.separation import arc_cosine_kernel, state_cosines
from lemmata.numerics.recurrent.tangent_kernel import kernel_regression, tangent_features, tangent_kernel
from lemmata.numerics.recurrent.training import elman_columns, elman_gradient, elman_steps

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
