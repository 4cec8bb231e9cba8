"""Arithmetic and kernels: exact numbers, balls, transforms, groups, margins. Knows nothing of theorems."""
