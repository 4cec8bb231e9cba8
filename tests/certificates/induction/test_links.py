"""Specification, circuit and model: each link against all sequences."""

from itertools import product

import numpy as np
import pytest

from lemmata.certificates.induction.links import circuit_cells, judge_circuit, three_links
from lemmata.certificates.induction.trained import SEEDS, trained_head
from lemmata.constructions.induction.head import bayesian_ngram_head, ngram_head
from lemmata.numerics.exact.numbers import to_float
from tests.certificates.induction.test_losses import cell_numbers, differences
from tests.oracles.markov_chains import numpy_ngram

TRAINED = trained_head().model


@pytest.mark.parametrize("scales", [(24, 5), (64, 7)])
def test_every_output_of_the_circuit_lies_in_its_cell(scales):
    t = 7
    x = np.array(list(product([1, 2], repeat=t)))
    head = bayesian_ngram_head(2, 2, *map(float, scales))
    law = head(x)[:, -1]
    D = np.log(law[:, 1]) - np.log(law[:, 0])
    cells = circuit_cells(head, t)
    numbers = cell_numbers(cells, 2, x)
    assert np.array_equal(np.bincount(numbers, minlength=len(cells.count)), cells.count)
    assert np.all(cells.outputs[numbers, 0] - 1e-13 <= D)
    assert np.all(cells.outputs[numbers, 1] + 1e-13 >= D)
    assert np.max(cells.outputs[:, 1] - cells.outputs[:, 0]) < 0.5
    hard = to_float(bayesian_ngram_head(2, 2).hard()(x))[:, -1, 1]
    assert np.all(cells.outputs[numbers, 0] < np.log(hard / (1 - hard)))
    assert np.all(cells.outputs[numbers, 1] > np.log(hard / (1 - hard)))


def test_the_links_hold_on_all_sequences():
    t = 8
    x = np.array(list(product([1, 2], repeat=t)))
    links = three_links(TRAINED, t)
    counted = numpy_ngram(x, 2, 2)[:, -1, 1]
    head = bayesian_ngram_head(2, 2, *map(float, links.scales))
    circuit = head(x)[:, -1, 1]
    model = 1 / (1 + np.exp(-differences(TRAINED, x)))
    for pair, one, two in (
        (links.circuit.largest_distance, counted, circuit),
        (links.model.proved.largest_distance, counted, model),
        (links.largest_distance, circuit, model),
    ):
        largest = np.abs(one - two).max()
        assert pair[0] - 1e-12 <= largest <= pair[1] + 1e-12
    assert links.circuit.largest_distance[1] < 1e-3
    assert links.model.proved.largest_distance[0] > 0.1
    assert links.model.proved.gap[0] > links.circuit.gap[1]
    assert links.mean_distance[0] > 0.03
    assert links.specification[1][1] < links.specification[0][0]
    assert links.model.method == "sequences"


def test_the_compact_links_agree_with_those_of_all_sequences():
    exact, compact = three_links(TRAINED, 9), three_links(TRAINED, 9, enumerate_up_to=0)
    assert (exact.model.method, compact.model.method) == ("sequences", "classes")
    for name in ("mean_distance", "largest_distance"):
        inner, outer = getattr(exact, name), getattr(compact, name)
        assert outer[0] <= inner[0] <= inner[1] <= outer[1]
    assert exact.circuit == compact.circuit


def test_all_trained_heads_are_certified_at_a_length_that_nobody_enumerates():
    """2^32 sequences: every one of the five is proved to be better than half of the unigram line, 0.0946 nats."""
    for seed in SEEDS:
        links = three_links(trained_head(seed).model, 32, window=2)
        assert links.model.proved.loss[1] < 0.0946 / 2
        assert links.circuit.loss[1] < links.model.proved.loss[0]


@pytest.mark.parametrize(
    ("head", "t", "message"),
    [
        (ngram_head(2, 2, 9, 3), 5, "pseudo-counts 1, 1"),
        (bayesian_ngram_head(3, 2, 9, 3), 5, "n = 2"),
        (bayesian_ngram_head(2, 3, 9, 3), 5, "two symbols"),
        (bayesian_ngram_head(2, 2, 9, 3), 1, "2 to 62 symbols"),
        (bayesian_ngram_head(2, 2, 1, 1), 30, "choose larger scales"),
    ],
)
def test_other_circuits_are_refused(head, t, message):
    with pytest.raises(ValueError, match=message):
        judge_circuit(head, t)
