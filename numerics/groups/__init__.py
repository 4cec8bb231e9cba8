"""Finite groups: tables, permutations, matrix groups, families with names, conjugacy classes."""
