"""Sparse functions by attention, certified: which tokens a head can select, and that a network is its function."""
