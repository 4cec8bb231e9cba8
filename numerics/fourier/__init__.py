"""Fourier analysis on cyclic groups and on the Boolean cube."""
