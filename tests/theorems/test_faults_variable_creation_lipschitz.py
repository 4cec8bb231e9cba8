"""Faults planted in the library: the checks of softmax, of attention layers and of chapter 3 have to see them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest
from flint import arb, fmpq

import lemmata.certificates.capacity.blocks as block_errors
import lemmata.certificates.capacity.lipschitz as audits
import lemmata.constructions.circuits.arithmetic as circuits
import lemmata.constructions.circuits.training as training
import lemmata.constructions.networks.head as heads
import lemmata.constructions.networks.projection as projections
import lemmata.numerics.learning.attention_lipschitz as formulas
from lemmata.theorems.plugin import Effort
from lemmata.theorems.variable_creation import test_lipschitz, test_preliminaries
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

LARGER, SMALLER = fmpq(51, 50), fmpq(49, 50)


def scaled(owner: Any, name: str, factor: Any) -> tuple[Any, str, Callable[..., Any]]:
    """A function whose result is a few per cent too large or too small."""
    original = getattr(owner, name)
    return owner, name, lambda *given, **known: original(*given, **known) * factor


def softmax_with(change: Callable[[list[arb]], list[arb]]) -> tuple[Any, str, Callable[..., Any]]:
    original = heads._ball_softmax
    return heads, "_ball_softmax", lambda row: change(original(row))


def sharpened(factor: Any) -> tuple[Any, str, Callable[..., Any]]:
    """A softmax of another temperature."""
    original = heads._ball_softmax
    return heads, "_ball_softmax", lambda row: original([x * factor for x in row])


def constants_with(**changes: Callable[[arb, arb, arb, arb], arb]) -> tuple[Any, str, Callable[..., Any]]:
    """`input_constants` with some of its formulas replaced, in ||A||, beta, kappa and the root."""

    def faulty(value: Any, score: Any, radius: Any = 1, offset: Any = 0) -> Any:
        A, M, r, c = formulas._norms(value=value, score=score, radius=radius, offset=offset)
        beta, kappa = r * r * M, r * c
        root = (1 + (beta + kappa) * (beta + kappa)).sqrt()
        right = {
            "printed": A * (1 + 4 * beta + 2 * kappa),
            "halved": A * (1 + 2 * beta + kappa),
            "sharp": A * (beta + root),
        }
        return formulas.InputConstants(**right | {k: f(A, beta, kappa, root) for k, f in changes.items()})

    return test_lipschitz, "input_constants", faulty


def of_audits(plant: tuple[Any, str, Callable[..., Any]]) -> tuple[Any, str, Callable[..., Any]]:
    """The same fault where the audit takes the function from."""
    return audits, plant[1], plant[2]


def of_checks(plant: tuple[Any, str, Callable[..., Any]]) -> tuple[Any, str, Callable[..., Any]]:
    """The same fault where the check takes the function from."""
    return test_lipschitz, plant[1], plant[2]


def head_change_with(formula: Callable[..., Any]) -> tuple[Any, str, Callable[..., Any]]:
    return (
        test_lipschitz,
        "head_change",
        lambda *given: formula(*formulas._norms(**dict(zip("abcdef", given, strict=True)))),
    )


def block_error_with(formula: Callable[..., Any], owner: Any = test_lipschitz) -> tuple[Any, str, Callable[..., Any]]:
    """`block_error` with another formula in L, C, V, b, e, the three changes, the constant and the factor."""

    def faulty(
        slope: Any, mixing: Any, value: Any, score: Any, before: Any, changes: Any, *, printed: bool = False
    ) -> arb:
        L, C, V, b, e = (
            arb(x) if isinstance(x, fmpq) else formulas.as_balls([x])[0] for x in (slope, mixing, value, score, before)
        )
        x, y, z = formulas.as_balls(list(changes)).tolist()
        K = 1 + 4 * b if printed else b + (1 + b * b).sqrt()
        return formula(L, C, V, K, e, x, y, z, 2 if printed else 1)

    return owner, "block_error", faulty


def projection_of_radius(radius: fmpq) -> tuple[Any, str, Callable[..., Any]]:
    original = projections._exact_projection
    return projections, "_exact_projection", lambda token, r: original(token, r * radius)


def onto_a_smaller_sphere(token: Any, radius: Any) -> Any:
    """What lies outside goes to the sphere of radius 49/50, the rest stays."""
    right = _PROJECT(token, radius)
    return right if all(a == b for a, b in zip(right, token, strict=True)) else right * SMALLER


_PROJECT = projections._exact_projection


def hidden_with(change: Callable[..., Any]) -> tuple[Any, str, Callable[..., Any]]:
    original = block_errors.AttentionBlock.hidden
    return block_errors.AttentionBlock, "hidden", lambda block, g: change(original(block, g), block, g)


def fault(
    statement: str,
    name: str,
    check: str,
    plant: tuple[Any, str, Callable[..., Any]],
    module: ModuleType = test_lipschitz,
    **arguments: Any,
) -> Fault:
    return Fault(name, statement, module, check, *plant, arguments)


_SCORE: Callable[..., Any] = block_errors.AttentionBlock.score.fget  # type: ignore[attr-defined]
JACOBIANS = "test_maps_move_by_no_more_than_their_jacobians"
NORMS = "test_norms_of_matrices_by_hand"
DERIVATIVES = "test_the_jacobian_of_softmax"
DISTANCES = "test_softmaxes_are_as_close_as_their_scores"
ATTAINED = "test_the_bound_of_softmax_is_attained"
REGULAR = "test_softmax_is_regular_with_the_constant_two"
HEADS = "test_heads_with_other_scores_and_values"
WEIGHTS = "test_the_constant_of_the_scores_is_sharp"
TOKENS = "test_the_constant_of_the_tokens_is_sharp"
ORDERED = "test_constants_are_ordered"
BLOCKS = "test_errors_behind_blocks"
EQUAL = "test_errors_behind_hidden_layers"
READOUTS = "test_errors_of_readouts"


def without_diagonal(weights: Any) -> Any:
    p = formulas.np.asarray(weights)
    return -formulas.np.multiply.outer(p, p)


def halved_oscillation(change: Any) -> arb:
    entries = formulas.as_balls(formulas.np.asarray(change)).tolist()
    return 2 * (formulas.ball_max(entries) / 2).tanh()


one = fmpq(1)

FAULTS = [
    # lemma A.6
    fault(
        "lemma-A.6",
        "entries without signs",
        NORMS,
        (test_lipschitz, "entry_sum", lambda J: sum(formulas.np.asarray(J).ravel().tolist())),
    ),
    fault("lemma-A.6", "entry sums too small", JACOBIANS, of_checks(scaled(formulas, "entry_sum", SMALLER))),
    fault("lemma-A.6", "signs too small", JACOBIANS, of_checks(scaled(formulas, "infinity_to_one", SMALLER))),
    fault("lemma-A.6", "signs too large", NORMS, of_checks(scaled(formulas, "infinity_to_one", LARGER))),
    fault(
        "lemma-A.6",
        "a Jacobian without its diagonal",
        JACOBIANS,
        (test_lipschitz, "softmax_jacobian", without_diagonal),
    ),
    # corollary A.7
    fault(
        "corollary-A.7",
        "a Jacobian without its diagonal",
        DERIVATIVES,
        (test_lipschitz, "softmax_jacobian", without_diagonal),
    ),
    fault("corollary-A.7", "a distance too small", ATTAINED, of_checks(scaled(formulas, "softmax_distance", SMALLER))),
    fault("corollary-A.7", "a distance too large", ATTAINED, of_checks(scaled(formulas, "softmax_distance", LARGER))),
    fault(
        "corollary-A.7", "the largest change alone", DISTANCES, (test_lipschitz, "softmax_distance", halved_oscillation)
    ),
    fault("corollary-A.7", "a softmax that is too sharp", DISTANCES, sharpened(LARGER)),
    fault("corollary-A.7", "a softmax that is too flat", ATTAINED, sharpened(SMALLER)),
    # lemma A.9
    fault("lemma-A.9", "a larger ball", "test_projections_are_the_nearest_points", projection_of_radius(LARGER)),
    fault("lemma-A.9", "a smaller ball", "test_projections_are_the_nearest_points", projection_of_radius(SMALLER)),
    fault(
        "lemma-A.9",
        "a jump at the sphere",
        "test_projections_do_not_expand",
        (projections, "_exact_projection", onto_a_smaller_sphere),
    ),
    fault(
        "lemma-A.9",
        "no projection",
        "test_projections_are_the_nearest_points",
        (projections, "_exact_projection", lambda token, _: token),
    ),
    # assumption 4.5
    fault(
        "assumption-4.5", "weights that do not add up", REGULAR, softmax_with(lambda p: [x * arb(LARGER) for x in p])
    ),
    fault("assumption-4.5", "entry sums too large", REGULAR, of_checks(scaled(formulas, "entry_sum", LARGER))),
    fault("assumption-4.5", "entry sums too small", REGULAR, of_checks(scaled(formulas, "entry_sum", SMALLER))),
    fault(
        "assumption-4.5",
        "an operator norm too small",
        REGULAR,
        (test_lipschitz, "operator_norm", lambda W: audits.operator_norm(W) * fmpq(1, 2)),
    ),
    # lemma 4.7
    fault("lemma-4.7", "no radius", HEADS, head_change_with(lambda C, L, B, r, D, V: C * L * B * D + L * V)),
    fault("lemma-4.7", "no change of the values", HEADS, head_change_with(lambda C, L, B, r, D, V: C * L * B * r * D)),
    fault(
        "lemma-4.7",
        "values without the output map",
        HEADS,
        head_change_with(lambda C, L, B, r, D, V: C * L * B * r * D + V),
    ),
    fault("lemma-4.7", "a bound too large", HEADS, of_checks(scaled(formulas, "head_change", LARGER))),
    fault("lemma-4.7", "a softmax that is too sharp", HEADS, sharpened(LARGER)),
    # lemma A.13
    fault("lemma-A.13", "a bound too small", WEIGHTS, of_checks(scaled(formulas, "head_change", SMALLER))),
    fault("lemma-A.13", "a bound too large", WEIGHTS, of_checks(scaled(formulas, "head_change", LARGER))),
    fault(
        "lemma-A.13",
        "half of the scores",
        WEIGHTS,
        head_change_with(lambda C, L, B, r, D, V: C * L * B * r * D / 2 + L * V),
    ),
    fault(
        "lemma-A.13", "an audit that is too sharp", WEIGHTS, of_audits(scaled(formulas, "softmax_distance", SMALLER))
    ),
    fault("lemma-A.13", "a softmax that is too sharp", WEIGHTS, sharpened(LARGER)),
    # lemma A.14
    fault(
        "lemma-A.14",
        "a constant too small",
        TOKENS,
        constants_with(sharp=lambda A, b, k, root: A * (b + root) * SMALLER),
        b=one,
    ),
    fault(
        "lemma-A.14",
        "a constant too large",
        TOKENS,
        constants_with(sharp=lambda A, b, k, root: A * (b + root) * LARGER),
        b=one,
    ),
    fault("lemma-A.14", "no second score term", TOKENS, constants_with(sharp=lambda A, b, k, root: A * root), b=one),
    fault("lemma-A.14", "no first score term", TOKENS, constants_with(sharp=lambda A, b, k, root: A * (1 + b)), b=one),
    fault(
        "lemma-A.14",
        "a bias that is dropped",
        ORDERED,
        constants_with(sharp=lambda A, b, k, root: A * (b + (1 + b * b).sqrt())),
    ),
    fault(
        "lemma-A.14",
        "a printed constant of 3",
        ORDERED,
        constants_with(printed=lambda A, b, k, root: A * (1 + 3 * b + 2 * k)),
    ),
    fault(
        "lemma-A.14",
        "a halved constant too large",
        ORDERED,
        constants_with(halved=lambda A, b, k, root: A * (1 + 2 * b + k) * LARGER),
    ),
    fault("lemma-A.14", "a softmax that is too sharp", TOKENS, sharpened(fmpq(11, 10)), b=one),
    # lemma A.15
    fault(
        "lemma-A.15",
        "no error from below",
        BLOCKS,
        block_error_with(lambda L, C, V, K, e, x, y, z, f: x + L * C * (f * V * y + z)),
    ),
    fault(
        "lemma-A.15",
        "no slope",
        BLOCKS,
        block_error_with(lambda L, C, V, K, e, x, y, z, f: x + C * (V * K * e + f * V * y + z)),
    ),
    fault(
        "lemma-A.15",
        "a factor of the values",
        EQUAL,
        block_error_with(lambda L, C, V, K, e, x, y, z, f: x + L * C * (V * K * e + f * V * y + V * z), block_errors),
    ),
    fault(
        "lemma-A.15",
        "no change of the mixing",
        EQUAL,
        block_error_with(lambda L, C, V, K, e, x, y, z, f: L * C * (V * K * e + f * V * y + z), block_errors),
    ),
    fault(
        "lemma-A.15",
        "values at the first network",
        BLOCKS,
        (
            test_lipschitz,
            "block_errors",
            rewritten(
                block_errors.block_errors,
                "largest_row_norm(matrix_product(other_g, v",
                "largest_row_norm(matrix_product(g, v",
            ),
        ),
    ),
    fault("lemma-A.15", "a bound too large", BLOCKS, of_checks(scaled(formulas, "block_error", LARGER))),
    fault("lemma-A.15", "a mixing matrix twice", EQUAL, hidden_with(lambda rows, block, g: rows * 2)),
    fault(
        "lemma-A.15",
        "scores that are transposed",
        BLOCKS,
        (block_errors.AttentionBlock, "score", property(lambda block: _SCORE(block).T)),
    ),
    # lemma A.16
    fault(
        "lemma-A.16",
        "no change of the read-out",
        READOUTS,
        (test_lipschitz, "readout_error", lambda w, e, moved: arb(w) * e),
    ),
    fault(
        "lemma-A.16",
        "a bound too small",
        READOUTS,
        (block_errors, "readout_error", scaled(formulas, "readout_error", SMALLER)[2]),
    ),
    fault(
        "lemma-A.16",
        "a bound too large",
        READOUTS,
        (block_errors, "readout_error", scaled(formulas, "readout_error", LARGER)[2]),
    ),
    fault(
        "lemma-A.16",
        "the change at the first outputs",
        READOUTS,
        (
            block_errors,
            "_dot",
            lambda a, b: sum((x * y for x, y in zip(a.tolist()[:2], b.tolist()[:2], strict=True)), start=arb(0)),
        ),
    ),
]


# ---- chapter 3


def of_preliminaries(
    statement: str, name: str, check: str, plant: tuple[Any, str, Callable[..., Any]], **known: Any
) -> Fault:
    return fault(statement, name, check, plant, test_preliminaries, **known)


def gate_with(operation: str, function: Callable[[Any], Any]) -> tuple[Any, str, Any]:
    """A unary gate that computes another function."""
    derivative = circuits.UNARY[operation].derivative
    return circuits, "UNARY", dict(circuits.UNARY) | {operation: circuits.Unary(function, derivative)}


def derivative_with(operation: str, derivative: str) -> tuple[Any, str, Any]:
    return (
        circuits,
        "UNARY",
        dict(circuits.UNARY) | {operation: circuits.Unary(circuits.UNARY[operation].function, derivative)},
    )


def next_bit(z: Any) -> Any:
    """The bit of the table above the right one."""
    number = int(z)
    v = (number & -number).bit_length() - 1
    return number >> (2 * v + 2) & 1


def reversed_points(d: int) -> Any:
    """The universal circuit with the constants of its bits in the opposite order."""
    right = _UNIVERSAL(d)
    return circuits.Circuit(right.inputs, right.gates, right.outputs, (1, *right.constants[:0:-1]))


def longer_gradient(circuit: Any) -> Any:
    """A gradient with gates that nothing needs, as many as the circuit has."""
    right = _GRADIENT(circuit)
    spare = tuple(circuits.Gate("+", (0, 0)) for _ in circuit.gates)
    return circuits.Circuit(right.inputs, right.gates + spare, right.outputs, right.constants)


def gradient_with_a_sum_for_a_product(circuit: Any) -> Any:
    """The last product that the gradient adds is a sum."""
    right = _GRADIENT(circuit)
    places = [i for i, gate in enumerate(right.gates) if gate.operation == "*" and i >= circuit.size]
    if not places:
        return right
    gates = list(right.gates)
    gates[places[-1]] = circuits.Gate("+", gates[places[-1]].operands)
    return circuits.Circuit(right.inputs, tuple(gates), right.outputs, right.constants)


_UNIVERSAL, _GRADIENT, _TOTAL, _MEAN = (
    circuits.universal_circuit,
    circuits.gradient,
    training._total,
    training._mean_gradient,
)
_ATTENTION, _RECURRENT = test_preliminaries.attention_circuit, test_preliminaries.recurrent_circuit
_ACCURACY, _ENCODE, _DISCRETIZE = test_preliminaries.accuracy, test_preliminaries.encode, test_preliminaries.discretize


def loss_with(name: str, **changes: Any) -> tuple[Any, str, Any]:
    """The losses with another value or slope of one."""
    right = test_preliminaries.LOSSES
    values = {"value": right[name].value, "slope": right[name].slope} | changes
    return test_preliminaries, "LOSSES", right | {name: type(right[name])(**values)}


def descent_with(change: Callable[..., Any]) -> tuple[Any, str, Callable[..., Any]]:
    original = training.descend
    return (
        test_preliminaries,
        "descend",
        lambda c, theta, batches, rates, loss, penalty=None: change(
            original, c, theta, list(batches), list(rates), loss, penalty
        ),
    )


def keys_for_queries(T: int, d: int, k: int, e: int) -> Any:
    """The attention circuit with W_Q and W_K exchanged."""
    right, place = _ATTENTION(T, d, k, e), list(range(T * d + 2 * d * k))
    place = [*place[: T * d], *place[T * d + d * k :], *place[T * d : T * d + d * k]]
    moved = [tuple(place[i] if i < len(place) else i for i in gate.operands) for gate in right.gates]
    gates = tuple(circuits.Gate(gate.operation, operands) for gate, operands in zip(right.gates, moved, strict=True))
    return circuits.Circuit(right.inputs, gates, right.outputs)


def with_a_step(T: int, d: int, m: int) -> Any:
    """The recurrent circuit with a step in place of its first ReLU."""
    right = _RECURRENT(T, d, m)
    first = next(i for i, gate in enumerate(right.gates) if gate.operation == "relu")
    gates = list(right.gates)
    gates[first] = circuits.Gate("step", gates[first].operands)
    return circuits.Circuit(right.inputs, tuple(gates), right.outputs)


def first_again(examples: Any, size: int, share: Any) -> Any:
    """Batches of which each begins with the very first example."""
    batches = training.chunks(examples, size, share)
    return [[batches[0][0], *batch[1:]] for batch in batches]


ACCURACY = "test_accuracies_are_probabilities_and_samples_estimate_them"
ATTENTION = "test_attention_is_a_circuit_of_sums_products_exponentials_and_one_inverse"
RECURRENT = "test_recurrent_networks_are_circuits_once_they_are_unrolled"
TABLES = "test_one_gate_and_one_parameter_compute_all_functions_of_bits"
GRADIENTS = "test_gradients_cost_at_most_four_times_the_circuit"
PERCEPTRONS = "test_two_layer_perceptrons_as_circuits_and_as_layers"
CODES = "test_codes_of_words_and_labels_of_outputs"
LOSS = "test_losses_and_their_slopes"
DESCENT = "test_descent_on_every_loss_leads_to_the_label"
UNBIASED = "test_batch_gradients_are_unbiased"
ITERATES = "test_iterates_of_descent"
QUICK = {"effort": Effort("quick")}
SIZES = {"d_in": 2, "d_hidden": 3}

FAULTS += [
    # definition 3.0
    of_preliminaries(
        "definition-3.0",
        "right and wrong exchanged",
        ACCURACY,
        (test_preliminaries, "accuracy", lambda h, y, p: _ACCURACY(h, y, p)[::-1]),
    ),
    of_preliminaries(
        "definition-3.0",
        "points counted alike",
        ACCURACY,
        (test_preliminaries, "accuracy", lambda h, y, p: _ACCURACY(h, y, [fmpq(1, len(p))] * len(p))),
    ),
    # definition 3.1a
    of_preliminaries(
        "definition-3.1a", "an inverse that is too large", ATTENTION, gate_with("inverse", lambda z: LARGER / z), seed=5
    ),
    of_preliminaries(
        "definition-3.1a",
        "exponentials to base e^(51/50)",
        ATTENTION,
        gate_with("exp", lambda z: (z * LARGER).exp()),
        seed=5,
    ),
    of_preliminaries(
        "definition-3.1a", "an inverse with another slope", ATTENTION, derivative_with("inverse", "square"), seed=5
    ),
    of_preliminaries(
        "definition-3.1a",
        "keys for queries",
        ATTENTION,
        (test_preliminaries, "attention_circuit", keys_for_queries),
        seed=5,
    ),
    of_preliminaries("definition-3.1a", "sizes for ReLUs", RECURRENT, gate_with("relu", abs), seed=3),
    of_preliminaries(
        "definition-3.1a",
        "a step for the first ReLU",
        RECURRENT,
        (test_preliminaries, "recurrent_circuit", with_a_step),
        seed=3,
    ),
    # remark 3.1b
    of_preliminaries("remark-3.1b", "the next bit", TABLES, gate_with("table", next_bit)),
    of_preliminaries(
        "remark-3.1b",
        "the lowest bit of the odd part",
        TABLES,
        gate_with("table", lambda z: int(z) // (int(z) & -int(z)) >> 1 & 1),
    ),
    of_preliminaries(
        "remark-3.1b",
        "places in the opposite order",
        TABLES,
        (test_preliminaries, "universal_circuit", reversed_points),
    ),
    # fact 3.1c
    of_preliminaries(
        "fact-3.1c", "a square with itself as its slope", GRADIENTS, derivative_with("square", "square"), **QUICK
    ),
    of_preliminaries(
        "fact-3.1c",
        "a gradient that is too long",
        GRADIENTS,
        (test_preliminaries, "gradient", longer_gradient),
        **QUICK,
    ),
    of_preliminaries(
        "fact-3.1c",
        "a sum for a product",
        GRADIENTS,
        (test_preliminaries, "gradient", gradient_with_a_sum_for_a_product),
        **QUICK,
    ),
    # definition 3.1d
    of_preliminaries("definition-3.1d", "sizes for ReLUs", PERCEPTRONS, gate_with("relu", abs), **SIZES),
    of_preliminaries(
        "definition-3.1d", "leaking ReLUs", PERCEPTRONS, gate_with("relu", lambda z: z if z > 0 else z / 50), **SIZES
    ),
    of_preliminaries(
        "definition-3.1d",
        "a neuron too few",
        PERCEPTRONS,
        (
            test_preliminaries,
            "two_layer_mlp",
            lambda d, n, activation="relu": circuits.two_layer_mlp(d, n - 1, activation),
        ),
        **SIZES,
    ),
    # definition 3.2
    of_preliminaries(
        "definition-3.2",
        "signs exchanged",
        CODES,
        (test_preliminaries, "encode", lambda x, size: -_ENCODE(x, size) if size == 2 else _ENCODE(x, size)),
    ),
    of_preliminaries(
        "definition-3.2",
        "blocks in the opposite order",
        CODES,
        (test_preliminaries, "encode", lambda x, size: _ENCODE(x, size)[..., ::-1]),
    ),
    of_preliminaries(
        "definition-3.2",
        "the smallest output",
        CODES,
        (test_preliminaries, "discretize", lambda f, n: _DISCRETIZE(-test_preliminaries.np.asarray(f), n)),
    ),
    # definition 3.3a
    *(
        of_preliminaries("definition-3.3a", name, LOSS, plant, y=y)
        for y in (1, -1)
        for name, plant in {
            f"the printed correlation, label {y}": loss_with("correlation", value=lambda y, f: y * f),
            f"half the slope of the square loss, label {y}": loss_with("square", slope=lambda y, f: f - y),
            f"a hinge at 49/50, label {y}": loss_with("hinge", value=lambda y, f: max(0 * f, Fraction(49, 50) - y * f)),
            f"a logistic loss of the other label, label {y}": loss_with(
                "cross_entropy", value=lambda y, f: (1 + (y * f).exp()).log()
            ),
        }.items()
    ),
    of_preliminaries(
        "definition-3.3a", "the printed correlation", DESCENT, loss_with("correlation", slope=lambda y, f: y), y=1
    ),
    # definition 3.3b
    of_preliminaries(
        "definition-3.3b",
        "rates one step late",
        ITERATES,
        descent_with(lambda run, c, t, b, rates, loss, p: run(c, t, b, [*rates[1:], rates[0]], loss, p)),
    ),
    of_preliminaries(
        "definition-3.3b",
        "no penalty",
        ITERATES,
        descent_with(lambda run, c, t, b, rates, loss, p: run(c, t, b, rates, loss)),
    ),
    of_preliminaries(
        "definition-3.3b",
        "steps too large",
        ITERATES,
        descent_with(lambda run, c, t, b, rates, loss, p: run(c, t, b, [Fraction(51, 50) * r for r in rates], loss, p)),
    ),
    of_preliminaries(
        "definition-3.3b",
        "sums for means",
        UNBIASED,
        (training, "_total", lambda terms: _TOTAL([term * Fraction(51, 50) for term in terms])),
    ),
    of_preliminaries(
        "definition-3.3b",
        "the first example alone",
        UNBIASED,
        (training, "_mean_gradient", lambda c, g, t, batch, loss: _MEAN(c, g, t, [(*batch[0][:2], 1)], loss)),
    ),
    of_preliminaries(
        "definition-3.3b",
        "batches that begin with the first example",
        "test_one_pass_is_online_and_a_second_pass_is_not",
        (test_preliminaries, "chunks", first_again),
    ),
]


@pytest.mark.parametrize("planted", FAULTS, ids=fault_name)
def test_faults_are_seen(planted: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(planted, "variable-creation", monkeypatch)
