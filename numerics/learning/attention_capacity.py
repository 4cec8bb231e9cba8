"""How many attention heads there are up to eps on m contexts of T tokens: covering numbers from norms of the weights.

A head f(X) = sigma(W_V^T X^T softmax(X W_QK^T x_tau)) moves by at most

    L (c ||W_V|| B_X max |change of a score| + max |change of a value|)

if its scores and values change, for tokens of norm at most B_X, sigma L-Lipschitz, and c = 1 (softmax is 1-Lipschitz
from the supremum norm to the 1-norm; the document has c = 2). The score is the linear function <W_QK, x_tau x_t^T> of a
matrix of norm at most B_X^2, so that the perceptron of `lemmata.numerics.learning.linear_capacity` covers it; the
values are a linear map. Both see N = m T points, and nothing else depends on T. With the best division of eps (lemma
A.8)

    log N_inf <= (L B_X)^2/eps^2 ((c Q V B_X^2)^(2/3) l_Q^(1/3) + (2 V_1)^(2/3) l_V^(1/3))^3,
    V_1 = ||W_V||_(2,1),  V = ||W_V||,  Q = ||W_QK^T||_(2,1) or ||W_QK||_F,  l_Q = log(2 N + 1),  l_V = `map_factor`.

The 2 makes the cover of the values respect ||W_V|| <= V. Positions add B_P to B_X; heads that are added share eps.

The forms of the document are here as well, with the constant that it leaves open as an argument. They have too small a
power of B_X beside Q: 0 in corollary 4.9 and lemma A.12, 1 in the corollary's proof and in lemma A.11, instead of 2.

Source: variable-creation, theorem-4.6, corollary-4.9, lemma-A.11, lemma-A.12.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from flint import arb

from lemmata.numerics.exact.balls import checked_bound
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.learning.budgets import Capacity, CoverPart
from lemmata.numerics.learning.linear_capacity import map_factor, vector_factor

__all__ = [
    "HeadNorms",
    "ReadNorms",
    "head_capacity",
    "head_radii",
    "multi_head_capacity",
    "positional_capacity",
    "printed_head_capacity",
    "printed_multi_head_capacity",
    "printed_positional_capacity",
    "read_capacity",
    "scalar_head_capacity",
    "short_head_capacity",
]

PrintedForm = Literal["statement", "proof"]
_Norms = TypeVar("_Norms")
SHORT_CONSTANT = 20
"""A constant with which the corrected corollary 4.9 holds, with log((d + 1)(2 m T + 1)) and c = 1."""


@dataclass(frozen=True)
class HeadNorms:
    """What bounds a class of attention heads.

    Attributes:
        value_columns: V_1 >= 0, at least ||W_V||_(2,1), the sum of the norms of the columns of W_V.
        value: V >= 0, at least the spectral norm of W_V.
        scores: Q >= 0, at least ||W_QK^T||_(2,1), the sum of the norms of the rows of W_QK, or at least ||W_QK||_F.

    Raises:
        ValueError: for numbers that are negative or not finite.
    """

    value_columns: Any
    value: Any
    scores: Any

    def __post_init__(self) -> None:
        for name, text in (("value_columns", "||W_V||_(2,1)"), ("value", "||W_V||"), ("scores", "||W_QK^T||_(2,1)")):
            object.__setattr__(self, name, checked_bound(f"The bound on {text}", getattr(self, name)))


@dataclass(frozen=True)
class _Setting:
    """The other numbers of the bounds, checked."""

    tokens: arb
    lipschitz: arb
    softmax: arb
    points: int
    width: int

    @classmethod
    def of(cls, tokens: object, samples: int, length: int, width: int, lipschitz: object, softmax: object) -> _Setting:
        points = checked_integer("The number of samples", samples, 1) * checked_integer("The length", length, 1)
        return cls(
            checked_bound("The bound B_X on the norms of tokens", tokens),
            checked_bound("The Lipschitz constant of the activation", lipschitz),
            checked_bound("The Lipschitz constant of the softmax", softmax, positive=True),
            points,
            checked_integer("The width", width, 1),
        )


def head_radii(
    eps: object, alpha: object, *, tokens: object, value: object, output: object = 1, softmax: object = 1
) -> tuple[arb, arb]:
    """(alpha eps/(c L_out B_in B_X), (1 - alpha) eps/L_out): the radii for scores and values in theorem 4.6.

    Args:
        eps: the error allowed for the head, > 0.
        alpha: the share of the scores, in [0, 1].
        tokens: B_X > 0.
        value: B_in > 0, with |phi_in(x)| <= B_in |x|.
        output: L_out > 0, the Lipschitz constant of phi_out.
        softmax: c, 2 in the document, 1 is enough.

    Raises:
        ValueError: for other numbers.
    """
    error, share = checked_bound("The radius eps", eps, positive=True), checked_bound("The share alpha", alpha)
    if not share <= 1:
        raise ValueError(f"The share alpha must lie in [0, 1], not {alpha!r}.")
    B_X = checked_bound("The bound B_X on the norms of tokens", tokens, positive=True)
    B_in = checked_bound("The bound B_in on the values", value, positive=True)
    L_out = checked_bound("The Lipschitz constant of the output", output, positive=True)
    c = checked_bound("The Lipschitz constant of the softmax", softmax, positive=True)
    return share * error / (c * L_out * B_in * B_X), (1 - share) * error / L_out


def _head_parts(norms: HeadNorms, at: _Setting) -> dict[str, CoverPart]:
    """The covers of scores and values: log-size cost/x^2 at radius x, with rate x the effect on the head's output."""
    scores = (norms.scores * at.tokens**2) ** 2 * vector_factor(at.points)
    values = (2 * norms.value_columns * at.tokens) ** 2 * map_factor(at.width, at.points)
    return {
        "scores": CoverPart(scores, at.softmax * at.lipschitz * norms.value * at.tokens),
        "values": CoverPart(values, at.lipschitz),
    }


