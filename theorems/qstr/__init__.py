"""Sparse token regression: transformers against recurrent and feed-forward networks."""
