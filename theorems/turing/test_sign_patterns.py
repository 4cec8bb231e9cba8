"""The remark after theorem 3.1: examples that the 0-1 loss needs, poly(w q), by a count of signs; proofs/vc-bounds.md.

And a lower bound: w inputs are shattered whatever alpha is, so that the dependence on w is there.
"""

from __future__ import annotations

import math
from fractions import Fraction as Q
from itertools import pairwise, product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.margins.all_layer import operator_norm
from lemmata.constructions.circuits.relu import circuit_network
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.learning.sign_patterns import (
    network_log_growth,
    sign_loss_bound,
    sign_loss_sample_size,
    sign_pattern_bound,
    vc_bound,
)
from lemmata.theorems.evidence import check, proof_steps
from lemmata.theorems.turing.circuit_families import identity_chain

REMARK = "turing:remark-comparison"


@check(REMARK, grade="exact", target="printed")
@proof_steps("vc-bounds.md: 2")
@pytest.mark.parametrize(("M", "D"), [(1, 1), (1, 5), (3, 2), (4, 3), (6, 1)])
def test_patterns_of_polynomials_in_one_variable(M: int, D: int) -> None:
    """All roots real and different: M D + 1 intervals, the bound exactly, and as many patterns for D = 1.

    In p variables, M polynomials of each of them alone: as many to the power p.
    """
    roots = np.arange(M * D).reshape(D, M).T  # polynomial i has the roots i, i + M, ...
    between = [Q(2 * j - 1, 2) for j in range(M * D + 1)]
    signs = [tuple(math.prod(x - int(r) for r in row) > 0 for row in roots) for x in between]
    intervals = 1 + sum(one != other for one, other in pairwise(signs))
    assert intervals == sign_pattern_bound(M, D, 1) == M * D + 1
    assert len(set(signs)) == (M + 1 if D == 1 else len(set(signs))) <= intervals
    for p in (2, 3):
        assert len(set(signs)) ** p <= sign_pattern_bound(p * M, D, p)


@check(REMARK, grade="exact", target="printed", cases="3 and 4 lines, 2 circles and a line in the plane")
@proof_steps("vc-bounds.md: 2")
@pytest.mark.parametrize(
    ("curves", "degree", "patterns"),
    [
        ((lambda x, y: x, lambda x, y: y, lambda x, y: x + y - 5), 1, 7),
        ((lambda x, y: x, lambda x, y: y, lambda x, y: x + y - 5, lambda x, y: 2 * x - y - 3), 1, 11),
        ((lambda x, y: x**2 + y**2 - 25, lambda x, y: (x - 4) ** 2 + y**2 - 25, lambda x, y: y - 1), 2, 8),
    ],
)
def test_patterns_in_the_plane(curves, degree: int, patterns: int) -> None:
    """Points of a grid off the curves show all regions; there are no more patterns than the bound."""
    grid = [Q(2 * j + 1, 14) for j in range(-140, 141)]
    found = {tuple(curve(x, y) > 0 for curve in curves) for x in grid[::4] for y in grid[::4]}
    assert len(found) == patterns <= sign_pattern_bound(len(curves), degree, 2)


@check(REMARK, grade="sampled", target="printed", cases="(m, w, d) = (1, 1, 1), (1, 2, 1), (1, 2, 2); 4000 draws each")
@proof_steps("vc-bounds.md: 3")
@pytest.mark.parametrize(("w", "d", "n"), [(1, 1, 6), (2, 1, 6), (2, 2, 5)])
def test_patterns_of_small_networks(w: int, d: int, n: int) -> None:
    """Random networks of the library on n points of the line: fewer patterns than the bound, and more than n."""
    random = np.random.default_rng(w + 10 * d)
    points = np.arange(n, dtype=float)[:, None] - n / 2
    found = set()
    for _ in range(4000):
        widths = [1, *[w] * d, 1]
        layers = tuple(Affine(random.normal(size=(a, b)), 2 * random.normal(size=b)) for a, b in pairwise(widths))
        network = FeedForward(layers, activations=("relu",) * d + ("identity",))
        found.add(tuple((network(points)[:, 0] > 0).tolist()))
    p = w + (d - 1) * w**2 + (d + 1) * w + 1
    assert n < len(found) <= math.exp(float(network_log_growth(n, p, w, d)))
    assert n - 1 <= vc_bound(p, w, d)


