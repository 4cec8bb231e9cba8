"""Certificates of the best fit of a parity: against closed forms and autograd, with edited certificates rejected."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as Q
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmata.certificates.duality.feature_fit import (
    FitCertificate,
    best_fit,
    certify,
    fit_all_parities,
    theorem_bound,
    verify,
)
from lemmata.certificates.duality.features import (
    feature_table,
    normalised,
    tabulate,
    tangent_features,
)
from lemmata.certificates.duality.hinge_loss import least_hinge_loss
from lemmata.constructions.networks.inputs import sign_inputs


def relu_features(n: int, width: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return normalised(np.maximum(sign_inputs(n) @ rng.normal(size=(n, width)) + rng.normal(size=width), 0))


def pairs(n: int) -> Any:
    """All products of two inputs as features."""
    return tabulate([lambda x, S=S: x[:, list(S)].prod(axis=1) for S in combinations(range(n), 2)], n)


def test_the_fit_of_orthogonal_features_is_known() -> None:
    """chi_S is itself a feature: w = R e_S has loss 1 - R, and alpha = 1 proves it."""
    table = pairs(4)
    assert table.dimension == 6
    assert table.squared_norms() == [fmpq(6)] * 16
    for support in combinations(range(4), 2):
        certificate = best_fit(table, support, "1/3")
        assert Q(2, 3) - Q(1, 10**7) < certificate.lower <= Q(2, 3) <= certificate.upper < Q(2, 3) + Q(1, 10**7)
    unrelated = best_fit(table, (0, 1, 2), 1)
    assert unrelated.lower <= 1 <= unrelated.upper
    assert unrelated.upper - unrelated.lower < Q(1, 10**7)


@pytest.mark.parametrize("exponent", [-400, -12, -6, 6, 400])
def test_the_size_of_the_features_does_not_matter(exponent: int) -> None:
    """Features times c = 10^exponent and a radius divided by c: the same loss, bracketed as closely."""
    scale = Q(10) ** exponent
    plain = feature_table(relu_features(5, 4, 0))
    scaled = feature_table([[Q(int(x), plain.denominator) * scale for x in row] for row in plain.numerators.tolist()])
    for radius in (Q(1, 10), Q(2), Q(1000), Q(10) ** 6):
        near, far = best_fit(plain, (1, 3), radius), best_fit(scaled, (1, 3), radius / scale)
        for fit in (near, far):
            assert 0 <= fit.upper - fit.lower < Q(1, 10**7)
            assert fit.upper < 1
        assert max(near.lower, far.lower) <= min(near.upper, far.upper)


@pytest.mark.parametrize("exponent", [-9, -6, 0])
def test_small_features_are_fitted_to_their_own_size(exponent: int) -> None:
    """Where R |Psi| <= 1 the loss is 1 - R |a_S|: the bracket is narrow beside R |a_S|, however small that is."""
    table = feature_table(relu_features(5, 4, 0))
    radius = Q(10) ** exponent
    fit = best_fit(table, (1, 3), radius)
    gain = 1 - fit.upper
    assert 0 < gain <= 1 - fit.lower < gain * (1 + Q(1, 10**12))
    size = np.linalg.norm((sign_inputs(5)[:, [1, 3]].prod(axis=1)[:, None] * table.floats()).mean(axis=0))
    assert float(gain / radius) == pytest.approx(size, rel=1e-12)


@pytest.mark.parametrize("radius", [10**4, 10**9, 10**30])
def test_a_radius_that_does_not_bind_costs_nothing(radius: int) -> None:
    """The dual vector annihilates the features, so that R times nothing is subtracted; the linear program agrees."""
    table = feature_table(relu_features(5, 4, 1))
    fit = best_fit(table, (1, 3), radius)
    assert fit.upper - fit.lower < Q(1, 10**7)
    labels = sign_inputs(5)[:, [1, 3]].prod(axis=1).tolist()
    rows = [[Q(int(x), table.denominator) for x in row] for row in table.numerators.tolist()]
    best = least_hinge_loss(rows, labels, [Q(1, 32)] * 32)
    assert sum(u * u for u in best.readout) < radius**2
    assert fit.lower <= best.value <= fit.upper


@pytest.mark.parametrize("seed", range(3))
def test_brackets_are_narrow_and_random_weights_lie_above(seed: int) -> None:
    table = feature_table(relu_features(5, 4, seed))
    certificate = best_fit(table, (1, 3), 2)
    assert certificate.upper - certificate.lower < Q(1, 10**7)
    psi, y = table.floats(), sign_inputs(5)[:, [1, 3]].prod(axis=1)
    rng = np.random.default_rng(seed)
    for _ in range(200):
        w = rng.normal(size=4)
        w *= 2 / np.linalg.norm(w)
        assert np.maximum(0, 1 - y * (psi @ w)).mean() > float(certificate.lower) - 1e-12
    assert np.maximum(0, 1 - y * (psi @ np.array([float(x) for x in certificate.weights]))).mean() == pytest.approx(
        float(certificate.upper), abs=1e-12
    )


def test_the_average_loss_is_above_the_bound_of_the_theorem() -> None:
    table = feature_table(relu_features(5, 3, 7))
    fits = fit_all_parities(table, 2, 1)
    assert len(fits) == 10
    average = sum(fit.lower for fit in fits) / 10
    assert max(fit.lower for fit in fits) >= average
    assert float(average) >= float(theorem_bound(table, 2, 1)) - 1e-9


def test_tangent_features_are_the_gradients() -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).double()
    features = tangent_features(network, 4)
    assert features.shape == (16, 4 * 3 + 3 + 3 + 1)
    for row, x in zip(features, sign_inputs(4), strict=True):
        network.zero_grad()
        network(torch.tensor(x, dtype=torch.float64)).backward()
        gradient = np.concatenate([p.grad.numpy().ravel() for p in network.parameters()])
        assert np.abs(row - gradient).max() < 1e-14
    assert (np.linalg.norm(normalised(features), axis=1) <= 1).all()
    assert max(feature_table(normalised(features)).squared_norms()) <= 1


def test_edited_certificates_are_rejected() -> None:
    table = feature_table(relu_features(5, 4, 0))
    good = best_fit(table, (0, 2), 2)
    verify(table, good)
    assert 0 < good.lower < 1
    hardest = max(range(32), key=lambda i: good.dual[i])
    edits: list[tuple[dict[str, Any], str]] = [
        ({"lower": good.lower + Q(1, 10**6)}, "lower bound"),
        ({"lower": Q(10)}, "lower bound"),  # above the mean of the dual vector
        ({"upper": good.upper - Q(1, 10**6)}, "upper bound"),
        ({"dual": (*good.dual[:hardest], Q(0), *good.dual[hardest + 1 :])}, "lower bound"),
        ({"dual": (Q(3, 2), *good.dual[1:])}, "outside"),
        ({"dual": (Q(-1, 2), *good.dual[1:])}, "outside"),
        ({"dual": good.dual[1:]}, "dual entries"),
        ({"weights": tuple(2 * x for x in good.weights)}, "norm above"),
        ({"weights": tuple(-x for x in good.weights)}, "upper bound"),
        ({"weights": good.weights[1:]}, "weights"),
        ({"support": (0, 3)}, "bound"),
        ({"radius": Q(3)}, "lower bound"),
        ({"radius": Q(1)}, "norm above"),
    ]
    for edit, message in edits:
        with pytest.raises(ValueError, match=message):
            verify(table, replace(good, **edit))
    with pytest.raises(ValueError, match="bound"):
        verify(feature_table(relu_features(5, 4, 1)), good)
    small = best_fit(pairs(4), (0, 1), "9/10")  # v(S) = 1/10
    with pytest.raises(ValueError, match="lower bound"):
        verify(pairs(4), replace(small, lower=Q(1, 5)))
    verify(pairs(4), replace(small, lower=Q(-1)))  # true of every loss


@pytest.mark.parametrize("excess", [Q(1, 50), Q(1, 200), Q(1, 10**9), Q(1, 10**40)])
def test_weights_a_little_outside_the_ball_are_rejected(excess: Q) -> None:
    """w = R e_S fits chi_S best; a longer w has a smaller loss, which nothing else of the certificate contradicts."""
    table, R = pairs(4), Q(1, 3)
    position = list(combinations(range(4), 2)).index((1, 3))

    def fit(length: Q) -> FitCertificate:
        weights = tuple(length if i == position else Q(0) for i in range(6))
        return FitCertificate((1, 3), R, weights, (Q(1),) * 16, 1 - R, 1 - length)

    verify(table, fit(R))
    verify(table, replace(fit(R * (1 - excess)), upper=1 - R * (1 - excess)))
    with pytest.raises(ValueError, match="norm above the radius 1/3"):
        verify(table, fit(R * (1 + excess)))


@pytest.mark.parametrize("entry", [1 + Q(1, 10**40), 1 + Q(1, 200), -Q(1, 10**40), -Q(1, 200)])
@pytest.mark.parametrize("position", [0, 7])
def test_dual_entries_a_little_outside_their_interval_are_rejected(entry: Q, position: int) -> None:
    table = pairs(3)
    good = certify(table, (0, 1), 0, [0.0] * 3, [Q(1)] * 8)
    assert (good.lower, good.upper) == (1, 1)
    dual = tuple(entry if i == position else x for i, x in enumerate(good.dual))
    with pytest.raises(ValueError, match=f"Entry {position} of the dual vector is .*, outside"):
        verify(table, replace(good, dual=dual, lower=Q(1, 2)))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 0.5, True, "1/2", None])
def test_numbers_that_are_not_exact_are_rejected(value: Any) -> None:
    """nan is neither above nor below what is proved, so that it must be refused for what it is."""
    table = pairs(3)
    good = certify(table, (0, 1), 1, [0.5, 0.0, 0.0], [Q(1)] * 8)
    edits: dict[str, dict[str, Any]] = {
        "lower bound": {"lower": value},
        "upper bound": {"upper": value},
        "radius": {"radius": value},
        "weights": {"weights": (good.weights[0], value, good.weights[2])},
        "dual vector": {"dual": (*good.dual[:-1], value)},
    }
    for part, edit in edits.items():
        with pytest.raises(ValueError, match=f"The {part} of a certificate must hold integers or Fractions, not"):
            verify(table, replace(good, **edit))
    with pytest.raises(ValueError, match="lower bound of a certificate must hold"):
        verify(table, replace(good, lower=value, upper=value))
    verify(table, replace(good, lower=0, upper=2))  # integers are exact


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: feature_table(np.ones((3, 2))), r"shape \(2\^n, D\)"),
        (lambda: feature_table(np.ones(4)), r"shape \(2\^n, D\)"),
        (lambda: feature_table([[1.0], [np.nan]]), "finite"),
        (lambda: feature_table([["a"], ["b"]]), "a string must look"),
        (lambda: tabulate([], 2), "4 numbers"),
        (lambda: tabulate([lambda x: x[0]], 3), "8 numbers"),
        (lambda: tabulate([lambda x: x[:, 0]], 13), "in 1, ..., 12"),
        (lambda: tangent_features(torch.nn.Linear(11, 1), 11), "1 <= n <= 10"),
        (lambda: tangent_features(torch.nn.Linear(3, 2), 3), "one number for each"),
        (lambda: tangent_features(torch.nn.Identity(), 3), "no parameter"),
        (lambda: normalised(np.zeros((4, 2))), "All features are 0"),
        (lambda: normalised([[1.0], [np.nan]]), "table of finite numbers"),
        (lambda: normalised(np.ones(4)), "table of finite numbers"),
        (lambda: certify(pairs(3), (0, 1), 1, [0.0] * 3, []), "8 dual entries and 3 weights, not 0 and 3"),
        (lambda: certify(pairs(3), (0, 1), 1, [0.0] * 2, [Q(1)] * 8), "not 8 and 2"),
        (lambda: theorem_bound(pairs(3), 4, 1), "in 0, ..., 3"),
        (lambda: fit_all_parities(pairs(3), 4, 1), "in 0, ..., 3"),
        (lambda: best_fit(pairs(3), (0, 0), 1), "must be a set"),
        (lambda: best_fit(pairs(3), (0, 3), 1), "must be a set"),
        (lambda: best_fit(pairs(3), (0, 1), -1), "must not be negative"),
    ],
)
def test_refusals(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()


def test_a_solver_without_a_solution_asks_for_a_smaller_radius(monkeypatch):
    table = feature_table(np.eye(4))
    with monkeypatch.context() as patch:
        patch.setattr("cvxpy.Problem.solve", lambda *_, **__: None)
        with pytest.raises(ValueError, match=r"no solution for the parity of \(0,\).*take a smaller radius"):
            best_fit(table, (0,), 2)
    assert best_fit(table, (0,), 1).upper <= 1
    assert best_fit(table, (0,), 2).upper <= 1
