"""Elman networks, their linearisation, and the weights on which it computes a given target function."""