def head_capacity(
    norms: HeadNorms,
    *,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    softmax: object = 1,
) -> Capacity:
    """The bound C/eps^2 on log N_inf of attention heads, with its constants; see the docstring of this module.

    Args:
        norms: of the class.
        tokens: B_X >= 0, the largest norm of a token.
        samples: m >= 1 contexts.
        length: T >= 1, the tokens of a context.
        width: the number of columns of W_V, d in the document.
        lipschitz: L >= 0, of the activation, which is 0 at 0.
        softmax: c, the Lipschitz constant of softmax from the supremum norm to the 1-norm; 2 in the document.

    Raises:
        ValueError: for numbers that are negative or not finite, and counts below 1.

    Source: variable-creation, corollary-4.9, corrected and with constants.
    """
    return Capacity(_head_parts(norms, _Setting.of(tokens, samples, length, width, lipschitz, softmax)))


def short_head_capacity(
    norms: HeadNorms, *, tokens: object, samples: int, length: int, width: int, lipschitz: object = 1
) -> Capacity:
    """20 (L B_X)^2 (V_1^(2/3) + (Q V B_X^2)^(2/3))^3 log((d + 1)(2 m T + 1))/eps^2, at least `head_capacity`.

    Corollary 4.9 with the right power of B_X and one constant. Arguments and errors as `head_capacity`.
    """
    at = _Setting.of(tokens, samples, length, width, lipschitz, 1)
    factor = SHORT_CONSTANT * (arb(at.width + 1) * (2 * at.points + 1)).log()
    return _one_factor(factor, [("", norms)], at.tokens, at.lipschitz, at.tokens**2)


def printed_head_capacity(
    norms: HeadNorms,
    *,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    form: PrintedForm = "statement",
    constant: object = 1,
) -> Capacity:
    """constant (L B_X)^2 (V_1^(2/3) + (Q V)^(2/3))^3 log(m T)/eps^2, as corollary 4.9 is printed: false for large B_X.

    Args:
        norms, tokens, samples, length, width, lipschitz: as for `head_capacity`.
        form: "statement", or "proof", whose last line has (Q V B_X)^(2/3) and log(d m T).
        constant: what the document leaves open, > 0.

    Raises:
        ValueError: as `head_capacity`, or for another form.
    """
    if form not in ("statement", "proof"):
        raise ValueError(f"The printed form is the statement or the proof, not {form!r}.")
    at = _Setting.of(tokens, samples, length, width, lipschitz, 1)
    scale = checked_bound("The constant", constant, positive=True)
    size, beside = (at.points, arb(1)) if form == "statement" else (at.width * at.points, at.tokens)
    return _one_factor(scale * arb(size).log(), [("", norms)], at.tokens, at.lipschitz, beside)


