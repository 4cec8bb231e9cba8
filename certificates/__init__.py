"""Optimality certificates: exact characters, the matrix game, saddle pairs, and what they prove."""
