"""Counterexamples moved out of one printed hypothesis each: their record says which; the conclusion is still violated.

A record that asserts too little passes with such an object, and would let us call a statement false outside of its
hypotheses.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction as Q
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from lemmata.constructions.parity.two_layer import TwoLayerNetwork
from lemmata.numerics.groups.tables import symmetric
from lemmata.numerics.tokens.codes import PositionCodes
from lemmata.theorems.evidence import MARK
from lemmata.theorems.induction_heads.sequence_gradients import chain
from lemmata.theorems.ledger import load_ledger
from lemmata.theorems.records import Record, RecordError, Relation, decided, load_records
from tests.theorems.planted_faults import changed, given_otherwise, scaled

Change = Callable[[Any], Any]


@dataclass(frozen=True)
class Moved:
    """A counterexample to a statement, and how its object leaves a hypothesis.

    Attributes:
        statement: its id.
        check: the module, and as much of the name of the counterexample as tells it from all others there.
        leaves: the beginning of the hypothesis that no longer holds, as the record has it.
        given: parameters of the check, such as a weight, a size or a law.
        builder: a name in the module of the check that makes the object,
        other: and what stands in its place, made of the right one.
    """

    statement: str
    check: str
    leaves: str
    given: Mapping[str, Any] = field(default_factory=dict)
    builder: str = ""
    other: Change = lambda right: right


class Watched(Record):
    """A record that goes on where a hypothesis fails, and keeps which ones did."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.left: list[tuple[str, str]] = []

    def hypothesis(self, says: str, left: Any, relation: Relation, right: Any, *, of: str | None = None) -> None:
        if decided(left, relation, right):
            super().hypothesis(says, left, relation, right, of=of)
            return
        with pytest.raises(RecordError, match="leaves the hypothesis"):
            super().hypothesis(says, left, relation, right, of=of)
        self.left += [(one, says) for one in self._wanted(of, self.refutes)]

    def number(self, numeral: str, value: Any, **known: Any) -> None:
        """Another object has other numbers."""


ENTRIES = {one.id: one for one in load_ledger().statements()}
FOLDERS = {one.name: one.folder for one in load_ledger().chapters}


def with_settings(found: Mapping[str, Any], **other: Any) -> dict[str, Any]:
    """A committed result whose items say that they were run with other settings."""
    items = {key: {**item, "settings": {**item["settings"], **other}} for key, item in found["items"].items()}
    return {**found, "items": items}


def with_twice_the_biases(found: tuple[TwoLayerNetwork, np.ndarray]) -> tuple[TwoLayerNetwork, np.ndarray]:
    """A network with other biases, and the features that it had."""
    network, features = found
    return replace(network, bias=2 * network.bias), features


def uneven(tau: np.ndarray) -> np.ndarray:
    """Class weights of S_3, with the same sum, that differ within the last class."""
    last = symmetric(3).classes[-1]
    return tau + np.array([fmpq(int(g == last[0]) - int(g == last[-1]), 10) for g in range(6)])


