"""Recurrent networks: what one matrix can be made to compute near its random start.

complexities  polynomial, sine_series, exponential_series, taylor, complexity, smooth_complexity
indicators    indicator_function, clipping_level, clipping_error; least_supremum, supremum_bound
networks      ElmanNetwork, random_elman, trace, back, linear_change, weighted_gradient, constant_patterns
targets       Part, TargetFunction, lag_networks, interaction, padded, input_sequence, null_sequence
comparator    comparator, conditional_mean
geometry      arc_cosine_kernel, state_cosines, stretch, stretched_vector
"""

from certificates.duality.indicator_size import least_supremum, supremum_bound
from constructions.recurrent.comparator import comparator, conditional_mean
from constructions.recurrent.concepts import (
    Part,
    TargetFunction,
    input_sequence,
    interaction,
    lag_networks,
    null_sequence,
    padded,
)
from constructions.recurrent.elman import (
    ElmanNetwork,
    back,
    constant_patterns,
    linear_change,
    random_elman,
    trace,
    weighted_gradient,
)
from constructions.recurrent.indicator import clipping_error, clipping_level, indicator_function
from numerics.recurrent.complexities import (
    complexity,
    exponential_series,
    polynomial,
    sine_series,
    smooth_complexity,
    taylor,
)
from numerics.recurrent.rectified_norm import stretch, stretched_vector
from numerics.recurrent.separation import arc_cosine_kernel, state_cosines

__all__ = [
    "ElmanNetwork",
    "Part",
    "TargetFunction",
    "arc_cosine_kernel",
    "back",
    "clipping_error",
    "clipping_level",
    "comparator",
    "complexity",
    "conditional_mean",
    "constant_patterns",
    "exponential_series",
    "indicator_function",
    "input_sequence",
    "interaction",
    "lag_networks",
    "least_supremum",
    "linear_change",
    "null_sequence",
    "padded",
    "polynomial",
    "random_elman",
    "sine_series",
    "smooth_complexity",
    "state_cosines",
    "stretch",
    "stretched_vector",
    "supremum_bound",
    "taylor",
    "trace",
    "weighted_gradient",
]
