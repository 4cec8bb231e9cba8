"""Equalising strategies of the game: class weights that make every irreducible representation equally good.

Let w_R = d_R nu^((k-1)/2) be the row weights of the game for k factors, nu the dimension of the real representation rho
that R belongs to, and let S = sum of d_R w_R over the nontrivial complex irreducible representations (a conjugate pair
counts twice); it is the sum of dim V_rho nu^((k-1)/2) over the nontrivial rho, V_rho spanned by the entries of rho. The
class weights tau_C = -(1/S) sum_{R != 1} w_R Re chi_R(C) per element of C always add up to 1 over the group and give
every R the same kappa_R = n/S; the masses eps_rho proportional to dim V_rho nu^((k-1)/2) make all wrong labels tie.
The pair is optimal, and n/S the value, exactly when all tau_C >= 0, that is when the *condition sums* below are <= 0.
(These are the only weights that equalise: w_R kappa_R = d_R - sum_g tau(g) chi_R(g) prescribes every Fourier
coefficient of tau, and tau(e) = 0 prescribes the value n/S.)

Source: lemma D.14 and lemma D.16 (corrected signs and normalisation), theorem 7.9, for k = 2 and real type (nu = d_R).
"""

from __future__ import annotations

import numpy as np

from lemmata.certificates.game.margin_game import MarginGame
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic, exact_matmul, rational

__all__ = [
    "column_sizes",
    "condition_sums",
    "equalising_class_weights",
    "equalising_masses",
    "multiplicities",
    "spectral_sum",
]


def multiplicities(game: MarginGame) -> np.ndarray:
    """2 for a row that stands for a pair of complex-conjugate characters and 1 otherwise, shape (rows,)."""
    return np.array([2 if game.table.indicators[R] == 0 else 1 for R in game.rows], dtype=object)


def column_sizes(game: MarginGame) -> np.ndarray:
    """The number of elements in each class or pair of mutually inverse classes, shape (columns,)."""
    sizes, inverses = game.table.class_sizes, game.table.inverses
    return np.array([sizes[C] * (1 if inverses[C] == C else 2) for C in game.columns], dtype=object)


def spectral_sum(game: MarginGame) -> Cyclotomic:
    """S = sum_{R != 1} d_R w_R exactly; for two factors sum d_R^2 nu^(1/2)."""
    return sum(multiplicities(game) * game.degrees * game.weights, start=rational(0))


def condition_sums(game: MarginGame) -> np.ndarray:
    """sum_{R != 1} w_R Re chi_R(C) for every column C, exact, shape (columns,).

    Theorem 7.9 (two factors) asks these to be negative. The sum leaves the trivial representation out.
    """
    characters = game.degrees[:, None] - game.defects
    return exact_matmul((multiplicities(game) * game.weights)[None, :], characters)[0]


def equalising_class_weights(game: MarginGame) -> np.ndarray:
    """The total weight t_C = |C| tau_C of every column, exact, shape (columns,); it always sums to 1.

    Negative entries mean that the condition of theorem 7.9 fails and that these are not weights.
    """
    return -column_sizes(game) * condition_sums(game) / spectral_sum(game)


def equalising_masses(game: MarginGame) -> np.ndarray:
    """eps_R = d_R w_R / S per row (both members of a conjugate pair together), exact, shape (rows,)."""
    return multiplicities(game) * game.degrees * game.weights / spectral_sum(game)
