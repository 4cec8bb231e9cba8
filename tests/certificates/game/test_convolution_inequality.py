"""The inequality behind the maximum margin: |u * v|^2 <= (n/nu) |u|^2 |v|^2 in a component of the real group algebra.

nu is the dimension of the real irreducible representation of the component. Steps 3 to 5 and the lower bound of
certificates/game/UNIVERSAL_MARGIN.md rest on it. The groups are all those of order at most 24 with a name, and the
others of the small groups library where it is there. Tolerances are derived in `group_algebra` and below.
"""

from itertools import product
from math import prod

import numpy as np
import pytest

from lemmata.certificates import kernel
from lemmata.certificates.game.equalising import condition_sums, spectral_sum
from lemmata.certificates.game.margin_game import MarginGame, margin_scale, solve
from lemmata.numerics.exact.cyclotomic.numbers import rational, sqrt_rational
from lemmata.numerics.exact.numbers import to_float
from lemmata.numerics.groups.lists import group_list
from tests.certificates.game.group_algebra import EPS, RealAlgebra, RealComponent, real_algebra

GROUPS = group_list(24).names
FACTORS = range(2, 7)


def chains(component: RealComponent, k: int, seed: int = 0) -> list[np.ndarray]:
    """k functions <x_{j-1}, rho(g) x_j> of the component, for random unit vectors x_0, .., x_k, shape (n,) each.

    The error of each is at most 5 angle relative to its norm sqrt(n/nu), times sqrt nu.
    """
    x = np.random.default_rng(seed).normal(size=(k + 1, component.nu))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return [component.matrices @ x[j + 1] @ x[j] for j in range(k)]


def chain_tolerance(component: RealComponent, k: int) -> float:
    """The error of `ratio` on `chains`: k times 10 nu angle.

    A function wrong by delta changes a convolution by sqrt n delta |v|, sqrt nu times more than the bound itself.
    """
    return 10 * k * component.nu * component.algebra.angle


def ratio(component: RealComponent, functions: list[np.ndarray]) -> float:
    """|u_1 * ... * u_k| divided by its bound (n/nu)^((k-1)/2) |u_1| ... |u_k|."""
    algebra, k = component.algebra, len(functions)
    result = functions[-1]
    for u in functions[-2::-1]:
        result = algebra.left(u) @ result
    bound = (algebra.order / component.nu) ** ((k - 1) / 2) * prod(float(np.linalg.norm(u)) for u in functions)
    return float(np.linalg.norm(result)) / bound


def norm_ratio(component: RealComponent, u: np.ndarray) -> float:
    """The norm of v -> u * v, over all v, divided by its bound (n/nu)^(1/2) |u|."""
    bound = np.sqrt(component.algebra.order / component.nu) * np.linalg.norm(u)
    return float(np.linalg.norm(component.algebra.left(u), 2) / bound)


def random_functions(component: RealComponent, count: int) -> tuple[np.ndarray, float]:
    """Random functions of the component, projections of unit vectors, and the error of `norm_ratio` on them.

    The error delta of a projection and the rounding of a convolution matter sqrt nu times more than in the bound.
    """
    n = component.algebra.order
    r = np.random.default_rng(n + component.row).normal(size=(count, n))
    functions = component.project(r / np.linalg.norm(r, axis=1, keepdims=True))
    least = float(np.linalg.norm(functions, axis=1).min())
    tolerance = component.algebra.rounding * np.sqrt(component.nu / n) / least + n * n * EPS
    assert tolerance < 1e-7  # no projection is so short that the tolerance hides a violation
    return functions, tolerance


