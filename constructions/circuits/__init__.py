"""Boolean and arithmetic circuits, and their networks."""
