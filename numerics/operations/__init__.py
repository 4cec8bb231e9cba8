"""Finite binary operations f: A x B -> C, whole or partial, as tables of labels."""