class TestComponents:
    """Step 3: what the components are, and that nu read off the type is the dimension found in the algebra."""

    @pytest.mark.parametrize("name", GROUPS)
    def test_components_are_orthogonal_ideals(self, name: str) -> None:
        """The idempotents add up to delta_e, are symmetric, and e_rho * e_sigma = e_rho or 0."""
        algebra = real_algebra(name)
        n, tolerance = algebra.order, algebra.rounding
        idempotents = [np.full(n, 1 / n), *(component.idempotent for component in algebra.components)]
        delta = (np.arange(n) == algebra.group.identity).astype(float)
        assert np.abs(sum(idempotents) - delta).max() <= tolerance
        for (i, e), (j, f) in product(enumerate(idempotents), repeat=2):
            assert np.abs(algebra.left(e) @ f - (e if i == j else 0)).max() <= tolerance
            assert np.abs(e - e[algebra.group.inverse]).max() <= tolerance
        assert 1 + sum(component.size for component in algebra.components) == n

    @pytest.mark.parametrize("name", GROUPS)
    def test_dimension_by_type_is_that_of_irreducible_right_ideals(self, name: str) -> None:
        """All eigenspaces of a generic symmetric element have dimension nu; on one, translations have the character."""
        algebra = real_algebra(name)
        for component in algebra.components:
            assert set(component.multiplicities) == {component.nu}
            traces = np.trace(component.matrices, axis1=1, axis2=2)
            assert np.abs(traces - component.character).max() <= 5 * component.nu * algebra.angle
            g, h = np.random.default_rng(1).integers(algebra.order, size=(2, 20))
            products = component.matrices[g] @ component.matrices[h] - component.matrices[algebra.group.table[g, h]]
            assert np.abs(products).max() <= 15 * algebra.angle
            squares = (component.matrices**2).sum(axis=0)  # all entries have the norm sqrt(n/nu), for every type
            assert np.abs(squares - algebra.order / component.nu).max() <= 10 * algebra.order * algebra.angle

    @pytest.mark.parametrize("name", GROUPS)
    def test_symmetric_class_functions_act_as_their_mean(self, name: str) -> None:
        """kappa * w = kappa_rho w on the component, kappa_rho = sum_g kappa(g) chi(g)/nu, for random kappa."""
        algebra = real_algebra(name)
        values = np.random.default_rng(2).normal(size=len(algebra.table.class_sizes))
        kappa = (values + values[list(algebra.table.inverses)])[algebra.class_of]
        kappa /= np.linalg.norm(kappa)
        for component in algebra.components:
            functions, _ = random_functions(component, 3)
            scalar = float(kappa @ component.character) / component.nu
            assert np.abs(functions @ algebra.left(kappa).T - scalar * functions).max() <= 3 * algebra.rounding

    def test_all_three_types_occur(self) -> None:
        kinds = {
            (real_algebra(name).table.indicators[c.row], c.degree > 1)
            for name in GROUPS
            for c in real_algebra(name).components
        }
        assert kinds == {(1, False), (1, True), (0, False), (0, True), (-1, True)}


class TestInequality:
    """Step 4."""

    @pytest.mark.parametrize("name", GROUPS)
    def test_no_random_function_exceeds_it(self, name: str) -> None:
        """With the best v of all, by the largest singular value; and products of 2 to 6 random functions."""
        for component in real_algebra(name).components:
            functions, tolerance = random_functions(component, 12)
            for u in functions:
                assert norm_ratio(component, u) <= 1 + tolerance
            for k in FACTORS:
                assert ratio(component, list(functions[:k])) <= 1 + k * tolerance

    @pytest.mark.parametrize("name", GROUPS)
    def test_one_function_in_the_component_is_enough(self, name: str) -> None:
        """u arbitrary and v in the component: u * v is the product with the projection of u, which is shorter."""
        algebra = real_algebra(name)
        u = np.random.default_rng(3).normal(size=algebra.order)
        u /= np.linalg.norm(u)
        for component in algebra.components:
            (v,), tolerance = random_functions(component, 1)
            assert np.abs(algebra.left(u) @ v - algebra.left(component.project(u)) @ v).max() <= 3 * algebra.rounding
            assert ratio(component, [u, v]) <= 1 + tolerance

    @pytest.mark.parametrize("name", GROUPS)
    def test_matrix_coefficients_attain_it(self, name: str) -> None:
        """u_j = <x_{j-1}, rho x_j> have the norm sqrt(n/nu) and the product (n/nu)^(k-1) <x_0, rho x_k>."""
        for component in real_algebra(name).components:
            n = component.algebra.order
            for k in FACTORS:
                functions, tolerance = chains(component, k), chain_tolerance(component, k)
                norms = np.linalg.norm(functions, axis=1)
                assert np.abs(norms / np.sqrt(n / component.nu) - 1).max() <= tolerance
                assert abs(ratio(component, functions) - 1) <= tolerance

    @pytest.mark.parametrize("name", GROUPS)
    def test_minimal_projections_attain_it(self, name: str) -> None:
        """p = p * p = p~ with v -> p * v of rank nu: |p|^2 = nu/n, and |p * p|^2 = (n/nu) |p|^4."""
        for component in real_algebra(name).components:
            algebra = component.algebra
            n, tolerance = algebra.order, 8 * algebra.angle * np.sqrt(algebra.order)
            p = component.space @ component.space[algebra.group.identity]
            assert np.abs(algebra.left(p) @ p - p).max() <= tolerance
            assert abs(p @ p - component.nu / n) <= tolerance
            assert abs(ratio(component, [p, p]) - 1) <= tolerance

    @pytest.mark.parametrize("name", GROUPS)
    def test_a_constant_two_per_cent_smaller_is_exceeded_in_every_component(self, name: str) -> None:
        for component in real_algebra(name).components:
            u, v = chains(component, 2)
            assert ratio(component, [u, v]) ** 2 > 0.98 + chain_tolerance(component, 2)

    @pytest.mark.parametrize("name", GROUPS)
    def test_no_other_dimension_fits(self, name: str) -> None:
        """With 2 nu in place of nu the bound is exceeded; with the complex degree d < nu nothing comes near it.

        So d is the wrong number exactly for complex and quaternionic type: the best quotient is then d/nu = 1/2.
        """
        for component in real_algebra(name).components:
            functions, tolerance = random_functions(component, 12)
            best = max([norm_ratio(component, u) for u in [*functions, *chains(component, 2)]]) ** 2
            assert abs(best - 1) <= 3 * tolerance + 3 * chain_tolerance(component, 2)
            assert best > 1 / 2 + 3 * tolerance  # exceeds the bound with 2 nu
            indicator = component.algebra.table.indicators[component.row]
            attained = best * component.degree / component.nu  # in units of the bound with d
            assert (attained < 0.51) == (indicator != 1)
            assert (attained > 0.99) == (indicator == 1)