def _one_factor(
    factor: arb, heads: Sequence[tuple[str, HeadNorms]], tokens: arb, lipschitz: arb, beside: arb
) -> Capacity:
    """factor (L B_X)^2 (sum over heads of V_1^(2/3) + (Q V ``beside``)^(2/3))^3."""
    front = factor * (lipschitz * tokens) ** 2
    parts = {}
    for name, norms in heads:
        parts[f"scores{name}"] = CoverPart(front * (norms.scores * norms.value * beside) ** 2, arb(1))
        parts[f"values{name}"] = CoverPart(front * norms.value_columns**2, arb(1))
    return Capacity(parts)


def positional_capacity(
    norms: HeadNorms,
    *,
    tokens: object,
    positions: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    softmax: object = 1,
) -> Capacity:
    """The bound for heads on X + P with given positions P of norm at most B_P: `head_capacity` with B_X + B_P.

    Args:
        positions: B_P >= 0; the other arguments and the errors as for `head_capacity`.
        norms, tokens, samples, length, width, lipschitz, softmax: see there.

    Source: variable-creation, lemma-A.11, corrected and with constants.
    """
    return head_capacity(
        norms,
        tokens=_with_positions(tokens, positions),
        samples=samples,
        length=length,
        width=width,
        lipschitz=lipschitz,
        softmax=softmax,
    )


def printed_positional_capacity(
    norms: HeadNorms,
    *,
    tokens: object,
    positions: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    constant: object = 1,
) -> Capacity:
    """constant (L B)^2 (V_1^(2/3) + (2 Q V B)^(2/3))^3 log(d m T)/eps^2, B = B_X + B_P, as lemma A.11 is printed.

    Arguments and errors as for `positional_capacity` and `printed_head_capacity`.
    """
    at = _Setting.of(_with_positions(tokens, positions), samples, length, width, lipschitz, 1)
    factor = checked_bound("The constant", constant, positive=True) * arb(at.width * at.points).log()
    return _one_factor(factor, [("", norms)], at.tokens, at.lipschitz, 2 * at.tokens)


def _with_positions(tokens: object, positions: object) -> arb:
    B_X = checked_bound("The bound B_X on the norms of tokens", tokens)
    return B_X + checked_bound("The bound B_P on the norms of positions", positions)


def multi_head_capacity(
    heads: Sequence[HeadNorms],
    *,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    softmax: object = 1,
) -> Capacity:
    """The bound for sums of heads with these norms, which share eps; H equal heads have H^3 times the bound of one.

    Args:
        heads: the norms of each head, at least one.
        tokens, samples, length, width, lipschitz, softmax: as for `head_capacity`, with its errors.

    Source: variable-creation, lemma-A.12, corrected and with constants.
    """
    at = _Setting.of(tokens, samples, length, width, lipschitz, softmax)
    return Capacity(
        {f"{part}{name}": cover for name, one in _named(heads) for part, cover in _head_parts(one, at).items()}
    )


def scalar_head_capacity(
    heads: Sequence[HeadNorms],
    *,
    readout: object,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    softmax: object = 1,
) -> Capacity:
    """The bound for w.f with ||w|| <= B_w, f a sum of heads: both w and the heads range over their classes.

    |w.f - w'.f'| <= B_w |f - f'| + |(w - w').f'|, and |f'| <= A = L B_X (sum of V): the covers of the heads with the
    rates times B_w, and one of w at m points of norm at most A. (With w fixed, the part ``read-out`` is free.)

    Args:
        heads: the norms of each head, at least one.
        readout: B_w >= 0.
        tokens, samples, length, width, lipschitz, softmax: as for `head_capacity`, with its errors.

    Source: variable-creation, definition-4.4.2, theorem-4.6, lemma-A.12.
    """
    at = _Setting.of(tokens, samples, length, width, lipschitz, softmax)
    B_w = checked_bound("The bound B_w on the read-out", readout)
    inner = multi_head_capacity(
        heads, tokens=tokens, samples=samples, length=length, width=width, lipschitz=lipschitz, softmax=softmax
    )
    largest = at.lipschitz * at.tokens * sum((one.value for one in heads), start=arb(0))
    parts = {name: CoverPart(part.cost, B_w * part.rate) for name, part in inner.parts.items()}
    return Capacity({"read-out": CoverPart((B_w * largest) ** 2 * vector_factor(samples), arb(1)), **parts})


