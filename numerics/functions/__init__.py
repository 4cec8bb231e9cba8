"""Functions of one variable as sums of ReLUs, and smooth functions with rigorous bounds."""