def real_character(component: RealComponent) -> np.ndarray:
    """The character of the real representation by classes, exactly: its dimension says whether R is taken alone."""
    table, R = component.algebra.table, component.row
    if component.multiplicities[0] == component.degree:
        return table.values[R]
    return table.values[R] + table.values[R, list(table.inverses)]


class TestPayoffMatrix:
    """M = nu^(-(k-1)/2) (1 - chi(C)/chi(e)), rho real, is the matrix by complex characters, exactly."""

    @pytest.mark.parametrize("name", GROUPS)
    def test_both_forms_agree(self, name: str) -> None:
        """nu is the dimension found in the algebra, chi = chi_R for nu = d and chi_R + conj chi_R for nu = 2 d.

        M = defects/weights: the quotients d (1 - chi(C)/nu) and d nu^((k-1)/2) agree one by one. So do the weights
        of the kernel.
        """
        algebra = real_algebra(name)
        table = algebra.table
        for k in FACTORS:
            game = MarginGame(table, k)
            assert game.rows == tuple(component.row for component in algebra.components)
            for i, component in enumerate(algebra.components):
                R, nu, d = component.row, component.multiplicities[0], component.degree
                assert game.weights[i] == d * sqrt_rational(nu ** (k - 1))
                ((root, factor),) = kernel.payoff_scale(d, table.indicators[R], k).items()
                assert factor > 0
                assert factor**2 * root == d**2 * nu ** (k - 1)
                if k == 2:  # the defects do not depend on k
                    chi = real_character(component)
                    assert chi[0] == nu
                    assert all(game.defects[i, j] == d * (1 - chi[C] / nu) for j, C in enumerate(game.columns))

    @pytest.mark.parametrize("name", GROUPS)
    @pytest.mark.parametrize("k", [2, 3])
    def test_closed_form_by_real_representations(self, name: str, k: int) -> None:
        """S = sum of dim V nu^((k-1)/2), and the condition sums are those of dim V nu^((k-1)/2) chi(C)/nu."""
        components = real_algebra(name).components
        game = MarginGame(real_algebra(name).table, k)
        shares = [component.size * sqrt_rational(component.multiplicities[0] ** (k - 1)) for component in components]
        assert spectral_sum(game) == sum(shares, rational(0))
        for C, found in zip(game.columns, condition_sums(game), strict=True):
            values = [real_character(component)[C] / component.multiplicities[0] for component in components]
            assert found == sum((a * b for a, b in zip(shares, values, strict=True)), rational(0))

    @pytest.mark.parametrize("name", ["Z3", "Q8", "A4", "Dic3", "Z7:Z3", "SL(2,3)"])
    @pytest.mark.parametrize("k", FACTORS)
    def test_the_complex_degree_in_place_of_the_dimension_is_another_game(self, name: str, k: int) -> None:
        algebra = real_algebra(name)
        game = MarginGame(algebra.table, k)
        wrong = [
            game.weights[i] != c.degree * sqrt_rational(c.degree ** (k - 1)) for i, c in enumerate(algebra.components)
        ]
        assert wrong == [algebra.table.indicators[c.row] != 1 for c in algebra.components]
        assert any(wrong)


