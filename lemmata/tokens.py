"""Sparse token regression: prompts whose labels read few of many tokens, and networks that learn or compute them.

prompts  Prompts, draw_prompts; links: ReluLink, linear_link, mean_link, max_link, squared_norm_link
codes    PositionCodes, orthonormal_codes, field_codes, random_sign_codes, extremal_codes, sign_code_dimension
inputs   encode, encoding_scale, radius
risks    averaged_risk, pointwise_risk, population_risk
limits   certify_feed_forward, matching_predictor, out_of_span, linear_risk, samples_needed, least_total_norm
"""

from certificates.tokens.feed_forward import (
    certify_feed_forward,
    least_total_norm,
    linear_risk,
    matching_predictor,
    out_of_span,
    samples_needed,
)
from numerics.tokens.codes import (
    PositionCodes,
    extremal_codes,
    field_codes,
    orthonormal_codes,
    random_sign_codes,
    sign_code_dimension,
)
from numerics.tokens.encoding import encode, encoding_scale, radius
from numerics.tokens.links import ReluLink, linear_link, max_link, mean_link, squared_norm_link
from numerics.tokens.prompts import (
    Prompts,
    averaged_risk,
    draw_prompts,
    pointwise_risk,
    population_risk,
)

__all__ = [
    "PositionCodes",
    "Prompts",
    "ReluLink",
    "averaged_risk",
    "certify_feed_forward",
    "draw_prompts",
    "encode",
    "encoding_scale",
    "extremal_codes",
    "field_codes",
    "least_total_norm",
    "linear_link",
    "linear_risk",
    "matching_predictor",
    "max_link",
    "mean_link",
    "orthonormal_codes",
    "out_of_span",
    "pointwise_risk",
    "population_risk",
    "radius",
    "random_sign_codes",
    "samples_needed",
    "sign_code_dimension",
    "squared_norm_link",
]
