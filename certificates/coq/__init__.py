"""Theorems on margins in Coq: the theory (*.v; README.md on tables, GROUPS.md on groups), and what runs its files."""
