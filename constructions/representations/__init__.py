"""Irreducible representations of finite groups, orthogonal and unitary."""
