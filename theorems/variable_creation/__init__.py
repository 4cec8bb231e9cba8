"""Capacity of attention and sparse variable creation."""
