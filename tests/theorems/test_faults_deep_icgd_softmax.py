"""Faults planted in what settles the statements on softmax attention and scores: deciding checks have to see them."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb

from lemmata.constructions.descent import contextual, grid, risk
from lemmata.numerics.functions import waves
from lemmata.theorems.deep_icgd import test_contextual, test_general_risk, test_score_network, test_waves
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten


def contextual_fault(name: str, old: str, new: str, family: str = "both signs") -> Fault:
    check = "test_attention_is_a_contextual_mapping_on_extreme_families"
    faulty = rewritten(contextual.contextual_attention, old, new)
    return Fault(
        name, "lemma-17", test_contextual, check, test_contextual, "contextual_attention", faulty, {"name": family}
    )


def _separation(factor: Any, power: Any) -> property:
    def value(mapping: contextual.ContextualMapping) -> arb:
        T = mapping.sharpness * mapping.largest
        return factor * arb(mapping.shift / mapping.largest / T) * (-power * arb(T * mapping.spread)).exp()

    return property(value)


def direction_fault(name: str, old: str, new: str) -> Fault:
    faulty = rewritten(contextual.separating_direction, old, new)
    check = "test_direction_separates_as_the_proof_needs"
    return Fault(name, "lemma-17", test_contextual, check, test_contextual, "separating_direction", faulty, {"d": 2})


DIRECTION_FAULTS = [
    direction_fault("a share of half the size", "fmpq(4, (count", "fmpq(1, (count"),
    direction_fault("the first draw", ">= share * size * (x @ x)", ">= 0"),
    direction_fault("differences left out", "[*tokens, *(a - b for a, b in combinations(tokens, 2))]", "[*tokens]"),
]


def risk_fault(name: str, attribute: str, old: str, new: str, statement: str = "theorem-6") -> Fault:
    """A fault of the four layers, which the comparison over the rationals must see."""
    check = "test_four_layers_are_projected_descent_over_the_rationals"
    faulty = rewritten(getattr(risk, attribute), old, new)
    owner, arguments = (test_general_risk if attribute == "risk_descent_block" else risk), {"sizes": (2, 1, 1, 3)}
    return Fault(name, statement, test_general_risk, check, owner, attribute, faulty, arguments)


def bound_fault(name: str, old: str, new: str, bounds: str, owner: Any = None) -> Fault:
    """A fault that symmetric boxes with all bounds equal to 1 do not show."""
    check = "test_bounds_of_any_size_keep_the_test_token_out"
    faulty = rewritten(getattr(risk, "risk_descent_block" if owner is None else "clipping_layer"), old, new)
    where, attribute = (test_general_risk, "risk_descent_block") if owner is None else (owner, "clipping_layer")
    return Fault(name, "theorem-6", test_general_risk, check, where, attribute, faulty, {"name": bounds})


def domain_fault(name: str, attribute: str, old: str, new: str) -> Fault:
    """A fault of the layers in front of another projection."""
    check = "test_any_projection_that_is_an_mlp_may_stand_in_the_fourth_layer"
    faulty = rewritten(getattr(risk, attribute), old, new)
    owner = test_general_risk if attribute == "risk_descent_block" else risk
    return Fault(name, "theorem-6", test_general_risk, check, owner, attribute, faulty)


def wave_fault(name: str, attribute: str, old: str, new: str, function: str = "distance") -> Fault:
    """A fault of the sum for a Lipschitz function, which the positive mean or the error by its formula must see."""
    check = "test_waves_of_a_lipschitz_function_are_the_positive_mean"
    faulty = rewritten(getattr(waves, attribute), old, new)
    return Fault(name, "theorem-6", test_waves, check, waves, attribute, faulty, {"name": function})


def sum_fault(name: str, method: str, old: str, new: str) -> Fault:
    """A fault of a method of `WaveSum`."""
    check = "test_errors_of_sums_are_what_the_proof_says"
    faulty = rewritten(getattr(waves.WaveSum, method), old, new)
    return Fault(name, "theorem-6", test_waves, check, waves.WaveSum, method, faulty)


def smooth_fault(name: str, owner: Any, attribute: str, old: str, new: str) -> Fault:
    """A fault of what the block or a fit says of its own error, or of products of waves."""

    def fresh() -> dict[str, Any]:
        test_general_risk.amplitude_and_phase.cache_clear()
        return {"name": "amplitude and phase", "record_property": lambda *_: None}

    check = "test_sums_of_the_smooth_losses_keep_their_errors"
    faulty = rewritten(getattr(owner, attribute), old, new)
    return Fault(name, "theorem-6", test_general_risk, check, owner, attribute, faulty, fresh)


RISK_FAULTS = [
    risk_fault("the factor n + 1 dropped", "risk_descent_block", "fmpq(count + 1, count)", "fmpq(1)"),
    risk_fault("steps upwards", "risk_descent_block", "sums, -eta", "sums, eta"),
    risk_fault("steps 2 % too large", "risk_descent_block", "sums, -eta", "sums, -eta * fmpq(51, 50)", "theorem-3"),
    risk_fault("the risk halved", "risk_descent_block", "fmpq(count + 1, count)", "fmpq(count + 1, 2 * count)"),
    risk_fault("no mask", "gradient_layer", "np.full((sums.units, 1), mask", "np.full((sums.units, 1), 0 * mask"),
    risk_fault("a mask of half the size", "gradient_layer", "(sums.units, 1), mask", "(sums.units, 1), mask / 2"),
    risk_fault("a mask for examples", "gradient_layer", "[a[:, :-1], a[:, -1:] - M, M]", "[a[:, :-1], a[:, -1:], -M]"),
    risk_fault("x and y exchanged", "gradient_layer", '"w", "x", "y"', '"w", "y", "x"'),
    risk_fault("all entries into the first", "gradient_layer", "[k] * sums.units", "[0] * sums.units"),
    risk_fault("the mean taken twice", "risk_descent_block", "all_weights, fmpq(1)", "all_weights, fmpq(2)"),
    risk_fault(
        "scratch left", "risk_descent_block", "clearing_layer(layout),", "clipping_layer(layout, lower, upper),"
    ),
    risk_fault("no projection", "risk_descent_block", "clipping_layer(layout, lower, upper)", "clearing_layer(layout)"),
    risk_fault(
        "a lower end as the upper",
        "risk_descent_block",
        "clipping_layer(layout, lower, upper)",
        "clipping_layer(layout, lower, upper * 0)",
    ),
    bound_fault("a mask without the 1", "max(largest, fmpq(1)) * 2", "largest * 2", "all below 1"),
    bound_fault("a mask without the inputs", "max(inputs, labels, *", "max(labels, *", "inputs largest"),
    Fault(
        "certificates without the labels",
        "theorem-6",
        test_general_risk,
        "test_sums_are_refused_where_they_are_not_certified",
        test_general_risk,
        "risk_descent_block",
        rewritten(risk.risk_descent_block, "max(inputs, labels, *", "max(inputs, *"),
    ),
    bound_fault(
        "a mask without the weights",
        "max(inputs, labels, *(abs(end) for end in [*lower.tolist(), *upper.tolist()]))",
        "max(inputs, labels)",
        "weights largest",
    ),
    bound_fault(
        "the box mirrored",
        "clipping_layer(layout, lower, upper)",
        "clipping_layer(layout, -upper, upper)",
        "inputs largest",
    ),
    bound_fault("lower ends from the upper", "[-ones, lower]", "[-ones, -upper]", "all below 1", risk),
    domain_fault(
        "steps 2 % too large before another projection", "risk_descent_block", "sums, -eta", "sums, -eta * fmpq(51, 50)"
    ),
    wave_fault("damping one place on", "damping", "a[m:]", "a[m + 1 :]"),
    wave_fault(
        "a kernel of the next degree",
        "damping",
        "arb.pi() * (j + 1) / (degree + 2)",
        "arb.pi() * (j + 1) / (degree + 3)",
    ),
    wave_fault("damping 2 % too weak", "damping", "for x, y in", "* (arb(51) / 50 if m else 1) for x, y in"),
    wave_fault("places at the ends", "lipschitz_waves", "(2 * j + 1) / (2 * (degree + 1))", "j / degree"),
    wave_fault("the first coefficient doubled", "lipschitz_waves", "(2 if m else 1)", "2"),
    wave_fault(
        "no clamping of places",
        "lipschitz_waves",
        "max(-R, min(R, _rounded((angle - arb.pi() / 2) / beta)))",
        "_rounded((angle - arb.pi() / 2) / beta)",
        "one variable",
    ),
    wave_fault("an error 2 % too small", "lipschitz_waves", "arb.pi() ** 2 /", "arb(49) / 50 * arb.pi() ** 2 /"),
    wave_fault("an error 2 % too large", "lipschitz_waves", "arb.pi() ** 2 /", "arb(51) / 50 * arb.pi() ** 2 /"),
    wave_fault("an error of one variable", "lipschitz_waves", "sum(constants, fmpq(0))", "max(constants)"),
    wave_fault(
        "the phase with the other sign",
        "_folded",
        "(0, -1), (-1, 0), (0, 1)",
        "(0, 1), (-1, 0), (0, -1)",
        "one variable",
    ),
    sum_fault(
        "an error of products without its second part", "__mul__", " + (other.size + other.error) * self.error", ""
    ),
    sum_fault("an error of products without the error in it", "__mul__", "(other.size + other.error)", "other.size"),
    sum_fault(
        "an error of sums 2 % too small",
        "__add__",
        "self.error + other.error",
        "self.error + fmpq(49, 50) * other.error",
    ),
    sum_fault("an error that is not scaled", "scaled", "abs(c) * self.error", "self.error"),
    sum_fault("an error lost along a line", "along", "WaveSum({}, len(c), R, self.error)", "WaveSum({}, len(c), R)"),
    Fault(
        "sines that keep their sign when the frequency is turned",
        "theorem-6",
        test_waves,
        "test_errors_of_sums_are_what_the_proof_says",
        waves,
        "_wave",
        rewritten(waves._wave, "sine if _signed(w) == w else -sine", "sine"),
    ),
    sum_fault("an interpolation error of 1/9", "relu_sum", "** 2 / 8", "** 2 / 9"),
    sum_fault("an interpolation error 2 % too large", "relu_sum", "** 2 / 8", "** 2 * 51 / 400"),
    sum_fault("sines left out of the error", "relu_sum", "(abs(a) + abs(b))", "abs(a)"),
    sum_fault("knots twice as far", "relu_sum", "(reach / h).ceil()", "(reach / h / 2).ceil()"),
    smooth_fault(
        "products of sines with the other sign",
        waves.WaveSum,
        "__mul__",
        "a * c - sign * b * d",
        "a * c + sign * b * d",
    ),
    smooth_fault(
        "products of both not halved", waves.WaveSum, "__mul__", "(b * c + sign * a * d) / 2", "b * c + sign * a * d"
    ),
    smooth_fault(
        "errors of fits dropped",
        waves,
        "fitted_waves",
        "WaveSum(terms, 1, R, error)",
        "WaveSum(terms, 1, R, error / 64)",
    ),
]


def grid_fault(name: str, attribute: str, old: str, new: str) -> Fault:
    """A fault of the network on a grid, which Kuhn's interpolant must see."""
    check = "test_network_on_a_grid_is_the_interpolant_of_kuhn"
    faulty = rewritten(getattr(grid, attribute), old, new)
    owner = test_score_network if attribute == "grid_network" else grid
    return Fault(name, "lemma-19", test_score_network, check, owner, attribute, faulty, {"sizes": (3, 4)})


