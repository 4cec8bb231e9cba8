"""Softmax attention as a contextual mapping: one head of rank 1 that tells tokens and token sets apart, with a bound.

Sequences of n distinct tokens each are given; their tokens together are the vocabulary. Let u be a direction on which
the tokens differ, gamma the least |u . (z - z')| of two different tokens, eta and A the least and the largest |u . z|,
and S the largest u . (z - z'). The head adds to token z

    rho w mean(u . z'),  weights softmax over z' of c (u . z) (u . z'),  c = 3 / (gamma eta),  rho = epsilon / (4 A),

with a unit vector w. So all scores of one token are 3 or more apart, and the mean over a set of tokens tells the set:
two sets give means that differ by more than (2/T) exp(-T S), T = c A, whatever the token that attends. Tokens at a
distance above epsilon move by less than epsilon/4 each, and stay more than epsilon/2 apart.

Source: deep-icgd, definition-13 (with the condition on token sets) and lemma-17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise

import numpy as np
from flint import arb, fmpq
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.smooth import positive_rational

_DRAWS = 4096
_BITS = 10  # of an entry of a direction


@dataclass(frozen=True, eq=False)
class ContextualMapping:
    """A softmax attention that is a contextual mapping for a family of sequences.

    Attributes:
        layer: z + attention, one head with matrices of rank 1, in exact numbers (run it in balls or float64).
        direction: u, shape (d,).
        sharpness: c; all scores that one token gives to two different tokens are at least 3 apart.
        largest: A, the largest |u . z|.
        spread: S, the largest difference of u . z.
        shift: epsilon/4, more than what a token moves by.
    """

    layer: AttentionLayer
    direction: Array
    sharpness: fmpq
    largest: fmpq
    spread: fmpq
    shift: fmpq

    @property
    def separation(self) -> arb:
        """delta = (2 rho / T) exp(-T S), T = c A: outputs of different tokens or token sets are further apart.

        A ball at the working precision.
        """
        T = self.sharpness * self.largest
        return 2 * arb(self.shift / self.largest / T) * (-arb(T * self.spread)).exp()


def vocabulary(sequences: Sequence[Array]) -> Array:
    """The different tokens of exact sequences of shape (n, d), in order of occurrence, shape (v, d).

    Raises:
        ValueError: if there is no sequence, the shapes differ, or a sequence holds a token twice.
    """
    family = [as_exact(sequence) for sequence in sequences]
    if not family or family[0].ndim != 2 or not family[0].size or len({Z.shape for Z in family}) > 1:
        raise ValueError(f"A family needs sequences of one shape (n, d), not {[Z.shape for Z in family]}.")
    found: dict[tuple[fmpq, ...], None] = {}
    for number, Z in enumerate(family):
        tokens = [tuple(row) for row in Z.tolist()]
        if len(set(tokens)) < len(tokens):
            raise ValueError(f"Sequence {number} holds a token twice, which attention cannot count.")
        found.update(dict.fromkeys(tokens))
    return as_exact([list(token) for token in found])


def separating_direction(tokens: Array, seed: int = 0) -> Array:
    """A rational u, shape (d,), with |u . x| >= 2 |u| |x| / ((v+1)^2 sqrt d) for all tokens x and their differences.

    Random directions, each checked exactly; one of them has the property with probability at least 1/(v+1) up to the
    rounding of its entries.

    Args:
        tokens: v different vectors that are not 0, shape (v, d).
        seed: of the draws.

    Raises:
        ValueError: if two tokens are equal or one is 0; if no draw of 4096 has the property.
    """
    count, d = tokens.shape
    vectors = [*tokens, *(a - b for a, b in combinations(tokens, 2))]
    if any(not x.any() for x in vectors):
        raise ValueError("A direction separates different tokens that are not 0, but two are equal or one is 0.")
    normals = (np.random.default_rng([seed, k]).normal(size=d) for k in range(_DRAWS))
    share = fmpq(4, (count + 1) ** 4 * d)
    for u in islice((as_exact(np.rint(normal * 2**_BITS).astype(int)) for normal in normals), _DRAWS):
        size = u @ u
        if all((u @ x) ** 2 >= share * size * (x @ x) for x in vectors) and size:
            return u / fmpq(2**_BITS)
    raise ValueError(f"None of {_DRAWS} random directions separates the {count} tokens: try another seed.")


def contextual_attention(
    sequences: Sequence[Array], separation: object, direction: ArrayLike | None = None, seed: int = 0
) -> ContextualMapping:
    """The attention that maps the tokens of all sequences to context ids; see the docstring of this module.

    Args:
        sequences: exact numbers, each of shape (n, d), without a token twice.
        separation: epsilon > 0, less than the distance of any two different tokens.
        direction: u, on which all tokens differ and none is 0; found by `separating_direction` if it is not given.
        seed: for that.

    Raises:
        ValueError: for sequences as `vocabulary` refuses them; if two tokens are as near as epsilon; if the direction
            does not separate the tokens from each other and from 0.
    """
    tokens, epsilon = vocabulary(sequences), positive_rational(separation, "separation")
    for a, b in combinations(tokens, 2):
        if not (a - b) @ (a - b) > epsilon**2:
            raise ValueError(f"Different tokens must be more than separation = {epsilon} apart, but two are not.")
    u = separating_direction(tokens, seed) if direction is None else as_exact(direction)
    if u.shape != tokens.shape[1:]:
        raise ValueError(f"The direction must have shape {tokens.shape[1:]} like a token, not {u.shape}.")
    places = sorted((tokens @ u).tolist())
    nearest = min((b - a for a, b in pairwise(places)), default=fmpq(1))
    least, largest = min(map(abs, places)), max(map(abs, places))
    if not (nearest and least):
        raise ValueError("The direction must tell all tokens apart, and none may be orthogonal to it.")
    c, shift = 3 / (nearest * least), epsilon / 4
    column, move = u[:, None], as_exact(np.zeros((1, len(u)), dtype=np.int64))
    move[0, 0] = shift / largest
    head = Head(Affine(c * column), Affine(column), Affine(column), output=Affine(move), causal=False)
    return ContextualMapping(AttentionLayer((head,)), u, c, largest, places[-1] - places[0], shift)
