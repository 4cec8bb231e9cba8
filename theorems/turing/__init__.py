"""Circuits and Turing machines as networks with large margins."""
