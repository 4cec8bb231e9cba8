"""Certificates by linear duality: inequalities, hinge losses, feature tables."""
