"""Transformers that take steps of gradient descent in context."""
