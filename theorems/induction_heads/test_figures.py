"""The data of Figures E.1 and E.2, exact: against sums over all sequences, and the printed formulas term by term."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from flint import fmpq

from lemmata.numerics.exact.log_two import LogTwo
from lemmata.theorems.evidence import check, counterexample
from lemmata.theorems.induction_heads import flat_prior, printed_updates, sequence_gradients
from lemmata.theorems.induction_heads.figures import draw_first_step, draw_second_step, step_figures


def printed_later_update(t: int, j: int) -> LogTwo:
    """The average of the sum of (E.38), evaluated term by term from its braces; the pole at lambda = 1 is removed."""
    lam, x, y = flat_prior.lam, flat_prior.a, flat_prior.b
    n, s = t - j + 1, x + y - 2
    beta, gamma = printed_updates.beta_gamma(x, y)
    P, pi = [[x, 1 - x], [1 - y, y]], [(y - 1) / s, (x - 1) / s]
    total = LogTwo()
    for i, l in product(range(2), repeat=2):
        weight = pi[l] / s**2 * (P[l][i] - x**0 / 2)
        braces = [
            (beta[i][l] * beta[l][i], ((lam**j - lam ** (t + 1)) / (1 - lam) - n * lam ** (j - 1)) / (lam - 1)),
            (beta[i][l] * gamma[l][i], ((lam - lam ** (n + 1)) / (lam - 1) - n) / (lam - 1)),
            (gamma[i][l] * beta[l][i], lam ** (j - 1) * n * (n + 1) / 2),
            (gamma[i][l] * gamma[l][i], lam**0 * n * (n + 1) / 2),
        ]
        for factor, polynomial in braces:
            total = total + flat_prior.average(weight * factor / s, polynomial * (lam - 1), power=4)
    return total


def printed_first_update(t: int) -> LogTwo:
    """The average of (E.37) as printed."""
    lam, x, y = flat_prior.lam, flat_prior.a, flat_prior.b
    s, h = x + y - 2, x**0 / 2
    linear = ((y - 1) ** 2 * (x - h) + (x - 1) ** 2 * (y - h)) / s**2
    inner = (lam - lam ** (t + 1)) / (1 - lam) - t * lam**0
    still = flat_prior.average(linear) * fmpq(t * (t - 1), 2)
    return still + flat_prior.average((x - 1) * (y - 1) / s**2, inner)


@check("induction-heads:figure-E.2", grade="exact", target="corrected", cases="t = 1, 3, 5, all sequences")
@check("induction-heads:figure-E.1", grade="exact", target="printed", cases="t = 1, 3, 5, all sequences")
@pytest.mark.parametrize("t", [1, 3, 5])
def test_data_are_gradients_over_all_sequences(t: int) -> None:
    figures = step_figures(t)
    ones, uniform = np.array([fmpq(1)] * t, dtype=object), np.full((2, 2), fmpq(1), dtype=object)
    first = sequence_gradients.of_flat_prior(ones, uniform, fmpq(1000))
    assert (figures.W == first.W).all()
    assert (figures.g == first.v).all()
    diagonal = np.array([[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]], dtype=object)
    assert (figures.corrected == sequence_gradients.of_flat_prior(ones, diagonal, fmpq(1000)).v).all()


@check("induction-heads:figure-E.2", grade="exact", target="corrected", supporting=True)
@pytest.mark.parametrize("t", [4, 30, 100])
def test_printed_data_are_the_printed_formulas(t: int) -> None:
    figures = step_figures(t)
    assert figures.printed[0] * t == printed_first_update(t)
    for j in (2, 3, t - 1, t):
        assert figures.printed[j - 1] * t == printed_later_update(t, j)


@counterexample("induction-heads:figure-E.2", grade="exact")
def test_printed_curve_differs_at_every_position() -> None:
    """t = 100: at j = 1 the printed value is 6.6 % too small, at every other j too large, by 0.2 % (j = 2) and more."""
    figures = step_figures(100)
    assert figures.printed[0] < figures.corrected[0]
    assert all(x > y for x, y in zip(figures.printed[1:], figures.corrected[1:], strict=True))
    corrected, printed = figures.contributions(0.02, 0.03)
    excess = printed / corrected - 1
    assert round(excess[0], 3) == -0.066
    assert round(excess[1:].min(), 4) == round(excess[1], 4) == 0.002
    assert excess[-1] > 1


@check("induction-heads:figure-E.2", grade="exact", target="corrected", supporting=True)
@check("induction-heads:figure-E.1", grade="exact", target="printed", supporting=True)
def test_pictures_show_the_data() -> None:
    """On axes that record what they are given: the curves are the data, and W stands in its heat map."""
    figures, left, right, axes = step_figures(40), Recorder(), Recorder(), Recorder()
    draw_first_step(figures, (left, right))
    draw_second_step(figures, axes, shown=12)
    W, v = figures.first(0.02, 0.03)
    assert (left.calls["imshow"][0][0] == W).all()
    assert [call[2] for call in left.calls["text"]] == [f"{x:.4f}" for x in W.ravel()]
    assert (right.calls["plot"][0][1] == v).all()
    for call, values in zip(axes.calls["plot"], figures.contributions(0.02, 0.03), strict=True):
        assert call[0].tolist() == list(range(1, 13))
        assert (call[1] == values[:12]).all()


class Recorder:
    """Axes that keep the positional arguments of every call."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple]] = {}

    def __getattr__(self, name: str):
        return lambda *args, **_: self.calls.setdefault(name, []).append(args)
