"""Gradient descent in context: what a run did, beside what a block promises; products and contexts by attention.

certificates  certify_trajectory, TrajectoryCertificate
products      token_product, TokenProduct
contexts      contextual_attention, ContextualMapping
general risk  risk_descent_block, RiskDescentBlock
scores        score_network, grid_network
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.descent_trajectory import TrajectoryCertificate, certify_trajectory
from lemmata.constructions.descent.contextual import ContextualMapping, contextual_attention
from lemmata.constructions.descent.grid import grid_network, score_network
from lemmata.constructions.descent.products import TokenProduct, token_product
from lemmata.constructions.descent.risk import RiskDescentBlock, risk_descent_block

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