MOVED = [
    # ---- deep-icgd
    Moved("deep-icgd:definition-4", "relu_sums two_norm", "[t; y; 1] in the cube", {"z": (2, -1, 1)}),
    Moved("deep-icgd:lemma-2", "layers printed_radius_of_lemma_2", "||x_i||_2^2 <= B_x^2", {"x": fmpq(3, 2)}),
    Moved("deep-icgd:lemma-9", "layers printed_radius_of_lemma_2", "||v_jk||_2^2 <= B_v^2", {"v": fmpq(5, 4)}),
    Moved("deep-icgd:lemma-3", "layers printed_radius_of_lemma_3", "|x_1| <= B_x", {"x": 12}),
    Moved("deep-icgd:lemma-10", "layers printed_radius_of_lemma_3", "|v_jk| <= B_v", {"v": 2}),
    Moved("deep-icgd:lemma-6", "error_recursion columns", "|g - u| <= eps_l", {"off": fmpq(1, 50)}),
    Moved("deep-icgd:lemma-13", "error_recursion columns", "||x_i||_2^2 <= B_x^2", {"entry": fmpq(3, 4)}),
    Moved("deep-icgd:lemma-14", "trajectory errors_grow", "eta <= L_f", {"eta": fmpq(20)}),
    Moved("deep-icgd:definition-13", "softmax identity", "all images are below r", builder="FAMILY",
          other=lambda family: [tuple(t + fmpq(1, 2) for t in tokens) for tokens in family]),
    Moved("deep-icgd:lemma-16", "softmax every_network", "f is permutation equivariant", builder="cut",
          other=lambda cut: lambda a, b: (cut(a, b)[0], 2 * cut(a, b)[1])),
    Moved("deep-icgd:lemma-18", "softmax every_network", "f is supported on the cube", builder="cut",
          other=lambda cut: lambda a, b: tuple(t + fmpq(1, 8) for t in cut(a, b))),
    Moved("deep-icgd:lemma-19", "score_matching nonnegative", "the law of x_t is N(0, 1)", {"law": 4}),
    # ---- feature-emergence
    Moved("feature-emergence:identity-7.1", "fourier_of_networks the_embedding", "p = 7 is a prime", {"p": 9}),
    Moved("feature-emergence:construction-D.6.2", "modular_addition wrong_labels", "p = 7 is a prime", {"p": 9}),
    Moved("feature-emergence:lemma-D.11", "group_neurons lemma_D11_misses", "S_3: tau is constant on classes",
          {"group": symmetric(3)}, "class_function",
          lambda f: changed(f, uneven)),
    Moved("feature-emergence:lemma-D.13", "group_neuron_bound printed_maximum", "S_3, times 3n: the norm constraint",
          {"group": symmetric(3)}, "rank_one_neuron", lambda f: changed(f, lambda parts: [2 * x for x in parts])),
    Moved("feature-emergence:remark-D.9-uniform", "group_neurons uniform_weights_on", "the uniform weights add up",
          {"weight": fmpq(1, 60)}),
    Moved("feature-emergence:experiment-D.2.1", "modular_addition_training the_power", "p = 11, a cosine without",
          {"p": 11}, "cosine", lambda f: changed(f, lambda x: x + fmpq(1, 10))),
    Moved("feature-emergence:experiment-D.2.2", "parity_experiment no_quadratic", "of which k = 4 count",
          builder="SUPPORT", other=lambda support: support[:3]),
    Moved("feature-emergence:theorem-D.9.2", "group_class_weights printed_normalisation_of", "the printed equations",
          builder="solve_unique", other=lambda f: changed(f, lambda x: x + np.array([1, -1]) * fmpq(1, 10))),
    Moved("feature-emergence:lemma-D.16", "group_networks printed_output", "S_3: all wrong labels have one output",
          builder="irreps_of", other=lambda f: changed(f, lambda found: found[:-1])),
    # ---- hidden-progress
    Moved("hidden-progress:lemma-B.1", "majority_gap with_the_printed", "k is odd", {"k": 42}),
    Moved("hidden-progress:equation-B.5", "majority_gap no_admissible", "k is even", {"k": 17}),
    Moved("hidden-progress:lemma-B.2", "majority_gap majority_has_no_gap", "n >= 4k", {"n": 11, "k": 3}),
    Moved("hidden-progress:lemma-B.4", "post_step_network the_printed_bound", "all biases are in (-1, 1)",
          {"k": 4, "ratio": fmpq(1)}, "_noise_free", lambda f: changed(f, with_twice_the_biases)),
    Moved("hidden-progress:claim-B.4.5", "post_step_network no_second", "all biases are in (-1, 1)", {"k": 4},
          "_noise_free", lambda f: changed(f, with_twice_the_biases)),
    Moved("hidden-progress:theorem-B.6", "convex_sgd without", "E[v_t | u_t] = F'(u_t)", {"gradients": (2, -1)}),
    Moved("hidden-progress:theorem-5.6", "kernels zero_one", "D R^2 < eps^2 C(n,k)", {"R": Q(1, 2)}),
    Moved("hidden-progress:lemma-B.8", "polynet_flow the_bound", "b >= 0", {"b": fmpq(-1, 2)}),
    Moved("hidden-progress:lemma-B.9", "polynet_error the_printed_upper", "prod v_i > 0, k = 1",
          {"k": 1, "m": 3, "v": fmpq(-299, 100), "error": fmpq(7, 8)}),
    Moved("hidden-progress:claim-B.12", "polynet_sgd the_printed_growth", "delta < 1",
          {"t": 10001, "delta": fmpq(3, 2)}),
    Moved("hidden-progress:construction-MLP-width-k", "parity_representations two_relus", "r >= k", {"width": 1}),
    Moved("hidden-progress:construction-layerwise", "layerwise last_width", "k <= 2^(L-1)", {"layers": 1}),
    Moved("hidden-progress:unnumbered-noisy-parity", "parities printed_noise", "eps <= 1/2", {"eps": Q(3, 4)}),
    Moved("hidden-progress:experiment-5.2", "experiments_architectures the_curves", "B = 128",
          builder="committed_results", other=lambda f: changed(f, lambda found: with_settings(found, batch=64))),
    Moved("hidden-progress:unnumbered-random-search", "experiments_architectures the_curves", "rate 0.01",
          builder="committed_results", other=lambda f: changed(f, lambda found: with_settings(found, rate=0.1))),
    # ---- turing
    Moved("turing:fact-covering", "covering the_printed_exponent", "the points lie in the ball", {"length": 2}),
    Moved("turing:corollary-A.1", "inverse_margins for_one", "no mistake on the n = 1000", {"learned": 999}),
    Moved("turing:lemma-2.3", "sample_size no_surrogate", "the 1-norms of theta_1", {"thetas": (2, -2)}),
    Moved("turing:definition-all-layer-margin", "margins a_correct", "F(x, theta) predicts", {"values": (-2, 1)}),
    # ---- induction-heads
    Moved("induction-heads:definition-P.5", "preliminaries printed_correlation", "the label is 1 or -1", {"label": 2}),
    Moved("induction-heads:lemma-E.1g", "second_step printed_second", "0 < a", {"P": chain("0/1", "3/4"), "t": 3}),
    Moved("induction-heads:est-bigram", "strategies printed_denominator", "the parameters of the prior are positive",
          {"prior": (0, 0)}),
    Moved("induction-heads:observation-8.4", "linear_regime unimportant", "W_Q is unimportant", {"seed": 0,
          "query": 50}),
    Moved("induction-heads:corollary-E.2", "symmetric_chains positions", "the margin 20", {"margin": 9}),
    Moved("induction-heads:figure-E.2", "figures printed_curve", "a context of 100 tokens", {"t": 50}),
    Moved("induction-heads:proposition-8.5", "two_steps second_rate", "two steps reach the bigram counts",
          builder="bigram_coefficient", other=lambda f: scaled(f, 0.5)),
    # ---- rnn-sgd
    Moved("rnn-sgd:example-2.1", "complexities the_printed_exponent", "the Taylor polynomial is within eps",
          builder="_degree", other=lambda f: changed(f, lambda degree: degree - 4)),
    Moved("rnn-sgd:footnote-2", "rectified_norm the_norm_is_not", "W is square", {"seed": 0}, "_matrix",
          lambda f: changed(f, lambda W: W[:, :-1])),
    Moved("rnn-sgd:definition-4.1", "linearisation the_printed_recursion", "the patterns D_l are those",
          builder="trace",
          other=lambda f: changed(f, lambda run: replace(run, active=1 - run.active))),
    Moved("rnn-sgd:lemma-5.1", "indicator the_printed_bound", "t = <w*, x*> is possible",
          {"hidden": 10**6, "t": fmpq(9, 10)}),
    Moved("rnn-sgd:lemma-5.2", "off_target no_function_meets", "m is above the 19th power", {"digits": 9000}),
    # ---- qstr
    Moved("qstr:theorem-4", "transformer_risks an_empirical", "assumption 3: the codes", {"second": (0.8, 0.6)}),
    Moved("qstr:proof-theorem-10-to-4", "transformer_risks an_empirical", "|vec Theta|^2", {"stretch": 2.0}),
    Moved("qstr:theorem-10", "transformer_risks the_scale", "q < N", {"further": 0}),
    Moved("qstr:lemma-20", "transformer_risks printed_truncation", "assumption 1, labels: E|y|^8",
          builder="norm_moment",
          other=lambda f: lambda size, order: f(size, order) * (40 if order == 8 else 1)),
    Moved("qstr:lemma-11", "attention the_norm_bound", "assumption 2, hidden", builder="ReluLink",
          other=lambda f: given_otherwise(f, lambda a, W, b: (a, 2 * W, b))),
    Moved("qstr:lemma-14", "transformer_covers the_number_of_heads", "all parameters of the readout", {"output": 2}),
    Moved("qstr:lemma-16", "transformer_covers no_cover", "|z|^2 of the encodings", {"stretch": 2}),
    Moved("qstr:proposition-17", "transformer_covers products", "|a| over A", {"readout": 2}),
    Moved("qstr:lemma-23", "recurrent_gates the_printed_norm", "assumption 3: correlations",
          builder="orthonormal_codes", other=lambda f: lambda n: PositionCodes(np.array([[5, 0], [4, 3]]), 25)),
    Moved("qstr:lemma-24", "recurrent_gates the_printed_number_of_units_for_copies", "|z| <= 1", {"z": fmpq(2)}),
    Moved("qstr:lemma-25", "recurrent_gates the_printed_number_of_units_for_gates", "|chi^omega| <= 1", {"chi": 2}),
    Moved("qstr:lemma-29", "recurrent_capacity the_norm_of", "the norm of the product", {"readouts": (1, 2)}),
    Moved("qstr:lemma-30", "recurrent_capacity the_radius", "the weights of the layers", {"largest": 2}),
    Moved("qstr:lemma-41", "packings no_constant", "the words, over Q, lie in the unit ball",
          builder="near_orthogonal_codes", other=lambda f: scaled(f, 2)),
    Moved("qstr:proposition-8", "recurrent_limits a_small", "the error, at every position", {"bits": 4}),
    Moved("qstr:proposition-35", "recurrent_limits a_small", "q < N", {"sparsity": 10**12}),
    Moved("qstr:definition-5", "feed_forward_limits rescaling", "the loss of (f(T, ./c), c W)", {"label": "3"}),
    Moved("qstr:construction-homogeneity", "recurrent_upper_class the_printed_second", "the state lies", {"h": Q(4)}),
    # ---- variable-creation
    Moved("variable-creation:definition-3.3a", "preliminaries the_printed_correlation", "the label is 1", {"y": 2}),
    Moved("variable-creation:notation-4.2", "linear_covers the_largest_column", "every token has", {"entry": 2}),
    Moved("variable-creation:lemma-4.7", "lipschitz largest_columns", "||phi_in(x)|| <= B_in", {"weight": 2}),
    Moved("variable-creation:lemma-4.10", "linear_covers the_printed_space", "||x^(1)|| <= B_X", {"point": fmpq(2)}),
    Moved("variable-creation:remark-4.5a", "identification distributions", "the masses", {"mass": fmpq(2)}),
    Moved("variable-creation:remark-4.5b", "selection keys_of_a_line", "the two keys lie", {"second": (2, 1)}),
    Moved("variable-creation:corollary-A.3", "finite_classes two_constants", "|f| <= A", {"size": 2}),
    Moved("variable-creation:lemma-A.5", "finite_classes two_constants", "the loss f -> (f + 1)/2", {"losses": (0, 3)}),
    Moved("variable-creation:theorem-A.4", "finite_classes a_fair_coin", "the loss of the coin", {"losses": (0, 2)}),
    Moved("variable-creation:lemma-A.8", "linear_covers without_positivity", "the budget is spent", {"first": fmpq(3)}),
    Moved("variable-creation:lemma-A.15", "lipschitz tokens_outside", "||W_C||_2 <= B_C", {"mixing": 2}),
    Moved("variable-creation:setup-A.2.1a", "sparse_functions other_vectors", "Pi is a permutation", {"Pi": (1, 0, 0)}),
    Moved("variable-creation:lemma-A.21a", "selection no_head_reads", "s Delta < gamma", {"gamma": fmpq(3, 5)}),
    Moved("variable-creation:lemma-A.25", "memorising no_network", "||x_1 - x_2||", {"left": -1}),
    # ---- pareto-frontiers
    Moved("pareto-frontiers:assumption-6.2", "lower_bound the_printed_assumption_hides", "r T/(tau^2 delta)",
          {"tau": 0.1}),
    Moved("pareto-frontiers:definition-algorithm", "parity_learning the_printed_grid", "s < n", {"s": 9}),
    Moved("pareto-frontiers:lemma-C.4", "good_neurons the_printed_bound", "the neuron is bad", {"first": 0}),
    Moved("pareto-frontiers:theorem-C.11", "over_sparse_theorem no_read_out", "eps < 1/2", {"s": 401, "eps": Q(3, 5)}),
    Moved("pareto-frontiers:claim-C.9-1234", "second_layer the_loss_exceeds", "L_D of w* is at most eps",
          {"rare": Q(1, 2)}),
    Moved("pareto-frontiers:lemma-C.9", "second_layer the_printed_number", "T/log T >=", {"T": 300_000}),
    Moved("pareto-frontiers:lemma-C.10", "good_initializations the_printed_number", "4k < s",
          {"size": (40, 4, 16), "limit": 0.0, "expected": 0.0}),
    Moved("pareto-frontiers:definition-init-under", "under_sparse_gradients the_printed_bound", "epsilon < 1/C(n-s,k)",
          {"epsilon": fmpq(2)}),
    Moved("pareto-frontiers:theorem-C.16", "under_sparse_step the_gap", "epsilon < 1/(n-s)", {"epsilon": fmpq(1, 4)}),
]  # fmt: skip


