"""The proof that a network of one attention layer and a perceptron is a given sparse function, on all strings at once.

For each word a of symbols at the positions I that the function reads, and all symbols elsewhere:

1. *Heads.* The class token has fixed scores z_t(c) and values y_t(c) for every token and symbol. With

       D = sum of e^z over I and the class token,  N = the same sum of e^z y,  M = sum over t off I of max_c e^(z_t(c)),

   the output of a head is (N + sum off I of e^z y)/(D + sum off I of e^z). The tokens off I have together a share m of
   at most M/(D + M) of the attention, so that the output is N/D + m (y' - N/D) with y' between the least and the
   largest value off I. Balls enclose this, and it has to lie within delta of the node of a, in every coordinate.
2. *Perceptron.* On the cube of radius delta around the node its second layer is constant, by the exact ranges of
   `lemmata.certificates.sparse.boxes`, and so its output is one rational number, which has to be f(a).

The scores and values are exact rational numbers, taken from the weights of the network and not from how it was built:
inner products of the tokens with W_K W_Q^T v_CLS and W_V W_C. Tokens with equal scores are counted and not listed, so
that a million of them cost no more than their inner products. For symmetric functions whose positions have equal scores
and values, one word for each number of ones is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmata.certificates.sparse.boxes import output_range
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.sparse.compiler import SparseNetwork, nodes
from lemmata.constructions.sparse.inputs import TokenProducts
from lemmata.numerics.exact.balls import as_balls, ball_max, ball_min
from lemmata.numerics.exact.cyclotomic.numbers import exact_matmul
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.precision import precision
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.smooth import upper_rational

__all__ = ["SparseCertificate", "SparseNetworkError", "certify_sparse", "hidden_on_cubes"]


class SparseNetworkError(ValueError):
    """The network is not proved to be its function; the message says at which word, and which step failed."""


@dataclass(frozen=True, eq=False)
class SparseCertificate:
    """The proof that a network is its function on all M^T strings.

    Attributes:
        network: what was certified.
        words: symbols at I that were treated, shape (n, s); one for each number of ones if the tokens of I are alike.
        error: a proved bound of the distance of the heads from the node, for all strings, at most ``radius``.
        radius: delta = gamma/4.
        off_mass: a proved bound of the share of attention off I and the class token, for all strings.
        hidden: the second layer of the perceptron on the cube of each word, exact and constant there, shape (n, 2 n').
    """

    network: SparseNetwork
    words: NDArray[np.int64]
    error: fmpq
    radius: fmpq
    off_mass: fmpq
    hidden: Array

    @cached_property
    def values(self) -> Array:
        """The output of the network at each word, exact, shape (n,)."""
        last = self.network.perceptron.layers[-1]
        return exact_matmul(self.hidden, as_exact(last.weight))[:, 0] + as_exact(last.offset)[0]

    def of_function(self, values: Array) -> SparseCertificate:
        """The certificate for other values on the same positions: the attention and the hidden layers are the same.

        Raises:
            ValueError: for another number of values.
            SparseNetworkError: if the last layer does not give the values.
        """
        result = replace(self, network=self.network.with_values(values))
        result.require_values()
        return result

    def require_values(self) -> None:
        """SparseNetworkError unless the outputs are the values of the function."""
        function = self.network.function
        for word, value in zip(self.words, self.values, strict=True):
            if value != function.at(word):
                raise SparseNetworkError(
                    f"At the symbols {word.tolist()} the network gives {value}, but the function {function.at(word)}."
                )


def certify_sparse(network: SparseNetwork, bits: int = 128) -> SparseCertificate:
    """The proof that the network is its function on all strings, of any length; see the module.

    Args:
        network: with exact weights.
        bits: the precision of the balls.

    Raises:
        SparseNetworkError: if a head may leave the cube of its node, or an output is not the value of the function.
        ValueError: for weights that are not exact, or heads of another form.
    """
    if network.arithmetic != "exact":
        raise ValueError("Only a network with exact weights can be certified: certify it before its conversion.")
    function = network.function
    with precision(bits):
        heads = [_HeadBounds(network, head) for head in network.attention.heads]
        alike = function.symmetric and all(head.alike for head in heads)
        words = _counts(function.sparsity) if alike else function.words()
        points = nodes(function, network.inputs.name)
        centres = points[words.sum(axis=1)] if function.symmetric else points
        radius = network.gamma / 4
        error, mass = arb(0), ball_max([head.off_mass for head in heads])
        for word, centre in zip(words, centres, strict=True):
            distance = _distance(heads, word, centre)
            if not distance <= arb(radius):
                raise SparseNetworkError(
                    f"At the symbols {word.tolist()} of the positions {list(function.indices)} the heads are only "
                    f"known to be within {float(distance.upper()):.6g} of the node, not within gamma/4 = {radius}."
                )
            error = error.max(distance)
        bounds = upper_rational(error), upper_rational(mass)
    hidden = hidden_on_cubes(network.perceptron, centres, radius, words)
    result = SparseCertificate(network, words, bounds[0], radius, bounds[1], hidden)
    result.require_values()
    return result


class _HeadBounds:
    """The scores and values of one head at all tokens, and what the tokens off I can add to its output."""

    def __init__(self, network: SparseNetwork, head: Head) -> None:
        _require_plain(head)
        mapping = network.inputs
        (start,) = as_exact(mapping.class_token)
        query = exact_matmul(start[None, :], as_exact(head.query.weight)) * as_exact([head.sharpness])[0]
        scores = mapping.products(exact_matmul(as_exact(head.key.weight), query.T)[:, 0])
        weights = exact_matmul(as_exact(head.value.weight), as_exact(head.output.weight))  # type: ignore[union-attr]
        values = [mapping.products(column) for column in weights.T]
        read = list(network.function.indices)
        self.on_scores = np.array([scores.at(t) for t in read])
        self.on_values = np.array([[value.at(t) for t in read] for value in values])  # (k, s, M)
        self.alike = _rows_equal(self.on_scores) and all(_rows_equal(part) for part in self.on_values)
        self.class_weight = arb(scores.class_token).exp()
        self.class_values = [arb(value.class_token) for value in values]
        self.on_weights = np.exp(as_balls(self.on_scores))
        self.mass = _off_mass(scores, read)
        self.off = [_off_values(value, read) for value in values]

    @cached_property
    def off_mass(self) -> arb:
        """The largest share of attention off I and the class token."""
        least = self.class_weight + sum((ball_min(row) for row in self.on_weights), start=arb(0))
        return self.mass / (self.mass + least)

    def output(self, word: NDArray[np.int64]) -> list[tuple[arb, arb]]:
        """The least and the largest output for these symbols at I and all symbols elsewhere, for each coordinate."""
        places = np.arange(len(word))
        weights = self.on_weights[places, word]
        total = self.class_weight + weights.sum()
        share = self.mass / (self.mass + total)
        result = []
        for on, own, off in zip(self.on_values, self.class_values, self.off, strict=True):
            mean = (self.class_weight * own + (weights * on[places, word]).sum()) / total
            ends = [mean] if off is None else [mean, *(mean + share * (value - mean) for value in off)]
            result.append((ball_min(ends), ball_max(ends)))
        return result


def _distance(heads: list[_HeadBounds], word: NDArray[np.int64], centre: Array) -> arb:
    """A ball above the distance of the sum of the heads from a node, in the largest coordinate."""
    total = np.sum([np.array(head.output(word), dtype=object) for head in heads], axis=0)
    ends = ((x - low, high - x) for (low, high), x in zip(total, as_balls(centre), strict=True))
    return ball_max([distance.upper() for pair in ends for distance in pair])


def hidden_on_cubes(perceptron: FeedForward, centres: Array, radius: fmpq, words: NDArray[np.int64]) -> Array:
    """The second layer of the perceptron on the cubes around the nodes of the words, exact, shape (n, units).

    Raises:
        SparseNetworkError: if it is not constant on one of them.
        ValueError: for a perceptron of another form.
    """
    *hidden, _ = perceptron.layers
    if perceptron.residual or perceptron.activations != ("relu", "relu", "identity"):
        raise ValueError("The perceptron must have two layers of ReLUs and a linear one.")
    low, high = output_range(FeedForward(tuple(hidden)), centres - radius, centres + radius)
    for word, least, greatest in zip(words, low, high, strict=True):
        if not (least == greatest).all():
            unit = int(np.flatnonzero(least != greatest)[0])
            raise SparseNetworkError(
                f"On the cube of the symbols {word.tolist()} unit {unit} of the second layer is not constant: it takes "
                f"values from {least[unit]} to {greatest[unit]}."
            )
    return low


def _off_mass(scores: TokenProducts, read: list[int]) -> arb:
    """M, the sum over the tokens off I of their largest weight."""
    counts = np.bincount(scores.classes, minlength=len(scores.rows))
    for t in read:
        counts[scores.classes[t]] -= 1
    largest = [ball_max(as_balls(row)).exp() for row in scores.rows]
    return sum((int(count) * weight for count, weight in zip(counts, largest, strict=True)), start=arb(0))


def _off_values(values: TokenProducts, read: list[int]) -> tuple[arb, arb] | None:
    """The least and the largest value off I; None if there is no token off I."""
    counts = np.bincount(values.classes, minlength=len(values.rows))
    for t in read:
        counts[values.classes[t]] -= 1
    entries = values.rows[counts > 0].ravel().tolist()
    return (arb(min(entries)), arb(max(entries))) if entries else None


def _rows_equal(rows: Array) -> bool:
    return bool((rows == rows[:1]).all())


def _counts(sparsity: int) -> NDArray[np.int64]:
    """One word for each number of ones."""
    return np.tril(np.ones((sparsity + 1, sparsity), dtype=np.int64), -1)


def _require_plain(head: Head) -> None:
    maps = (head.query, head.key, head.value, head.output)
    biased = any(part is not None and part.bias.size for part in maps)
    if head.weigh != "softmax" or head.null is not None or len(head.relative_keys) or biased or head.output is None:
        raise ValueError(
            "Certified are softmax heads with an output map, without biases, a null pair or relative keys."
        )
    if head.temperature_squared != 1:
        raise ValueError("Certified are heads of temperature 1: put the scale into the query.")
