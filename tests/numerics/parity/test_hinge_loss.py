"""Exact losses by convolution: against enumeration of all inputs, and refusals."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.constructions.parity.two_layer import post_step_network, relu_network
from lemmata.numerics.parity.hinge_loss import parity_losses
from lemmata.numerics.parity.signed_sums import signed_sum_counts, signed_sum_law

small = st.integers(-3, 3)


@given(u=st.lists(st.integers(-4, 4), max_size=9))
def test_the_law_of_a_signed_sum(u: list[int]) -> None:
    assert signed_sum_law(u) == signed_sum_counts(u)


@given(data=st.data(), n=st.integers(2, 6))
def test_equals_the_sum_over_all_inputs(data: st.DataObject, n: int) -> None:
    """Random rows a_i on S and c_i v outside, with thirds; the oracle enumerates in fractions."""
    support = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    r = data.draw(st.integers(1, 3))

    def draw(count: int) -> list[int]:
        return data.draw(st.lists(small, min_size=count, max_size=count))

    v, a, c, b, u, last = draw(n), draw(r), draw(r), draw(r), draw(r), data.draw(small)
    hidden = np.array([[fmpq(a[i] if j in support else c[i] * v[j], 3) for j in range(n)] for i in range(r)])
    bias, readout = [fmpq(x, 2) for x in b], [fmpq(x) for x in u]
    hinge, error = fmpq(0), 0
    for x in product((-1, 1), repeat=n):
        before = [
            sum((w * s for w, s in zip(row, x, strict=True)), start) for row, start in zip(hidden, bias, strict=True)
        ]
        output = sum((w * max(z, fmpq(0)) for w, z in zip(readout, before, strict=True)), fmpq(last, 5))
        margin = output * int(np.prod([x[j] for j in support]))
        hinge += max(1 - margin, fmpq(0))
        error += margin <= 0
    losses = parity_losses(hidden, bias, readout, support, fmpq(last, 5))
    assert losses.hinge == hinge / 2**n
    assert losses.error == fmpq(error, 2**n)


def test_theorem_scale() -> None:
    """n = 5,001, k = 4: 2.3e-34; a flipped read-out, a missing neuron or labels of another S cost at least 1/100."""
    network = post_step_network(5001, 4, exact=True)
    W, b, u = network.hidden, network.bias, network.readout
    losses = parity_losses(W, b, u, range(4))
    assert fmpq(23, 10**35) < losses.hinge < fmpq(24, 10**35)
    assert 0 < losses.error < losses.hinge
    flipped = u.copy()
    flipped[2] = -flipped[2]
    assert parity_losses(W, b, flipped, range(4)).hinge > fmpq(1, 100)
    assert parity_losses(W[1:], b[1:], u[1:], range(4)).hinge > fmpq(1, 100)
    assert parity_losses(relu_network(9, 3, exact=True).hidden, *_rest(9, 3), range(3), -1).hinge == 0


def _rest(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    network = relu_network(n, k, exact=True)
    return network.bias, network.readout


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: parity_losses([[1, 2, 0]], [0], [1], [0, 1]), "Row 0 is not constant on the support"),
        (lambda: parity_losses([[1, 1, 2], [1, 2, 1]], [0, 0], [1, 1], [0]), "Row 1 is no multiple of the others"),
        (lambda: parity_losses([[1, 1]], [0, 0], [1], [0]), "shapes must be"),
        (lambda: parity_losses([[1, 1]], [0], [1], [0, 1, 2]), "no non-empty set of inputs"),
        (lambda: signed_sum_law([10**12, 1]), r"needs \d+\.\d GiB of memory"),
        (lambda: parity_losses([[0.5, 1]], [0], [1], [0]), "exact"),
    ],
)
def test_bad_input_is_refused(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()
