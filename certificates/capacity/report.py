"""From norms, or from a trained head, to a bound on the generalisation error: as printed and as corrected.

The steps: norms of the weights (`lemmata.certificates.capacity.norms`), the constant C of log N(eps) <= C/eps^2 for
scalar functions w.f with ||w|| <= B_w (`lemmata.numerics.learning.attention_capacity`, `.deep_capacity`), and lemma A.5
(`lemmata.numerics.learning.entropy`), whose printed form is refused where C > A^2 m: it would be negative.

Biases are weights of a constant coordinate: with any bias, tokens (x, 1) of norm sqrt(B_X^2 + 1) stand for x, and the
matrices have one more row. The bias of the values and that of the output map move the output alike.

Source: variable-creation, lemma-4.2, corollary-4.9, lemma-A.5, lemma-A.12, theorem-A.17.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq

from lemmata.certificates.capacity.heads import homogeneous_matrices
from lemmata.certificates.capacity.norms import head_norms
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.head import Head
from lemmata.numerics.exact.balls import ball_min
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.learning.attention_capacity import (
    HeadNorms,
    printed_head_capacity,
    printed_multi_head_capacity,
    scalar_head_capacity,
)
from lemmata.numerics.learning.budgets import Capacity, CoverPart, checked_bound
from lemmata.numerics.learning.deep_capacity import LayerNorms, deep_capacity, printed_deep_capacity
from lemmata.numerics.learning.entropy import generalisation_bound

__all__ = ["CapacityReport", "MeasuredHeads", "deep_report", "head_report", "heads_of_state", "measured_heads"]


@dataclass(frozen=True)
class CapacityReport:
    """What is known of a class of scalar functions, printed and corrected.

    Attributes:
        corrected: the capacity with its constants and parts.
        printed: the same as the document prints it, with 1 for the constant that it leaves open.
        largest: A, a bound on the absolute values of the functions.
        samples: m.
        risk: the bound on |risk - empirical risk| for all functions, with probability 1 - delta.
        printed_risk: lemma A.5 as printed, with the printed capacity and the constant 12; None if it is refused.
        refusal: why, or "".
        loss_bound: b, above which a bound on the deviation says nothing.
    """

    corrected: Capacity
    printed: Capacity
    largest: arb
    samples: int
    risk: arb
    printed_risk: arb | None
    refusal: str
    loss_bound: arb

    @property
    def vacuous(self) -> bool:
        """Whether the corrected bound is not below b."""
        return not self.risk < self.loss_bound

    def as_dict(self) -> dict[str, Any]:
        """The report for JSON, in floats."""

        def number(ball: arb) -> float:
            return float(ball.mid())

        return {
            "corrected": number(self.corrected.constant),
            "printed": number(self.printed.constant),
            "shares": {name: number(share) for name, share in self.corrected.shares().items()},
            "printed_shares": {name: number(share) for name, share in self.printed.shares().items()},
            "dominant": self.corrected.dominant(),
            "largest_value": number(self.largest),
            "samples": self.samples,
            "risk": number(self.risk),
            "printed_risk": None if self.printed_risk is None else number(self.printed_risk),
            "refusal": self.refusal,
            "vacuous": self.vacuous,
        }


def head_report(
    heads: Sequence[HeadNorms],
    *,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    delta: object,
    readout: object = 1,
    lipschitz: object = 1,
    loss_lipschitz: object = 1,
    loss_bound: object = 1,
) -> CapacityReport:
    """The report for w.f, ||w|| <= B_w, f a sum of heads with these norms.

    Args:
        heads: the norms of each head, at least one.
        tokens: B_X, the largest norm of a token (with positions, if they are added).
        samples: m >= 1.
        length: T >= 1.
        width: the outputs of a head.
        delta: the probability of failure, in (0, 1).
        readout: B_w.
        lipschitz: of the activation.
        loss_lipschitz: of the loss in its first argument.
        loss_bound: b > 0, losses lie in [0, b].

    Raises:
        ValueError: for numbers out of range or not finite, or no head.
    """
    at: dict[str, Any] = {
        "tokens": tokens,
        "samples": samples,
        "length": length,
        "width": width,
        "lipschitz": lipschitz,
    }
    corrected = scalar_head_capacity(heads, readout=readout, **at)
    one = printed_head_capacity(heads[0], **at) if len(heads) == 1 else printed_multi_head_capacity(heads, **at)
    B_w = checked_bound("The bound B_w on the read-out", readout)
    printed = Capacity({name: CoverPart(part.cost, B_w * part.rate) for name, part in one.parts.items()})
    total = sum((norms.value for norms in heads), start=arb(0))
    largest = B_w * checked_bound("B_X", tokens) * checked_bound("The Lipschitz constant", lipschitz) * total
    return _report(corrected, printed, largest, samples, delta, loss_lipschitz, loss_bound)


def deep_report(
    layers: Sequence[LayerNorms],
    *,
    tokens: object,
    samples: int,
    length: int,
    width: int,
    delta: object,
    readout: object = 1,
    lipschitz: object = 1,
    key_width: int | None = None,
    loss_lipschitz: object = 1,
    loss_bound: object = 1,
) -> CapacityReport:
    """The report for Transformers of several layers with projections; arguments and errors as `head_report`.

    Args:
        layers: the norms of each layer, at least one.
        tokens, samples, length, width, delta, readout, lipschitz, loss_lipschitz, loss_bound: as for `head_report`;
            the class token counts among the tokens.
        key_width: k, the columns of W_V; the width if None.
    """
    at: dict[str, Any] = {
        "readout": readout,
        "samples": samples,
        "length": length,
        "width": width,
        "lipschitz": lipschitz,
    }
    corrected = deep_capacity(layers, tokens=tokens, key_width=key_width, contracted=True, **at)
    printed = printed_deep_capacity(layers, key_width=key_width, **at)
    L, last = checked_bound("The Lipschitz constant", lipschitz), layers[-1]
    seen = ball_min([arb(1), L * last.output, L * last.output_columns])
    return _report(corrected, printed, checked_bound("B_w", readout) * seen, samples, delta, loss_lipschitz, loss_bound)


def _report(
    corrected: Capacity, printed: Capacity, largest: arb, samples: int, delta: object, slope: object, bound: object
) -> CapacityReport:
    m = checked_integer("The number of samples", samples, 1)
    b = checked_bound("The bound b on the loss", bound, positive=True)
    at: dict[str, Any] = {"lipschitz": slope, "loss_bound": b}
    if largest.is_zero():  # the functions are all 0: one function, without entropy
        risk = generalisation_bound(0, 1, m, delta, form="sharp", **at)
    else:
        risk = generalisation_bound(corrected.constant, largest, m, delta, form="sharp", **at)
    refusal = ""
    shown = None
    try:
        shown = generalisation_bound(printed.constant, largest, m, delta, form="printed", **at)
    except ValueError as error:
        refusal = str(error)
    return CapacityReport(corrected, printed, largest, m, risk, shown, refusal, b)


@dataclass(frozen=True)
class MeasuredHeads:
    """The norms of concrete heads.

    Attributes:
        norms: of each head.
        biased: whether a constant coordinate stands for biases, so that tokens have the norm sqrt(B_X^2 + 1).
        width: the outputs of the heads.
    """

    norms: tuple[HeadNorms, ...]
    biased: bool
    width: int

    def rounded(self) -> tuple[tuple[HeadNorms, ...], fmpq]:
        """The norms rounded up to powers of two, and the share of delta that makes the bound hold for all of them.

        Norms of trained weights depend on the sample, but a bound is for a class that does not. The shares
        1/(4 (|j| + 1)^2) of the powers 2^j have a sum below 1, and every one of the 3 H norms takes its own; norms
        below 2^-60 count as 2^-60.
        """
        share, result = fmpq(1), []
        for one in self.norms:
            powers = [_power(x) for x in (one.value_columns, one.value, one.scores)]
            for j in powers:
                share /= 4 * (abs(j) + 1) ** 2
            result.append(HeadNorms(*(fmpq(2) ** j for j in powers)))
        return tuple(result), share

    def token_bound(self, tokens: object) -> arb:
        """B_X, or sqrt(B_X^2 + 1) with the constant coordinate.

        Raises:
            ValueError: unless B_X is finite and >= 0.
        """
        bound = checked_bound("The bound B_X on the norms of tokens", tokens)
        return (bound**2 + 1).sqrt() if self.biased else bound


def _power(norm: arb) -> int:
    """The least j >= -60 with norm <= 2^j."""
    j = -60
    while not norm <= arb(2) ** j:
        j += 1
    return j


def measured_heads(heads: Sequence[Head]) -> MeasuredHeads:
    """The norms of softmax heads, with sharpness, temperature, output map and biases in them.

    Raises:
        ValueError: for no head, another weighing, relative keys or a null pair, weights that are not finite, or
            outputs of several widths.
    """
    if not heads or len({head.outputs for head in heads}) > 1:
        raise ValueError(
            f"There must be at least one head, and outputs of one width, not {[head.outputs for head in heads]}."
        )
    for head in heads:
        if head.weigh != "softmax" or len(head.relative_keys) or head.null is not None:
            raise ValueError("The capacity bounds are for softmax heads without relative keys and without a null pair.")
    parts = [part for head in heads for part in (head.query, head.key, head.value, head.output) if part is not None]
    biased = any(x != 0 for part in parts for x in part.bias.ravel().tolist())
    norms = []
    for head in heads:
        value, scores = homogeneous_matrices(head)
        norms.append(head_norms(value, scores) if biased else head_norms(value[:-1], scores[:-1, :-1]))
    return MeasuredHeads(tuple(norms), biased, heads[0].outputs)


def heads_of_state(
    state: Mapping[str, Any], *, heads: int = 1, prefix: str = "", scale: float | None = None
) -> list[Head]:
    """The heads of a torch state dict: of `torch.nn.MultiheadAttention`, or of the modules of this library.

    `torch.nn.MultiheadAttention` has ``in_proj_weight`` (3 d, d) and ``out_proj.weight`` (d, d); our `HeadModule` has
    ``query.weight``, ``key.weight`` (d, H k), ``value.weight`` (d, H e') and perhaps ``output.weight`` (H e', e).
    Biases may stand beside them.

    Args:
        state: tensors or arrays by name.
        heads: H, how many heads the matrices hold side by side.
        prefix: what stands before the names; the only one that fits if it is empty.
        scale: the factor on the scores; 1/sqrt(d/H) for `MultiheadAttention`, 1 for our modules if None.

    Raises:
        ValueError: for tensors that are missing, not finite, or of shapes that do not fit; for names that fit several
            times, or a number of heads that does not divide the width.
    """
    H = checked_integer("The number of heads", heads, 1)
    arrays = {str(name): _tensor(name, value) for name, value in state.items()}
    place = _prefix(arrays, prefix)
    found = {name[len(place) :]: value for name, value in arrays.items() if name.startswith(place)}
    if "in_proj_weight" in found:
        return _torch_heads(found, H, scale)
    return _own_heads(found, H, scale)


def _tensor(name: object, value: Any) -> np.ndarray:
    plain = value.detach().cpu() if hasattr(value, "detach") else value
    try:
        result = np.asarray(plain.double().numpy() if hasattr(plain, "double") else plain, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"The entry {name} of the state dict is no tensor of real numbers.") from None
    if not np.isfinite(result).all():
        raise ValueError(f"The tensor {name} holds numbers that are not finite.")
    return result


def _prefix(arrays: Mapping[str, np.ndarray], prefix: str) -> str:
    """What stands before the names of the heads."""
    marks = ("in_proj_weight", "query.weight")
    places = sorted({name[: -len(mark)] for name in arrays for mark in marks if name.endswith(mark)})
    fitting = [place for place in places if place.startswith(prefix)] if prefix else places
    if len(fitting) != 1:
        raise ValueError(
            "A state dict with one set of heads has one tensor in_proj_weight or query.weight"
            f"{f' behind the prefix {prefix!r}' if prefix else ''}, but the prefixes found are {places or 'none'}, "
            f"among the tensors {', '.join(sorted(arrays)[:8]) or 'none'}."
        )
    return fitting[0]


def _take(found: Mapping[str, np.ndarray], name: str, *shape: int | None) -> np.ndarray:
    """A tensor of a shape, in which None fits every size."""
    if name not in found:
        raise ValueError(f"The state dict has no tensor {name}; it has {', '.join(sorted(found)) or 'none'}.")
    value = found[name]
    if value.ndim != len(shape) or any(
        want is not None and want != size for want, size in zip(shape, value.shape, strict=True)
    ):
        raise ValueError(f"The tensor {name} must have the shape {shape}, not {value.shape}.".replace("None", "any"))
    return value


def _torch_heads(found: Mapping[str, np.ndarray], H: int, scale: float | None) -> list[Head]:
    """The heads of `torch.nn.MultiheadAttention`, whose matrices act on columns."""
    d = _take(found, "in_proj_weight", None, None).shape[1]
    weight = _take(found, "in_proj_weight", 3 * d, d).reshape(3, d, d)
    output = _take(found, "out_proj.weight", d, d)
    bias = _take(found, "in_proj_bias", 3 * d).reshape(3, d) if "in_proj_bias" in found else np.zeros((3, d))
    shift = _take(found, "out_proj.bias", d) if "out_proj.bias" in found else np.zeros(d)
    if d % H:
        raise ValueError(f"{H} heads do not divide the width {d}.")
    k = d // H
    factor = 1 / math.sqrt(k) if scale is None else scale
    result = []
    for h in range(H):
        rows = slice(h * k, (h + 1) * k)
        query, key, value = (Affine(weight[i, rows].T, bias[i, rows]) for i in range(3))
        last = Affine(output[:, rows].T, shift if h == 0 else np.zeros(d))
        result.append(Head(query, key, value, sharpness=factor, output=last, causal=False))
    return result


def _own_heads(found: Mapping[str, np.ndarray], H: int, scale: float | None) -> list[Head]:
    """The heads of `HeadModule`, whose matrices act on rows."""
    query = _take(found, "query.weight", None, None)
    d, columns = query.shape
    key, value = _take(found, "key.weight", d, columns), _take(found, "value.weight", d, None)
    inner = value.shape[1]
    output = _take(found, "output.weight", inner, None) if "output.weight" in found else None
    if columns % H or inner % H:
        raise ValueError(f"{H} heads do not divide the {columns} columns of the keys and {inner} of the values.")
    shift = [
        _take(found, f"{name}.bias", size) if f"{name}.bias" in found else np.zeros(size)
        for name, size in (("query", columns), ("key", columns), ("value", inner))
    ]
    result = []
    for h in range(H):
        here = [slice(h * size // H, (h + 1) * size // H) for size in (columns, columns, inner)]
        maps = [Affine(part[:, at], b[at]) for part, b, at in zip((query, key, value), shift, here, strict=True)]
        last = None
        if output is not None:
            b = _take(found, "output.bias", output.shape[1]) if h == 0 and "output.bias" in found else None
            last = Affine(output[here[2]]) if b is None else Affine(output[here[2]], b)
        result.append(
            Head(maps[0], maps[1], maps[2], sharpness=1 if scale is None else scale, output=last, causal=False)
        )
    return result
