"""Gradient descent in context: what a run did, beside what a block promises, and products by attention.

certificates  certify_trajectory, TrajectoryCertificate
products      token_product, TokenProduct
"""

from certificates.descent_trajectory import TrajectoryCertificate, certify_trajectory
from constructions.descent.products import TokenProduct, token_product

__all__ = ["TokenProduct", "TrajectoryCertificate", "certify_trajectory", "token_product"]
