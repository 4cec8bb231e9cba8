"""A zoo of small networks that are understood completely, as ground truth for methods of interpretability."""
