"""Read-outs of ramps: both outcomes, explicit multipliers against the solver, least norms, edited certificates."""

from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmata.certificates.duality import farkas
from lemmata.certificates.duality.inequalities import FarkasCertificate, FeasiblePoint
from lemmata.certificates.duality.readouts import (
    decide,
    design_grid,
    least_norm_readout,
    least_ramp_loss,
    least_step_loss,
    margin_constraints,
    missing_kink_multipliers,
    verify_least_norm,
)
from lemmata.constructions.parity.bias_grids import (
    even_kink_grid,
    offset_grid,
    ramp_features,
    ramp_labels,
    ramp_law,
    solve_readout,
)


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_the_printed_grid_has_no_read_out_and_the_repaired_one_has(k: int) -> None:
    assert isinstance(decide(k, offset_grid(k, first=1)), FarkasCertificate)
    assert isinstance(decide(k, offset_grid(k)), FeasiblePoint)


def test_explicit_multipliers() -> None:
    found = missing_kink_multipliers(4)
    bounds = {constraint.name: constraint.bound for constraint in margin_constraints(4, offset_grid(4, first=1))}
    scaled = {name: multiplier * bounds[name] for name, multiplier in found.multipliers.items()}
    assert Fraction(scaled["z = 0"], scaled["z = 4"]) == 32
    assert Fraction(scaled["z = 2"], scaled["z = 4"]) == 33
    for k, offset in [(6, fmpq(1, 3)), (12, fmpq(1, 16)), (20, fmpq(7, 8))]:
        constraints = margin_constraints(k, offset_grid(k, offset, first=1))
        certificate = missing_kink_multipliers(k, offset)
        farkas.verify(constraints, certificate)
        with pytest.raises(ValueError, match=r".*"):
            farkas.verify(constraints, FarkasCertificate(dict(certificate.multipliers) | {"z = 0": 1}))


@given(st.sampled_from([4, 6]), st.data())
def test_no_read_out_has_a_smaller_loss(k: int, data: st.DataObject) -> None:
    grid = offset_grid(k, first=1)
    least = least_ramp_loss(k, grid).value
    weights = data.draw(st.lists(st.integers(-99, 99), min_size=2 * len(grid) + 1, max_size=2 * len(grid) + 1))

    outputs = [sum((w * x for w, x in zip(weights, row, strict=True)), fmpq(0)) for row in ramp_features(k, grid)]
    losses = [p * max(1 - y * f, fmpq(0)) for p, y, f in zip(ramp_law(k), ramp_labels(k), outputs, strict=True)]
    total = sum(losses, fmpq(0))
    assert Fraction(int(total.p), int(total.q)) >= least


def test_least_norms() -> None:
    single = least_norm_readout(4, offset_grid(4, fmpq(1, 2)))
    assert single.norm_squared == 53249
    shared = least_norm_readout(4, offset_grid(4, fmpq(1, 2)), [3, 5])
    assert shared.weights == single.weights
    assert shared.norm_squared < single.norm_squared
    readout = solve_readout(6, even_kink_grid(6))
    assert Fraction(int(readout.norm_squared.p), int(readout.norm_squared.q)) == design_grid(6)[1].norm_squared == 12961
    large, solved = least_norm_readout(50, even_kink_grid(50)), solve_readout(50, even_kink_grid(50))
    assert large.norm_squared == Fraction(int(solved.norm_squared.p), int(solved.norm_squared.q))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda found: replace(found, norm_squared=found.norm_squared - 1), "squared norm"),
        (lambda found: replace(found, weights=(found.weights[0] + 1, *found.weights[1:])), "Weight 0"),
        (lambda found: replace(found, multipliers=tuple(-x for x in found.multipliers)), "negative"),
        (lambda found: replace(found, weights=found.weights[1:]), "There must be"),
        (
            lambda found: replace(
                found,
                weights=tuple(2 * v for v in found.weights),
                multipliers=tuple(2 * x for x in found.multipliers),
            ),
            "margin at the sum",
        ),
    ],
)
def test_edited_least_norms_are_refused(change, words: str) -> None:
    grid = offset_grid(4)
    with pytest.raises(ValueError, match=words):
        verify_least_norm(4, grid, change(least_norm_readout(4, grid)))


@given(st.sampled_from([2, 4, 6, 8]), st.data())
def test_no_other_grid_has_a_smaller_norm(k: int, data: st.DataObject) -> None:
    slack = fmpq(data.draw(st.integers(0, 9)), 10)
    grid, found = design_grid(k, slack)
    assert len(grid) == k // 2
    assert max(grid) == -(1 + slack) / (2 * k)
    first = 2 - (1 - slack) * fmpq(data.draw(st.integers(1, 20)), 20)
    kinks = [first, *(2 * q - fmpq(data.draw(st.integers(1, 20)), 10) for q in range(2, k // 2 + 1))]
    other = least_norm_readout(k, [-kink / (2 * k) for kink in kinks])
    assert found.norm_squared <= other.norm_squared


def test_averaged_ramps_of_few_biases_have_a_loss_and_of_enough_none() -> None:
    for s in (17, 41):
        assert least_step_loss(4, offset_grid(4, first=1), s).value > Fraction(3, 4)
        assert least_step_loss(4, offset_grid(4), s).value == 0
    assert least_step_loss(2, (), 9).value == 1


def test_bad_input_is_refused() -> None:
    for call, words in [
        (lambda: decide(3, [0]), "even number"),
        (lambda: missing_kink_multipliers(2), "empty for k = 2"),
        (lambda: least_norm_readout(4, offset_grid(4, first=1)), "2 biases"),
        (lambda: least_norm_readout(4, [fmpq(-1, 4)] * 2), "dependent"),
        (lambda: least_norm_readout(4, offset_grid(4), [1, 0]), "at least 1"),
        (lambda: design_grid(4, 1), "0 <= slack < 1"),
        (lambda: design_grid(5), "even number"),
        (lambda: least_step_loss(4, [fmpq(-1, 9)], 17), "at most -1/8"),
        (lambda: least_step_loss(4, [fmpq(-1, 4)], 16), "odd number s"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
