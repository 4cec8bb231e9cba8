"""Turing machines: the reference simulator, and indices for the last visit of a cell."""
