"""Recurrent networks: complexities of targets, separation of states, literal widths, SGD, tangent kernels."""
