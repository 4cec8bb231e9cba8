"""Theorems on margins of tables in Coq: the theory (*.v, see README.md), and what writes and runs its files."""