def network(components: list[RealComponent], masses: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The network of the lower bound for any type: hidden (m, k, n) and readout (m, n) weights, norm 1.

    u_j = rho_{i_{j-1} i_j}, w = rho_{i_0 i_k} over all indices and signs, times sqrt(nu/((k+1) n)).
    """
    hidden, readout = [], []
    for component, mass in zip(components, masses, strict=True):
        if mass == 0:
            continue
        nu, n = component.nu, component.algebra.order
        neurons = 2 ** (k - 1) * nu ** (k + 1)
        entries = (
            component.matrices.transpose(1, 2, 0) * np.sqrt(nu / ((k + 1) * n)) * (mass / neurons) ** (1 / (k + 1))
        )
        for signs in product((1, -1), repeat=k - 1):
            for i in product(range(nu), repeat=k + 1):
                hidden.append([sign * entries[i[j], i[j + 1]] for j, sign in enumerate((1, *signs))])
                readout.append(prod(signs) * entries[i[0], i[k]])
    return np.array(hidden), np.array(readout)


def margins(algebra: RealAlgebra, hidden: np.ndarray, readout: np.ndarray) -> np.ndarray:
    """All margins f(a)[a_1 ... a_k] - f(a)[c], shape (n^k, n - 1)."""
    n, k = algebra.order, hidden.shape[1]
    tuples = np.indices((n,) * k).reshape(k, -1)
    labels = tuples[0]
    for j in range(1, k):
        labels = algebra.group.table[labels, tuples[j]]
    preactivations = np.sum([hidden[:, j, tuples[j]] for j in range(k)], axis=0)
    logits = preactivations.T**k @ readout
    wrong = np.ones_like(logits, dtype=bool)
    points = np.arange(len(labels))
    wrong[points, labels] = False
    return (logits[points, labels][:, None] - logits)[wrong].reshape(len(labels), n - 1)


def margin_tolerance(algebra: RealAlgebra, k: int, width: int) -> float:
    """The error of `margins` of a network of norm 1.

    Unit neurons have outputs of at most k^(k/2); a relative error of 5 sqrt nu angle of each of k + 1 blocks, which
    have the norms 1/sqrt(k+1), and rounding of sums of `width` terms.
    """
    nu = max(component.nu for component in algebra.components)
    return 2 * k ** (k / 2) * (5 * (k + 1) * np.sqrt(nu) * algebra.angle + (width + 3 * k + 10) * EPS)


class TestNetworks:
    """The lower bound without cases: entries of real irreducible representations of any type attain the value."""

    CASES = (
        *((name, 2) for name in ("Z2", "Z3", "Z4", "S3", "Q8", "A4", "Dic3", "Z7:Z3", "SL(2,3)")),
        *((name, 3) for name in ("Z2", "Z3", "Z4", "S3", "Q8")),
        *((name, 4) for name in ("Z2", "Z3", "Z4")),
    )

    @pytest.mark.parametrize(("name", "k"), CASES)
    def test_entries_of_real_representations_attain_the_value(self, name: str, k: int) -> None:
        algebra = real_algebra(name)
        solution = solve(MarginGame(algebra.table, k))
        hidden, readout = network(algebra.components, to_float(solution.eps), k)
        sizes = np.sqrt((hidden**2).sum(axis=(1, 2)) + (readout**2).sum(axis=1))
        tolerance = margin_tolerance(algebra, k, len(hidden))
        assert abs(np.sum(sizes ** (k + 1)) - 1) <= tolerance * (k + 1)
        found = margins(algebra, hidden, readout)
        assert tolerance < 1e-3 * float(solution.gamma)
        assert abs(found.min() - float(solution.gamma)) <= tolerance
        # a neuron left out is noticed
        assert margins(algebra, hidden[1:], readout[1:]).min() < float(solution.gamma) - 10 * tolerance

    @pytest.mark.parametrize(("name", "k"), [("Z5", 2), ("Q8", 2), ("Dic3", 2), ("Z5", 3)])
    def test_one_representation_gives_its_real_character(self, name: str, k: int) -> None:
        """(*) for each row alone: the margins are those of its row of M, on all inputs."""
        algebra = real_algebra(name)
        n, scale = algebra.order, float(margin_scale(algebra.order, k))
        for component in algebra.components:
            hidden, readout = network([component], np.ones(1), k)
            row = component.nu ** (-(k - 1) / 2) * (1 - component.character / component.nu)
            expected = np.sort(scale * np.delete(row, algebra.group.identity))
            found = np.sort(margins(algebra, hidden, readout), axis=1)
            assert found.shape == (n**k, n - 1)
            assert np.abs(found - expected).max() <= margin_tolerance(algebra, k, len(hidden))
