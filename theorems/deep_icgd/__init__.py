"""Gradient descent on a deep network, in context."""
