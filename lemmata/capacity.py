"""How much attention can learn: covering numbers from norms of weights, as printed and with the right powers.

budgets    optimal_split, Capacity: the division of an error among parts of the weights
linear     linear_capacity, linear_map_capacity, two_stage_capacity, sign_packing, perceptron_steps;
           printed_linear_capacity, printed_linear_map_capacity
one head   HeadNorms, head_capacity, short_head_capacity, positional_capacity, multi_head_capacity, head_radii;
           printed_head_capacity, printed_positional_capacity, printed_multi_head_capacity
layers     LayerNorms, deep_capacity, short_deep_capacity, amplifications, layer_amplification;
           printed_deep_capacity, printed_short_deep_capacity
risk       entropy_integral, entropy_bound, rademacher_bound, deviation_bound, generalisation_bound
finite     certify_cover, verify_cover, covering_steps, largest_packing, CoverCertificate; empirical_rademacher,
           sample_law, largest_deviation, deviation_failure_probability
shattering CircleFamily, SignFamily, largest_sign_family; sinusoid_points, sinusoid_parameter, certify_sinusoids
"""

from certificates.capacity.covers import (
    CoverCertificate,
    certify_cover,
    covering_steps,
    largest_packing,
    verify_cover,
)
from certificates.capacity.shattering import (
    CircleFamily,
    SignFamily,
    certify_sinusoids,
    largest_sign_family,
    sinusoid_parameter,
    sinusoid_points,
)
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
from numerics.learning.entropy import (
    deviation_bound,
    entropy_bound,
    entropy_integral,
    generalisation_bound,
    rademacher_bound,
)
from numerics.learning.finite_classes import (
    deviation_failure_probability,
    empirical_rademacher,
    largest_deviation,
    sample_law,
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
    "CircleFamily",
    "CoverCertificate",
    "HeadNorms",
    "LayerNorms",
    "SignFamily",
    "amplifications",
    "certify_cover",
    "certify_sinusoids",
    "covering_steps",
    "deep_capacity",
    "deviation_bound",
    "deviation_failure_probability",
    "empirical_rademacher",
    "entropy_bound",
    "entropy_integral",
    "generalisation_bound",
    "head_capacity",
    "head_radii",
    "largest_deviation",
    "largest_packing",
    "largest_sign_family",
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
    "rademacher_bound",
    "sample_law",
    "short_deep_capacity",
    "short_head_capacity",
    "sign_packing",
    "sinusoid_parameter",
    "sinusoid_points",
    "two_stage_capacity",
    "verify_cover",
]
