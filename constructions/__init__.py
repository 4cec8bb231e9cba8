"""Explicit weights: one module per construction, all assembled from shared network types."""
