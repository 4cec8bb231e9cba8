"""Gradient descent in context: what a run did, beside what a block promises.

certificates  certify_trajectory, TrajectoryCertificate
"""

from certificates.descent_trajectory import TrajectoryCertificate, certify_trajectory

__all__ = ["TrajectoryCertificate", "certify_trajectory"]
