"""How much attention can learn: covering numbers from norms of weights, as printed and with the right powers.

budgets    optimal_split, Capacity: the division of an error among parts of the weights
linear     linear_capacity, linear_map_capacity, two_stage_capacity, sign_packing, perceptron_steps;
           printed_linear_capacity, printed_linear_map_capacity
one head   HeadNorms, head_capacity, short_head_capacity, positional_capacity, multi_head_capacity, head_radii;
           printed_head_capacity, printed_positional_capacity, printed_multi_head_capacity
layers     LayerNorms, deep_capacity, short_deep_capacity, amplifications, layer_amplification;
           printed_deep_capacity, printed_short_deep_capacity
"""

from numerics.learning.attention_capacity import (
    HeadNorms,
    head_capacity,
    head_radii,
    multi_head_capacity,
    positional_capacity,
    printed_head_capacity,
    printed_multi_head_capacity,
    printed_positional_capacity,
    short_head_capacity,
)
from numerics.learning.budgets import Capacity, optimal_split
from numerics.learning.deep_capacity import (
    LayerNorms,
    amplifications,
    deep_capacity,
    layer_amplification,
    printed_deep_capacity,
    printed_short_deep_capacity,
    short_deep_capacity,
)
from numerics.learning.linear_capacity import (
    linear_capacity,
    linear_map_capacity,
    perceptron_steps,
    printed_linear_capacity,
    printed_linear_map_capacity,
    sign_packing,
    two_stage_capacity,
)

__all__ = [
    "Capacity",
    "HeadNorms",
    "LayerNorms",
    "amplifications",
    "deep_capacity",
    "head_capacity",
    "head_radii",
    "layer_amplification",
    "linear_capacity",
    "linear_map_capacity",
    "multi_head_capacity",
    "optimal_split",
    "perceptron_steps",
    "positional_capacity",
    "printed_deep_capacity",
    "printed_head_capacity",
    "printed_linear_capacity",
    "printed_linear_map_capacity",
    "printed_multi_head_capacity",
    "printed_positional_capacity",
    "printed_short_deep_capacity",
    "short_deep_capacity",
    "short_head_capacity",
    "sign_packing",
    "two_stage_capacity",
]
