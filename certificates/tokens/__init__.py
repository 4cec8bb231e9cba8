"""Sparse token regression, certified: what few heads, feed-forward networks and recurrences must get wrong."""