@pytest.mark.parametrize("moved", MOVED, ids=lambda moved: moved.statement)
def test_a_record_says_which_hypothesis_is_left(moved: Moved, monkeypatch: pytest.MonkeyPatch) -> None:
    chapter = moved.statement.partition(":")[0].replace("-", "_")
    place, begin = moved.check.split()
    module = import_module(f"lemmata.theorems.{chapter}.test_{place}")
    (name,) = (name for name in vars(module) if name.startswith(f"test_{begin}"))
    function = getattr(module, name)
    marks = [mark.args[0] for mark in function.pytestmark if mark.name == MARK]
    refutes = tuple(one.statement for one in marks if one.kind == "counterexample" and not one.supporting)
    assert moved.statement in refutes
    if moved.builder:
        monkeypatch.setattr(module, moved.builder, moved.other(getattr(module, moved.builder)))
    record = Watched(name, {one.statement: ENTRIES[one.statement] for one in marks}, refutes)
    with contextlib.suppress(AssertionError, pytest.fail.Exception):  # what it asserts beside its record may see it too
        function(record=record, **moved.given)
    (left,) = {says for one, says in record.left if one == moved.statement}
    assert left.startswith(moved.leaves)
    found = record.facts[moved.statement]
    held = Counter([left] + [says for says, *_ in found["hypotheses"]])
    still = Counter(says for says, *_ in found["violated"])
    committed = [
        one
        for one in load_records(FOLDERS[chapter])[moved.statement]
        if one["test"].partition("[")[0].endswith(f"::{name}")
    ]
    assert (held, still) in [
        tuple(Counter(says for says, *_ in one[kind]) for kind in ("hypotheses", "violated")) for one in committed
    ]
