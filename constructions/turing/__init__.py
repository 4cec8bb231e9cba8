"""Turing machines as transformers."""
