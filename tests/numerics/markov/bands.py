"""Helpers of the tests of Markov chains: the machine precision, and bands around sampled frequencies."""

import numpy as np

EPS = np.finfo(np.float64).eps


def binomial_band(n: int, p: np.ndarray) -> np.ndarray:
    """Six standard errors: for the few hundred comparisons here, a false alarm once in 10^6 runs or less."""
    return 6 * np.sqrt(p * (1 - p) / n)
