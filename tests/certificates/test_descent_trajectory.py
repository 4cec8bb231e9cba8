"""The certificate of a run of descent: against autograd, sharp, faults rejected, and bad input."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq

from lemmata.certificates import descent_trajectory
from lemmata.certificates.descent import certify_step
from lemmata.certificates.descent_trajectory import TrajectoryCertificate, certify_trajectory
from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation
from lemmata.constructions.descent.fast import fast_trajectory
from lemmata.constructions.descent.softmax import softmax_descent_block
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.functions.interpolation import interpolant
from lemmata.numerics.functions.relu_sums import affine, constant, ridge, squared_loss_derivative
from lemmata.numerics.functions.smooth import SmoothFunction, log_cosh, tanh
from tests.theorems.planted_faults import changed, given_otherwise, scaled

LINEAR = SmoothFunction("1 + t", lambda t: 1 + t)


@cache
def run_of(widths: tuple[int, ...], n: int, eta: Any, steps: int, softmax: bool = False) -> tuple[Any, ...]:
    """A block for tanh in the box [-1, 1], its run from a random start, and inputs and labels of a random teacher."""
    sums = approximate_activation(widths, tanh, (-1, 1), 1, pieces=24)
    if softmax:  # whose products have errors, so that the arguments reach further
        sums = interpolant(tanh, 3, 48), interpolant(tanh.derivative(), 3, 48)
    arguments = widths, n, eta, *sums, squared_loss_derivative(), (-1, 1), 1, 1
    block = softmax_descent_block(*arguments, 64) if softmax else gradient_descent_block(*arguments)
    rng = np.random.default_rng(1)
    teacher, start = (rng.uniform(-1, 1, block.layout.weight_count) for _ in range(2))
    x = rng.uniform(-1, 1, (n + 1, widths[0]))
    y = network(block, torch.tensor(teacher), x[:-1], torch.tanh).numpy()
    if isinstance(block, DescentBlock):
        path = fast_trajectory(block, x, y, start, steps)
    else:
        machine = block.to_float()
        path = np.array(machine.trajectory(machine.prompt(x, y, start), steps))
    return block, path, x[:-1], y


def network(block: Any, w: torch.Tensor, x: Any, activation: Any) -> torch.Tensor:
    p = torch.as_tensor(x)
    for V in block.layout.matrices(np.arange(block.layout.weight_count)):
        p = activation(p @ w[V.ravel()].reshape(V.shape).T)
    return p


def by_autograd(block: Any, path: Any, x: Any, y: Any, eta: float, loss: Any = torch.square) -> list[float]:
    """The distances of the run from descent by autograd; the loss is `loss` / 2 of the difference for squares."""
    w, found = path[0], []
    for reached in path:
        found.append(float(np.linalg.norm(reached - w)))
        weights = torch.tensor(w, requires_grad=True)
        risk = loss(network(block, weights, x, torch.tanh) - torch.tensor(y)).sum() / (2 * len(x))
        w = np.clip(w - eta * torch.autograd.grad(risk, weights)[0].numpy(), -1, 1)
    return found


def half_square(t: torch.Tensor) -> torch.Tensor:
    return t.square() / 2


@pytest.mark.parametrize(
    ("widths", "n", "eta", "steps", "softmax"),
    [((2, 3, 3, 1), 20, 5, 60, False), ((3, 2, 2), 7, "1/3", 40, False), ((2, 2, 1), 4, 1, 30, True)],
    ids=["60 steps", "two outputs", "softmax"],
)
def test_runs_are_certified_sharply(widths: tuple[int, ...], n: int, eta: Any, steps: int, softmax: bool) -> None:
    """Below 1/100 for every step, as autograd finds to 10 digits; the bound in advance has long said nothing."""
    block, path, x, y = run_of(widths, n, eta, steps, softmax)
    certificate = certify_trajectory(block, tanh, path, x, y)
    measured = by_autograd(block, path, x, y, float(block.step_size), half_square)
    assert len(certificate.distances) == steps + 1 == len(certificate.step_errors) + 1
    assert 1e-5 < max(certificate.distances) < 1e-2
    for low, high, found in zip(certificate.at_least, certificate.distances, measured, strict=True):
        assert low <= high <= low + 1e-15
        assert abs(found - high) < 1e-10
    if not softmax:
        assert max(certificate.step_errors) <= certify_step(block, tanh).gradient_error
        assert certify_step(block, tanh).trajectory_error(steps)[-1] > 1


def test_errors_of_steps_are_those_at_the_iterates() -> None:
    block, path, x, y = run_of((3, 2, 2), 7, "1/3", 40)
    errors = certify_trajectory(block, tanh, path, x, y).step_errors
    for l in (0, 17, 39):
        alone = by_autograd(block, path[l : l + 2], x, y, 1 / 3, half_square)[1]
        assert errors[l] == pytest.approx(3 * alone, abs=1e-12)


def test_another_loss_and_another_number_of_examples() -> None:
    """log cosh, and a block for 5 examples on 3: the step size is eta n' (n+1) / (n (n'+1))."""
    r, slope = approximate_activation((2, 2, 1), tanh, (-1, 1), 1, pieces=24)
    u = ridge(interpolant(log_cosh.derivative(), 4, 32), (1, -1))
    block = gradient_descent_block((2, 2, 1), 5, 1, r, slope, u, (-1, 1), 1, 1)
    rng = np.random.default_rng(2)
    x, y, w = rng.uniform(-1, 1, (4, 2)), rng.uniform(-1, 1, (3, 1)), rng.uniform(-1, 1, 6)
    path = fast_trajectory(block, x, y, w, 10)
    certificate = certify_trajectory(block, tanh, path, x[:-1], y, log_cosh.derivative())

    def loss(t: torch.Tensor) -> torch.Tensor:
        return torch.log(torch.cosh(t))

    measured = by_autograd(block, path, x[:-1], y, 3 * 6 / (5 * 4), loss)
    assert certificate.distances == pytest.approx(measured, abs=1e-10)
    assert 0 < max(certificate.distances) < 1e-2


def test_exact_runs_have_distance_zero() -> None:
    """1 + t and its derivative are sums of ReLUs: the run of fractions is the descent; also where it is clipped."""
    block = gradient_descent_block((1, 1, 1), 1, 1, affine(1, 1), constant(1), squared_loss_derivative(), (-1, 1), 1, 2)
    one = as_exact([[1], [1]])
    z = block.prompt(one, as_exact([[2]]), as_exact([0, -1]))
    path = np.array(block.trajectory(z, 4))
    assert (path[1:] == -1).any()
    certificate = certify_trajectory(block, LINEAR, path, one[:1], as_exact([[2]]))
    assert max(certificate.step_errors) < 1e-16
    assert max(certificate.distances) < 1e-16
    assert max(certificate.at_least) == 0
    path[4, 0] += fmpq(1, 1000)
    moved = certify_trajectory(block, LINEAR, path, one[:1], as_exact([[2]]))
    assert moved.at_least == pytest.approx([0, 0, 0, 0, 1e-3])


def rejects(certificate: TrajectoryCertificate) -> bool:
    """Whether the run is certified to leave the distance 0.0042 that the right one keeps."""
    return max(certificate.at_least) > 6e-3


def test_faulty_runs_are_rejected() -> None:
    """An activation or its derivative scaled by 1.02, a step 2 % too long, another activation in the certificate."""
    block, path, x, y = run_of((2, 3, 3, 1), 20, 5, 60)
    assert max(certify_trajectory(block, tanh, path, x, y).distances) < 4.2e-3
    inputs = np.r_[x, x[:1]]
    for name in ("activation", "derivative"):
        sums = getattr(block, name)
        wrong = replace(block, **{name: replace(sums, coefficients=sums.coefficients * fmpq(51, 50))})
        assert rejects(certify_trajectory(block, tanh, fast_trajectory(wrong, inputs, y, path[0], 60), x, y))
    longer = replace(block, step_size=block.step_size * fmpq(51, 50))
    assert rejects(certify_trajectory(block, tanh, fast_trajectory(longer, inputs, y, path[0], 60), x, y))
    assert rejects(certify_trajectory(block, LINEAR, path, x, y))


def of_block(**changes: Any) -> Any:
    """The certificate for a block with numbers that are changed."""
    return given_otherwise(
        certify_trajectory,
        lambda block, *given: (replace(block, **{k: f(getattr(block, k)) for k, f in changes.items()}), *given),
    )


def of_distances(change: Any) -> Any:
    """The certificate with other distances."""
    return changed(certify_trajectory, lambda found: replace(found, distances=tuple(change(found.distances))))


CERTIFIED = descent_trajectory, "certify_trajectory"
FAULTS: dict[str, tuple[Any, str, Any]] = {
    "the sign of the step": (DescentBlock, "effective_step_size", scaled(DescentBlock.effective_step_size, -1)),
    "a step 2 % longer": (DescentBlock, "effective_step_size", scaled(DescentBlock.effective_step_size, fmpq(51, 50))),
    "1/n for 1/(2n)": (DescentBlock, "effective_step_size", scaled(DescentBlock.effective_step_size, 2)),
    "no clipping above": (*CERTIFIED, of_block(upper=lambda b: b * 100)),
    "no clipping below": (*CERTIFIED, of_block(lower=lambda a: a * 100)),
    "errors without slopes": (
        SmoothFunction,
        "jet",
        changed(SmoothFunction.jet, lambda found: [found[0], *(arb(1) for _ in found[1:])]),
    ),
    "the activation 2 % larger": (
        SmoothFunction,
        "jet",
        changed(SmoothFunction.jet, lambda found: [found[0] * arb("1.02"), *found[1:]]),
    ),
    "the labels dropped": (
        *CERTIFIED,
        given_otherwise(certify_trajectory, lambda *given: (*given[:-1], 0 * given[-1])),
    ),
    "the examples in another order": (
        *CERTIFIED,
        given_otherwise(certify_trajectory, lambda *given: (*given[:-2], given[-2][::-1], given[-1])),
    ),
    "another start": (
        *CERTIFIED,
        given_otherwise(certify_trajectory, lambda *given: (*given[:2], given[2] * 50 / 51, *given[3:])),
    ),
    "distances 2 % larger": (*CERTIFIED, of_distances(lambda found: (1.02 * d for d in found))),
    "no distance": (*CERTIFIED, of_distances(lambda found: (0.0 for _ in found))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_in_the_certificate_are_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    block, path, x, y = run_of((2, 2, 1), 4, 40, 12)
    assert (path == 1).any()
    assert (path == -1).any()
    measured = by_autograd(block, path, x, y, 40.0, half_square)
    assert certify_trajectory(block, tanh, path, x, y).distances == pytest.approx(measured, abs=1e-9)
    monkeypatch.setattr(*FAULTS[name])
    certificate = descent_trajectory.certify_trajectory(block, tanh, path, x, y)
    assert certificate.distances != pytest.approx(measured, abs=1e-6)


def test_the_report_names_the_numbers() -> None:
    block, path, x, y = run_of((2, 2, 1), 4, 1, 30, True)
    text = certify_trajectory(block, tanh, path, x, y).report()
    assert text.startswith("30 steps: certified distance from projected gradient descent 0.00")
    assert text.endswith(" bits")


def test_bad_input_is_refused() -> None:
    block, path, x, y = run_of((3, 2, 2), 7, "1/3", 40)
    soft, soft_path, soft_x, soft_y = run_of((2, 2, 1), 4, 1, 30, True)
    for arguments, message in (
        ((path[0], x, y), r"iterates must have shape \(L\+1, 10\)"),
        ((path[:1], x, y), "L >= 1"),
        ((path[:, 1:], x, y), r"\(L\+1, 10\)"),
        ((path, x[:, 1:], y), r"inputs must have shape \(n, 3\)"),
        ((path, x, y[1:]), r"labels \(n, 2\)"),
        ((path * np.nan, x, y), "iterates must be finite"),
        ((path, x, y * np.inf), "labels must be finite"),
        ((path * 2 / abs(path[0]).max(), x, y), "start, the first of the iterates, must lie in the box"),
    ):
        with pytest.raises(ValueError, match=message):
            certify_trajectory(block, tanh, *arguments)
    with pytest.raises(ValueError, match="built for 4 examples, but there are 3"):
        certify_trajectory(soft, tanh, soft_path, soft_x[1:], soft_y[1:])


def test_hopeless_precision_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    block, path, x, y = run_of((2, 3, 3, 1), 20, 5, 60)
    monkeypatch.setattr(descent_trajectory, "_MOST_BITS", 128)
    with pytest.raises(ValueError, match="cannot be enclosed with 128 bits: give fewer steps"):
        certify_trajectory(block, tanh, path, x, y)
