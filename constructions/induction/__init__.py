"""Induction heads and the minimal model."""