@check(REMARK, grade="numeric", target="printed", cases="p = 4 to 10^6, w = 1 to 500, d = 1 to 9")
@proof_steps("vc-bounds.md: 3")
def test_the_bounds_from_their_parts() -> None:
    """Growth, VC dimension and error once more, by other formulas; 2^n passes the bound exactly behind the VC bound."""
    for n, (p, w, d) in product((1, 7, 10**5), ((4, 1, 1), (300, 10, 3), (10**6, 500, 9))):
        growth = p * (sum(math.log(n * w * layer + 1) for layer in range(1, d + 1)) + math.log(n * (d + 1) + 1))
        assert float(network_log_growth(n, p, w, d)) == pytest.approx(growth, rel=1e-12)
        error = 2 * math.sqrt(2 * growth / n) + math.sqrt(2 * math.log(200) / n)
        assert float(sign_loss_bound(n, p, w, d)) == pytest.approx(error, rel=1e-9)
        most = vc_bound(p, w, d)
        assert most * math.log(2) <= float(network_log_growth(most, p, w, d))
        assert (most + 1) * math.log(2) > float(network_log_growth(most + 1, p, w, d))


@check(REMARK, grade="enclosed", target="printed", cases="eps = 1/10, q = w = 2, 4, ..., 32, m = w")
@proof_steps("vc-bounds.md: 4")
def test_the_sample_size_of_the_0_1_loss_is_polynomial() -> None:
    """n eps^2 <= (2 sqrt 2 + 3.26/sqrt g)^2 g <= 17 g for the logarithm g > 7 of the growth.

    g <= p (d + 1) ln(n w (d + 1) + 1): it grows like w^4 log w for d = 2 w hidden layers, p = O(w^2 d).
    """
    sizes = []
    for w in (2, 4, 8, 16, 32):
        d = 2 * w
        p = w * w + (d - 1) * w**2 + (d + 1) * w + 1
        n = sign_loss_sample_size(Q(1, 10), p, w, d)
        assert sign_loss_bound(n, p, w, d) < arb(1) / 10 < sign_loss_bound(n - 1, p, w, d)
        assert 8 * 100 < n <= 100 * 17 * p * (d + 1) * math.log(n * w * (d + 1) + 1)
        sizes.append(n)
    assert 3.5 < math.log(sizes[-1] / sizes[0], 16) < 4.5


@check(
    REMARK,
    grade="exact",
    target="printed",
    cases="all labellings of w inputs of the cube, (m, w, d) = (2, 4, 1), (2, 4, 3), (3, 5, 2), (3, 8, 1)",
)
@proof_steps("vc-bounds.md: 5")
@pytest.mark.parametrize(("m", "w", "d"), [(2, 4, 1), (2, 4, 3), (3, 5, 2), (3, 8, 1)])
def test_inputs_of_the_cube_are_shattered_at_every_1_norm(m: int, w: int, d: int) -> None:
    """Unit i is ReLU(<2 x_i - 1, x> - |x_i| + 1), the indicator of x_i: min(w, 2^m) inputs are shattered.
    Further layers copy the units.

    Scaling layer l by c and its bias by c^l leaves all signs, so that a bound on the 1-norm changes nothing.
    """
    cube = np.array(list(product((0, 1), repeat=m)))[:w]
    scale = fmpq(1, 100 * (w + 1) * (m + 1))
    for labels in product((-1, 1), repeat=w):
        for c in (fmpq(1), scale):
            hidden = Affine(as_exact((2 * cube - 1).T) * c, as_exact(1 - cube.sum(axis=1)) * c)
            copies = (Affine(as_exact(np.eye(w, dtype=np.int64)) * c),) * (d - 1)
            readout = Affine(as_exact(np.array(labels)[:, None]) * c)
            network = FeedForward((hidden, *copies, readout), activations=("relu",) * d + ("identity",))
            assert network(as_exact(cube))[:, 0].tolist() == [c ** (d + 1) * label for label in labels]
        assert network.one_norm < 1


@check(REMARK, grade="numeric", target="printed", supporting=True, cases="chains of 2, 10 and 40 layers")
@proof_steps("vc-bounds.md: 6")
def test_the_product_of_norms_of_identity_chains_does_not_grow() -> None:
    """The naive construction of a chain of identity gates has operator norms 1, whatever its depth."""
    for q in (2, 10, 40):
        for step in circuit_network(identity_chain(q), "none").steps:
            for layer in step.layers:
                assert abs(float(operator_norm(layer.weight).mid()) - 1) < 1e-9
