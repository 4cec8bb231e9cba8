"""Sparse token regression: prompts, position codes, risks, and attention over long prompts."""
