"""Sparse token regression: prompts whose labels read few of many tokens, and networks that learn or compute them.

prompts  Prompts, draw_prompts; links: ReluLink, linear_link, mean_link, max_link, squared_norm_link
codes    PositionCodes, orthonormal_codes, field_codes, random_sign_codes, extremal_codes, sign_code_dimension
inputs   encode, encoding_scale, radius
risks    averaged_risk, pointwise_risk, population_risk
"""

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
    "draw_prompts",
    "encode",
    "encoding_scale",
    "extremal_codes",
    "field_codes",
    "linear_link",
    "max_link",
    "mean_link",
    "orthonormal_codes",
    "pointwise_risk",
    "population_risk",
    "radius",
    "random_sign_codes",
    "sign_code_dimension",
    "squared_norm_link",
]