@dataclass(frozen=True)
class ReadNorms:
    """What bounds a class of heads without activation that a vector w reads: W_V w is one vector then.

    Attributes:
        value: V >= 0, at least ||W_V w||.
        scores: Q >= 0, at least ||W_QK||_F or the sum of the norms of the rows of W_QK.

    Raises:
        ValueError: for numbers that are negative or not finite.
    """

    value: Any
    scores: Any

    def __post_init__(self) -> None:
        for name, text in (("value", "||W_V w||"), ("scores", "||W_QK||_F")):
            object.__setattr__(self, name, checked_bound(f"The bound on {text}", getattr(self, name)))


def read_capacity(
    heads: Sequence[ReadNorms],
    *,
    residual: object = 0,
    tokens: object,
    samples: int,
    length: int,
    kinds: int | None = None,
) -> Capacity:
    """The bound for u.x_tau + sum_h v_h^T X^T softmax(X W_h^T x_tau), ||u|| <= U, ||v_h|| <= V_h.

    That is a linear readout of heads without activation, with a residual connection: W_V w is one vector v_h, so that a
    perceptron covers the values, within ||v_h|| <= V_h. W_h is bounded as in `ReadNorms`. The parts have the costs (V_h
    B_X)^2 l, (Q_h B_X^2)^2 l_Q and (U B_X)^2 l_U at the rates 1, V_h B_X and 1. If there are only n different tokens,
    there are at most n points for values, n^2 for scores and n for the residual connection, and else m T, m T and m.

    Args:
        heads: the norms of each head, at least one.
        residual: U >= 0.
        tokens: B_X >= 0, the largest norm of a token.
        samples: m >= 1 contexts, of each of which one token is read.
        length: T >= 1, the tokens of a context.
        kinds: n >= 1, or None for any number.

    Raises:
        ValueError: for numbers that are negative or not finite, counts below 1, or no head.

    Source: variable-creation, corollary-4.9 and lemma-A.12 with a readout; proofs/head_capacity.md there, step 15.
    """
    B_X = checked_bound("The bound B_X on the norms of tokens", tokens)
    U = checked_bound("The bound U on the residual readout", residual)
    m = checked_integer("The number of samples", samples, 1)
    seen = m * checked_integer("The length", length, 1)
    n = seen if kinds is None else checked_integer("The number of tokens", kinds, 1)
    parts = {"residual": CoverPart((U * B_X) ** 2 * vector_factor(min(m, n)), arb(1))}
    for name, one in _named(heads):
        scores = (one.scores * B_X**2) ** 2 * vector_factor(min(seen, n**2))
        parts[f"scores{name}"] = CoverPart(scores, one.value * B_X)
        parts[f"values{name}"] = CoverPart((one.value * B_X) ** 2 * vector_factor(min(seen, n)), arb(1))
    return Capacity(parts)


def printed_multi_head_capacity(
    heads: Sequence[HeadNorms],
    *,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    lipschitz: object = 1,
    constant: object = 1,
) -> Capacity:
    """constant (L B_X)^2 (sum_h V_1^(2/3) + (2 Q V)^(2/3))^3 log(d m T)/eps^2, as lemma A.12 is printed.

    Arguments and errors as for `multi_head_capacity` and `printed_head_capacity`.
    """
    at = _Setting.of(tokens, samples, length, width, lipschitz, 1)
    factor = checked_bound("The constant", constant, positive=True) * arb(at.width * at.points).log()
    return _one_factor(factor, _named(heads), at.tokens, at.lipschitz, arb(2))


def _named(heads: Sequence[_Norms]) -> list[tuple[str, _Norms]]:
    if not len(heads):
        raise ValueError("There must be at least one head.")
    return [(f" {number}" if len(heads) > 1 else "", norms) for number, norms in enumerate(heads, start=1)]
