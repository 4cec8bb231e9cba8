"""Sparse Boolean functions by attention: heads that select a few of many tokens, and a network that looks values up."""
