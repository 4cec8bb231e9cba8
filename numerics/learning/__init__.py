"""Statistical learning: generalisation bounds, covers and sample sizes."""