def score_fault(name: str, old: str, new: str, law: str = "a Gaussian") -> Fault:
    """A fault of the network of scores, which the L2 error must see."""
    check = "test_one_network_is_near_the_score_at_all_times"
    faulty = rewritten(grid.score_network, old, new)
    arguments = {"name": law, "record_property": None}
    return Fault(
        name,
        "lemma-19",
        test_score_network,
        check,
        test_score_network,
        "score_network",
        faulty,
        lambda: arguments | {"record_property": lambda *_: None},
    )


def node_fault(name: str, old: str, new: str) -> Fault:
    """A fault of the network of scores, which its values at the nodes must show."""
    check = "test_networks_of_scores_have_the_cut_score_at_their_nodes"
    faulty = rewritten(grid.score_network, old, new)
    arguments = {"name": "two points"}
    return Fault(name, "lemma-19", test_score_network, check, test_score_network, "score_network", faulty, arguments)


GRID_FAULTS = [
    node_fault("no cut", "np.clip(np.stack(columns, axis=1), -M, M)", "np.stack(columns, axis=1)"),
    node_fault("a cut 2 % too far", "axis=1), -M, M)", "axis=1), -1.02 * M, 1.02 * M)"),
    node_fault("a score 2 % too large", "np.asarray(score(points", "1.02 * np.asarray(score(points"),
    node_fault("a radius 2 % too large", "np.linspace(-float(R), float(R)", "1.02 * np.linspace(-float(R), float(R)"),
    grid_fault("distances of one node too many", "grid_network", "/ (n - 1) for", "/ n for"),
    grid_fault("nodes counted from one", "grid_network", "-sign * node", "-sign * (node + 1)"),
    grid_fault("maxima that are not subtracted", "grid_network", "(m, -1)", "(m, 0)"),
    grid_fault("maxima subtracted twice", "grid_network", "(m, -1)", "(m, -2)"),
    grid_fault("the maximum so far dropped", "grid_network", "({kept: fmpq(1)} if prefix else {})", "{}"),
    grid_fault("maxima of one sign", "grid_network", "(places[level - 1], sign)", "(places[level - 1], 1)"),
    grid_fault("hats 2 % too high", "grid_network", "({(): fmpq(1)}, 1), (maxima", "({(): fmpq(51, 50)}, 1), (maxima"),
    grid_fault("hats of half the maxima", "grid_network", "(maxima[-1, k, v], -1)", "(maxima[-1, k, v], 0)"),
    grid_fault("later variables lost", "grid_network", "_sum((places[i], sign))", "_sum((places[i], 1))"),
    grid_fault("later variables in size", "grid_network", '("place", -1, i): fmpq(-1)', '("place", -1, i): fmpq(1)'),
    grid_fault("the offset dropped", "_sum", "+ factor * coefficient", "+ (factor if unit else 0) * coefficient"),
    score_fault("a cut at 0", "np.clip(np.stack(columns, axis=1), -M, M)", "np.clip(np.stack(columns, axis=1), -M, 0)"),
    score_fault(
        "a cut at a quarter",
        "np.clip(np.stack(columns, axis=1), -M, M)",
        "np.clip(np.stack(columns, axis=1), -M / 8, M / 8)",
    ),
    score_fault("times backwards", "np.linspace(float(first), float(last)", "np.linspace(float(last), float(first)"),
    score_fault("one time", "score(points, float(t))", "score(points, float(first))"),
    score_fault("a score of the other sign", "np.asarray(score(points", "-np.asarray(score(points", "two points"),
    score_fault("a score 20 % too large", "np.asarray(score(points", "1.2 * np.asarray(score(points"),
]


