"""Certificates of losses as JSON documents: the weights, what is claimed, and how the claim is found again.

A document is checked by running its proof again on its own weights. A claim that the proof does not give is refused:
one that is too good, and one that is weaker than what is proved, for somebody has changed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from certificates.induction.cells import Judgement
from certificates.induction.losses import LossCertificate, bound_losses, enumerate_losses
from certificates.induction.trained import model_from_rows, rows_of_model
from constructions.networks.transformer import Transformer

__all__ = ["FORMAT", "check_loss_document", "loss_document"]

FORMAT = "lemmata loss of an induction head 1"
CLAIMS = tuple(part.name for part in fields(Judgement))
SLACK = 1e-9
"""How much weaker than the proof a claim may be, for other versions of the libraries that round differently."""


def loss_document(model: Transformer, certificate: LossCertificate, grid: int = 32) -> dict[str, Any]:
    """The document of a certificate that `enumerate_losses` or `bound_losses` (with this grid) gave for the model.

    Raises:
        ValueError: if a weight is no float32 number.
    """
    return {
        "format": FORMAT,
        "weights": rows_of_model(model),
        "proof": {"method": certificate.method, "t": certificate.t, "window": certificate.window, "grid": grid},
        "claims": {name: list(getattr(certificate.proved, name)) for name in CLAIMS},
    }


def check_loss_document(document: Mapping[str, Any]) -> LossCertificate:
    """The certificate of a document, found again from its weights.

    Raises:
        ValueError: for a document of another format, with parts missing or of another kind, or with a claim that is
            not what its proof gives; the message names the claim and both bounds.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError(f"This is no certificate of a loss: its format must be {FORMAT!r}.")
    try:
        model, proof, claims = model_from_rows(document["weights"]), document["proof"], document["claims"]
        method, t, window, grid = (proof[name] for name in ("method", "t", "window", "grid"))
        claimed = {name: tuple(map(_number, claims[name])) for name in CLAIMS}
    except (KeyError, TypeError) as error:
        raise ValueError(f"The certificate is not complete: {error} is missing or of another type.") from None
    if method not in ("sequences", "classes"):
        raise ValueError(f"There is no proof by {method!r}: the methods are sequences and classes.")
    found = enumerate_losses(model, t) if method == "sequences" else bound_losses(model, t, window, grid)
    for name, claim in claimed.items():
        proved = getattr(found.proved, name)
        true = len(claim) == 2 and claim[0] <= proved[0] + 1e-15 and proved[1] - 1e-15 <= claim[1]
        if not true or proved[0] - claim[0] > SLACK or claim[1] - proved[1] > SLACK:
            raise ValueError(f"The certificate claims {name} in {list(claim)}, but its proof gives {list(proved)}.")
    return found


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(repr(value))
    return float(value)
