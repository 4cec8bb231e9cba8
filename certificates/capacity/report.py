"""From norms to a bound on the generalisation error: as printed and as corrected.

The steps: norms of the weights (`lemmata.certificates.capacity.norms`, `.trained`), the constant C of log N(eps) <=
C/eps^2 for scalar functions w.f with ||w|| <= B_w (`lemmata.numerics.learning.attention_capacity`, `.deep_capacity`),
and lemma A.5 (`lemmata.numerics.learning.entropy`), whose printed form is refused where C > A^2 m: it would be
negative.

Source: variable-creation, lemma-4.2, corollary-4.9, lemma-A.5, lemma-A.12, theorem-A.17.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

from flint import arb

from lemmata.certificates.capacity.trained import MeasuredReader, PeeledNorm
from lemmata.numerics.exact.balls import ball_min, checked_bound
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.learning.attention_capacity import (
    HeadNorms,
    ReadNorms,
    printed_head_capacity,
    printed_multi_head_capacity,
    read_capacity,
    scalar_head_capacity,
)
from lemmata.numerics.learning.budgets import Capacity, CoverPart
from lemmata.numerics.learning.deep_capacity import LayerNorms, deep_capacity, printed_deep_capacity
from lemmata.numerics.learning.entropy import generalisation_bound

__all__ = ["CapacityReport", "deep_report", "head_report", "trained_report"]


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
        """The report for JSON, in floats; corrected bounds are rounded up."""

        def number(ball: arb) -> float:
            return float(ball.mid())

        def bound(ball: arb) -> float:
            return nextafter(float(ball.upper()), inf)

        return {
            "corrected": bound(self.corrected.constant),
            "printed": number(self.printed.constant),
            "shares": {name: number(share) for name, share in self.corrected.shares().items()},
            "printed_shares": {name: number(share) for name, share in self.printed.shares().items()},
            "dominant": self.corrected.dominant(),
            "largest_value": bound(self.largest),
            "samples": self.samples,
            "risk": bound(self.risk),
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
    one = _printed(heads, **at)
    B_w = checked_bound("The bound B_w on the read-out", readout)
    printed = Capacity({name: CoverPart(part.cost, B_w * part.rate) for name, part in one.parts.items()})
    total = sum((norms.value for norms in heads), start=arb(0))
    largest = B_w * checked_bound("B_X", tokens) * checked_bound("The Lipschitz constant", lipschitz) * total
    return _report(corrected, printed, largest, samples, delta, loss_lipschitz, loss_bound)


def trained_report(
    measured: MeasuredReader,
    *,
    samples: int,
    length: int,
    delta: object,
    readout: object = None,
    loss_lipschitz: object = 1,
    loss_bound: object = 1,
) -> tuple[CapacityReport, list[PeeledNorm]]:
    """The report for trained heads, with every norm that training chose rounded up, and how.

    With a readout among the weights the class is that of `read_capacity`, and the printed form, which has no residual
    connection, is that of the vectors W_V w with a read-out of norm 1. Without one it is that of `head_report`.

    Args:
        measured: as `lemmata.certificates.capacity.trained.measured_reader` gives it, not yet rounded.
        samples, length, delta, loss_lipschitz, loss_bound: as for `head_report`.
        readout: B_w, where the weights have none; needed then.

    Raises:
        ValueError: as `head_report`; for a readout that is missing, or given beside that of the weights.
    """
    counted, norms, share = measured.rounded()
    failure = checked_bound("The probability of failure delta", delta, positive=True) * share
    at: dict[str, Any] = {"tokens": counted.tokens, "samples": samples, "length": length}
    heads = [one for one in counted.norms if isinstance(one, HeadNorms)]
    if heads:
        if readout is None:
            raise ValueError("There is no readout among the weights: give its norm (--readout).")
        at |= {"readout": readout, "width": counted.width}
        report = head_report(heads, **at, delta=failure, loss_lipschitz=loss_lipschitz, loss_bound=loss_bound)
        return report, norms
    if readout is not None:
        raise ValueError("The weights have their own readout: its norm is read there, not told (--readout).")
    reads = [one for one in counted.norms if isinstance(one, ReadNorms)]
    residual = arb(0) if counted.residual is None else counted.residual
    corrected = read_capacity(reads, residual=residual, kinds=counted.kinds, **at)
    plain = [HeadNorms(one.value, one.value, one.scores) for one in reads]
    printed = _printed(plain, width=1, **at)
    largest = counted.tokens * sum((one.value for one in reads), start=residual)
    return _report(corrected, printed, largest, samples, failure, loss_lipschitz, loss_bound), norms


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


def _printed(heads: Sequence[HeadNorms], **at: Any) -> Capacity:
    """Corollary 4.9 for one head, lemma A.12 for several, as printed."""
    return printed_head_capacity(heads[0], **at) if len(heads) == 1 else printed_multi_head_capacity(heads, **at)


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