def _trajectory_error(block: risk.RiskDescentBlock, steps: int, lipschitz: Any) -> arb:
    return block.gradient_error * block.step_size * steps


BOUND_FAULTS = [
    *(
        Fault(
            name,
            "theorem-6",
            test_waves,
            "test_errors_of_sums_are_what_the_proof_says",
            waves,
            "lipschitz_waves",
            rewritten(waves.lipschitz_waves, old, new),
        )
        for name, old, new in (
            ("rounded coefficients left out of the error", " + lost", ""),
            ("rounded places left out of the error", "mean_distance + fmpq(1, 2**_BITS)", "mean_distance"),
        )
    ),
    *(
        Fault(
            name,
            "theorem-6",
            test_general_risk,
            "test_bounds_of_the_block_are_those_of_the_proof",
            risk.RiskDescentBlock,
            attribute,
            faulty,
        )
        for name, attribute, faulty in (
            ("errors that do not grow", "trajectory_error", _trajectory_error),
            (
                "the largest error of an entry",
                "gradient_error",
                property(lambda b: arb(max(s.error for s in b.gradient))),
            ),
            ("the sum of the errors", "gradient_error", property(lambda b: arb(sum(s.error for s in b.gradient)))),
        )
    ),
]


FAULTS = [
    contextual_fault("scores 2 % too near", "3 / (nearest", "fmpq(147, 50) / (nearest"),
    contextual_fault("scores 2 % too far", "3 / (nearest", "fmpq(153, 50) / (nearest"),
    contextual_fault("gaps left out of the sharpness", "3 / (nearest * least)", "3 / least", "near tokens"),
    contextual_fault("sizes left out of the sharpness", "3 / (nearest * least)", "3 / nearest", "a token near 0"),
    contextual_fault("the largest gap", "nearest = min(", "nearest = max(", "a token near 0"),
    contextual_fault("the least place without its sign", "min(map(abs, places))", "abs(places[0])"),
    contextual_fault("the largest place without its sign", "max(map(abs, places))", "places[0]", "near tokens"),
    contextual_fault("the shift 2 % too large", "epsilon / 4\n", "epsilon * 51 / 200\n"),
    contextual_fault("the shift not divided", "shift / largest\n", "shift\n"),
    contextual_fault("the spread of two tokens", "places[-1] - places[0]", "places[1] - places[0]", "near tokens"),
    contextual_fault("scores that ignore the attending token", "Affine(c * column)", "Affine(0 * column)"),
    contextual_fault("a causal head", "causal=False", "causal=True"),
    contextual_fault("hard attention", "causal=False", 'causal=False, weigh="hardmax"'),
    *(
        Fault(
            name,
            "lemma-17",
            test_contextual,
            "test_attention_is_a_contextual_mapping_on_extreme_families",
            contextual.ContextualMapping,
            "separation",
            _separation(factor, power),
            {"name": "both signs"},
        )
        for name, factor, power in (
            ("a bound 2 % too large", arb(51) / 25, 1),
            ("a bound with twice the exponent", 2, 2),
            ("a bound with 0.98 of the exponent", 2, arb(49) / 50),
        )
    ),
]


@pytest.mark.parametrize(
    "fault", [*FAULTS, *DIRECTION_FAULTS, *RISK_FAULTS, *BOUND_FAULTS, *GRID_FAULTS], ids=fault_name
)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "deep-icgd", monkeypatch)
    test_general_risk.amplitude_and_phase.cache_clear()
