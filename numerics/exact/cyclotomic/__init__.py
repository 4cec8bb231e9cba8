"""Cyclotomic fields: elements, products of matrices, and the square roots that they contain."""
