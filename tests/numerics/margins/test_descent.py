"""The training loop against automatic differentiation, and its refusals."""

import numpy as np
import pytest
import torch

from lemmata.numerics.margins.descent import descend, doubling_rate, objective_and_gradient


@pytest.fixture
def problem():
    rng = np.random.default_rng(5)
    return {
        "inputs": rng.normal(size=(7, 4)),
        "labels": rng.integers(0, 3, size=7),
        "hidden": rng.normal(size=(5, 4)),
        "readout": rng.normal(size=(5, 3)),
    }


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_gradient_equals_autograd(problem, degree):
    value, grad_hidden, grad_readout = objective_and_gradient(**problem, degree=degree, penalty=0.3)
    hidden = torch.tensor(problem["hidden"], requires_grad=True)
    readout = torch.tensor(problem["readout"], requires_grad=True)
    logits = (torch.tensor(problem["inputs"]) @ hidden.T) ** degree @ readout
    norms = torch.linalg.vector_norm(torch.cat([hidden, readout], dim=1), dim=1)
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(problem["labels"]))
    loss = loss + 0.3 * (norms ** (degree + 1)).sum()
    loss.backward()
    assert value == pytest.approx(loss.item(), rel=1e-13)
    assert hidden.grad is not None
    assert readout.grad is not None
    np.testing.assert_allclose(grad_hidden, hidden.grad.numpy(), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(grad_readout, readout.grad.numpy(), rtol=1e-11, atol=1e-12)


def test_rate_doubles_at_the_named_steps():
    rate = doubling_rate(0.05, [10, 20])
    assert [rate(step) for step in (0, 9, 10, 19, 20)] == [0.05, 0.05, 0.1, 0.1, 0.2]


def test_descent_lowers_the_objective_records_and_leaves_its_arguments_alone(problem):
    before = problem["hidden"].copy()
    run = descend(
        **problem,
        degree=2,
        penalty=1e-3,
        steps=20,
        rate=lambda _: 1e-3,
        record_every=5,
        record=lambda step, hidden, readout: step,
    )
    first, _, _ = objective_and_gradient(**problem, degree=2, penalty=1e-3)
    assert run.objective < first
    assert run.records == (5, 10, 15, 20)
    np.testing.assert_array_equal(problem["hidden"], before)


def test_divergence_and_wrong_shapes_are_refused(problem):
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="not finite at step"),
    ):
        descend(**problem, degree=4, penalty=0.0, steps=50, rate=lambda _: 1e6)
    for name, part in (("hidden", np.s_[:, :3]), ("readout", np.s_[:4]), ("labels", np.s_[:6])):
        shorter = problem | {name: problem[name][part]}
        with pytest.raises(ValueError, match="Shapes must be"):
            descend(**shorter, degree=2, penalty=0.0, steps=1, rate=lambda _: 0.1)
