"""Statistical induction heads: two attention layers that count n-grams in context.

The stream has the blocks "token", "back 1", ..., "back n-1" and "answer", of size k each. Head h of the first layer
attends h tokens back and writes that token into the block "back h":

    score(i, j) = c1 [j = i - h].

The single head of the second layer compares the last n - 1 tokens at i with the tokens before j and averages x_j:

    score(i, j) = c2^2 sum_(h=1)^(n-1) [x_(j-h) = x_(i-h+1)],     largest iff all n - 1 agree.

Both scores are divided by sqrt(d), d the width. For n = 2 and no prefix this is the construction of the proof of
proposition 8.2 (`printed_induction_head`). There the first token has no predecessor, attends to itself, and so adds a
transition x_1 -> x_1. With n - 1 zero rows in front (`ngram_head`) the hard limit is the conditional frequency of the
next token, exactly, wherever the context has occurred. With a further block "prior" and prefix rows onehot(l) in it,
a_l of them for each symbol l, which match every query (`bayesian_ngram_head`), it is (count_l + a_l)/(N + sum a), the
posterior mean under a Dirichlet(a) prior.

At finite scales `CountingHead.error_bound` bounds the distance from that limit; the proof is in `ERROR_BOUND.md`. The
export to TransformerLens is `lemmata.constructions.networks.transformer_lens`. To train relative keys use
`transformer.to_torch(context)`.

Source: induction-heads, proposition-8.2, construction-8.2a, claim-8.2b, construction-8.2c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.layer import Weights
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.numbers import exact_number
from lemmata.numerics.exact.systems import Array


@dataclass(frozen=True, eq=False)
class CountingHead(Weights):
    """A transformer that counts n-grams in context, with what its error bound needs.

    Attributes:
        transformer: two layers of attention over k symbols.
        stream: the named coordinates of its residual stream.
        n: the length of the n-grams; n - 1 tokens are the context.
        pseudo_counts: (a_1, ..., a_k) of the prior; None for plain frequencies.
        previous_scale: c1, the scale of the first layer.
        match_scale: c2, the scale of both factors of the second layer.
    """

    translator: ClassVar[str] = "induction.torch"

    transformer: Transformer
    stream: ResidualStream
    n: int
    pseudo_counts: tuple[int, ...] | None
    previous_scale: Any
    match_scale: Any

    def __call__(self, x: ArrayLike) -> Array:
        """The output distribution at each token, shape (..., t, k), for tokens x in 1, ..., k, shape (..., t)."""
        return self.transformer(x)

    def hard(self) -> CountingHead:
        """The limit of large scales: hard attention, exact for exact scales."""
        return replace(self, transformer=self.transformer.hard())

    def error_bound(self, position: int, matches: int) -> arb:
        """A bound on the total-variation distance of the last attention from its hard limit, at one token.

        It bounds the error of each output coordinate too. Proof: `ERROR_BOUND.md`.

        Args:
            position: p >= 1, the position of the token.
            matches: how often the context of the token at p (itself and the n - 2 tokens before) occurs strictly
                before it, that is the number N of earlier n-gram transitions from it; 0 if p < n - 1. Matches with
                prefix rows of a prior are not to be counted.

        Raises:
            ValueError: if position or matches is no integer or the counts are impossible; where no bound is claimed: if
                the head has too few prefix rows (its limit is not a frequency), or nothing matches and n > 2.
        """
        position, matches = checked_integer("position", position, 1), checked_integer("matches", matches, 0)
        prefix, width = len(self.transformer.prefix), self.stream.width
        if prefix < self.n - 1:
            raise ValueError(f"No bound is known without {self.n - 1} prefix rows: the limit is no frequency.")
        if matches > max(0, position - self.n + 1):
            raise ValueError(f"There cannot be {matches} matches before position {position} for n = {self.n}.")
        rows, hits, m = position + prefix, matches + sum(self.pseudo_counts or ()), self.n - 2
        if hits == 0 and self.n > 2:
            raise ValueError("No bound is claimed where the context has not occurred and there is no prior.")
        c1, c2 = as_balls([self.previous_scale, self.match_scale])
        root = arb(width).sqrt()
        q, s = (c1 / root).exp(), c2 * c2 / root
        eps = (rows - 1) / (q + (rows - 1))  # section 1
        E = 1 - (1 - eps) ** 2  # section 2
        if hits == 0:  # section 5
            return (s * eps / 4).tanh()
        leaked = arb(rows - hits) / hits * (-s * (1 - eps - m * E - (E if m else eps))).exp()  # section 3
        return (s * (eps + m * E) / 4).tanh() + leaked  # section 4


def ngram_head(n: int, k: int, previous_scale: Any = 1, match_scale: Any = 1) -> CountingHead:
    """The transformer whose hard limit is the conditional frequency of the next token after the last n - 1.

    Width d = (n + 1) k, n - 1 zero rows in front, n - 1 heads and then one. ``ngram_head(2, k)`` is the repaired
    induction head of proposition 8.2. Where the context has not occurred, the output is the mean of the tokens after
    the longest partial agreement, zero rows counted.

    Args:
        n: n >= 2.
        k: the number of symbols, k >= 1.
        previous_scale: c1 > 0; int, Fraction or string (exact weights), float (float64), arb (balls).
        match_scale: c2 > 0, likewise.

    Raises:
        ValueError: for n < 2, k < 1, or scales that are not positive and finite, or with c2^2 beyond float64.
    """
    return _assemble(n, k, None, previous_scale, match_scale, prefix_rows=n - 1)


def bayesian_ngram_head(
    n: int, k: int, previous_scale: Any = 1, match_scale: Any = 1, pseudo_counts: Sequence[int] | None = None
) -> CountingHead:
    """The transformer whose hard limit is (count + a)/(N + sum a), the posterior mean for a Dirichlet(a) prior.

    Width d = (n + 2) k; sum(a) prefix rows, and zero rows before them if they are fewer than n - 1. While fewer than
    n - 1 tokens have been seen, the output is the prior mean a/sum(a).

    Args:
        n: n >= 2.
        k: the number of symbols.
        previous_scale: c1, as for `ngram_head`.
        match_scale: c2, as for `ngram_head`.
        pseudo_counts: non-negative integers a_1, ..., a_k, not all 0; all 1 by default, the flat prior.

    Raises:
        ValueError: as `ngram_head`, or for other pseudo-counts.
    """
    n, k = checked_integer("n", n, 2), checked_integer("k", k, 1)
    counts = tuple(np.ravel(np.array(pseudo_counts, dtype=object))) if pseudo_counts is not None else (1,) * k
    integral = all(isinstance(a, int | np.integer) and not isinstance(a, bool) and a >= 0 for a in counts)
    if len(counts) != k or not integral or sum(counts) == 0:
        raise ValueError(f"The pseudo-counts must be {k} integers >= 0, not all 0, but they are {pseudo_counts}.")
    counts = tuple(int(a) for a in counts)
    return _assemble(n, k, counts, previous_scale, match_scale, prefix_rows=max(n - 1, sum(counts)))


def printed_induction_head(k: int, scale: Any = 1) -> CountingHead:
    """The construction in the proof of proposition 8.2, as printed: d = 3k, c1 = c2 = ``scale``, no prefix.

    Its hard limit is not the bigram frequency: on (1, 2, 1) it is (1/2, 1/2) at the last token, and not (0, 1).

    Raises:
        ValueError: as `ngram_head`.
    """
    return _assemble(2, k, None, scale, scale, prefix_rows=0)


def with_affine_readout(head: CountingHead, slope: Any, shift: Any) -> CountingHead:
    """The head with the outputs slope * y + shift: the readout P = (shift 1 1^T; 0; slope I).

    The first block reads the token itself, a one-hot vector, so that shift 1 1^T adds the constant.
    """
    k = head.transformer.symbols
    readout = head.stream.readout(k, {"token": np.full((k, k), shift), "answer": _identity(k) * slope})
    return replace(head, transformer=replace(head.transformer, readout=readout))


def scales_for(n: int, k: int, context: int, tolerance: float, pseudo_counts: Sequence[int] | None = None) -> Any:
    """Integer scales (c1, c2) that keep `error_bound` below the tolerance at all positions up to ``context``.

    For the head with a prior if pseudo_counts are given, else for the plain one wherever its context has occurred (and
    N = 0 if n = 2). The rule c2^2 = sqrt(d) (ln(2 R/tolerance) + 1), R the number of rows, is followed by doubling of
    c1 until the certificate passes; the bound is worst at the last position with the fewest matches.

    Raises:
        ValueError: if the tolerance is not in (0, 1), context is no integer >= n, or as for the heads.
    """
    n, k = checked_integer("n", n, 2), checked_integer("k", k, 1)
    context = checked_integer("The context", context, n)
    if not 0 < tolerance < 1:
        raise ValueError(f"The tolerance must be in (0, 1), not {tolerance}.")
    width = ((n + 1) if pseudo_counts is None else (n + 2)) * k
    rows = context + max(n - 1, sum(pseudo_counts or ()))
    c2 = math.ceil(math.sqrt(math.sqrt(width) * (math.log(2 * rows / tolerance) + 1)))
    c1 = 1
    while True:
        head = ngram_head(n, k, c1, c2) if pseudo_counts is None else bayesian_ngram_head(n, k, c1, c2, pseudo_counts)
        fewest = 1 if pseudo_counts is None else 0  # without a prior and n = 2 the bound for N = 0 is below that for 1
        if bool(head.error_bound(context, fewest) <= tolerance):
            return c1, c2
        c1 *= 2


def _assemble(
    n: int, k: int, pseudo_counts: tuple[int, ...] | None, c1: Any, c2: Any, prefix_rows: int
) -> CountingHead:
    """All versions: they differ in n, in the number of prefix rows and in the block "prior"."""
    n, k = checked_integer("n", n, 2), checked_integer("k", k, 1)
    c1, c2 = _checked_scale("previous_scale", c1, n), _checked_scale("match_scale", c2, n)
    context = ["token", *(f"back {h}" for h in range(1, n))]
    prior = [] if pseudo_counts is None else ["prior"]
    stream = ResidualStream(dict.fromkeys([*context, "answer", *prior], k))
    eye, ones, zero = _identity(k), np.ones((k, k), dtype=object), stream.matrix({})

    # <e_i W_Q, v_h> = c1 <onehot(x_i), 1> = c1 at the distance h; rows of the prefix have no token and attend uniformly
    heads = [
        Head(
            query=Affine(stream.matrix({("token", "token"): c1 * eye})),
            key=Affine(zero),
            value=Affine(stream.matrix({("token", f"back {h}"): eye})),
            relative_keys=np.concatenate(
                [stream.rows(h, {}), stream.rows(1, {"token": np.ones((1, k), dtype=object)})]
            ),
            temperature_squared=stream.width,
        )
        for h in range(1, n)
    ]
    # <z_i W_Q, z_j W_K> = c2^2 sum_h <onehot(x_(i-h+1)), onehot(x_(j-h))>, and c2^2 (n - 1) for every j in the prior
    queried = context[: n - 1]
    keys = {(older, newer): c2 * eye for newer, older in zip(queried, context[1:], strict=True)}
    keys |= {(block, newer): c2 * ones for block in prior for newer in queried}
    match = Head(
        query=Affine(stream.matrix({(name, name): c2 * eye for name in queried})),
        key=Affine(stream.matrix(keys)),
        value=Affine(stream.matrix({(block, "answer"): eye for block in ["token", *prior]})),
        temperature_squared=stream.width,
    )
    prefix = stream.rows(prefix_rows, {})
    if pseudo_counts is not None:
        prefix[prefix_rows - sum(pseudo_counts) :, stream["prior"]] = np.repeat(eye, pseudo_counts, axis=0)
    transformer = Transformer(
        embedding=stream.rows(k, {"token": eye}),
        prefix=prefix,
        layers=(AttentionLayer(tuple(heads)), AttentionLayer((match,))),
        readout=stream.readout(k, {"answer": eye}),
    )
    return CountingHead(transformer, stream, n, pseudo_counts, c1, c2)


def _identity(k: int) -> Array:
    return np.eye(k, dtype=int).astype(object)


def _checked_scale(name: str, c: Any, n: int) -> Any:
    """The scale as exact number, float or ball, if it is positive and float64 can hold (n - 1) c^2."""
    if isinstance(c, float | np.floating):
        value: Any = float(c)
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} must be positive and finite, not {c}.")
        if value > math.sqrt(np.finfo(np.float64).max / (n - 1)):
            raise ValueError(f"{name} = {c} overflows: the scores are up to {n - 1} c^2; give an integer or a ball.")
        return value
    if isinstance(c, bool):
        raise ValueError(f"{name} must be a number, not {c}.")
    value = c if isinstance(c, arb) else exact_number(c)
    if (isinstance(value, arb) and not value.is_finite()) or not value > 0:
        raise ValueError(f"{name} must be positive and finite, not {c}.")
    return value
