"""Certificates of losses as JSON documents: the weights, what is claimed, and how the claim is found again.

A document is checked by running its proof again on its own weights. A claim that the proof does not give is refused:
one that is too good, and one that is weaker than what is proved, for somebody has changed it. So is a part that the
check does not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lemmata.certificates.induction.cells import Judgement
from lemmata.certificates.induction.losses import LossCertificate, bound_losses, enumerate_losses
from lemmata.certificates.induction.trained import exactly, model_from_rows, rows_of_model
from lemmata.constructions.networks.transformer import Transformer

__all__ = ["FORMAT", "check_loss_document", "loss_document"]

FORMAT = "lemmata loss of an induction head 3"
CLAIMS = tuple(part.name for part in fields(Judgement))
SLACK = 1e-9
"""How much weaker than the proof a claim may be, for other versions of the libraries that round differently."""
ROUNDING = 1e-15
"""How much stronger it may be for the same reason: some units in the last place of a bound."""
SETTINGS = {"sequences": ("method", "t"), "classes": ("method", "t", "window", "grid", "blocks")}
"""What determines a proof, by its method."""


def loss_document(model: Transformer, certificate: LossCertificate) -> dict[str, Any]:
    """The document of a certificate that `enumerate_losses` or `bound_losses` gave for the model.

    Raises:
        ValueError: if a weight is no float32 number, or the model has biases, output maps or a sharpness.
    """
    return {
        "format": FORMAT,
        "weights": rows_of_model(model),
        "proof": {name: getattr(certificate, name) for name in SETTINGS[certificate.method]},
        "claims": {name: list(getattr(certificate.proved, name)) for name in CLAIMS},
    }


def check_loss_document(document: Mapping[str, Any]) -> LossCertificate:
    """The certificate of a document, found again from its weights.

    Raises:
        ValueError: for a document of another format, with parts missing, of another kind or more than there are, or
            with a claim that is not what its proof gives; the message names the claim and both bounds.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError(f"This is no certificate of a loss: its format must be {FORMAT!r}.")
    try:
        exactly(document, ("format", "weights", "proof", "claims"))
        model, proof = model_from_rows(document["weights"]), document["proof"]
        method = proof["method"]
        if method not in tuple(SETTINGS):
            raise ValueError(f"There is no proof by {method!r}: the methods are {' and '.join(SETTINGS)}.")
        exactly(proof, SETTINGS[method])
        claimed = {name: tuple(map(_number, claim)) for name, claim in exactly(document["claims"], CLAIMS).items()}
    except (KeyError, TypeError) as error:
        raise ValueError(f"The certificate is not complete: {error} is missing or of another type.") from None
    settings = [proof[name] for name in SETTINGS[method] if name != "method"]
    found = enumerate_losses(model, *settings) if method == "sequences" else bound_losses(model, *settings)
    for name, claim in claimed.items():
        proved = getattr(found.proved, name)
        true = len(claim) == 2 and claim[0] <= proved[0] + ROUNDING and proved[1] - ROUNDING <= claim[1]
        if not true or proved[0] - claim[0] > SLACK or claim[1] - proved[1] > SLACK:
            raise ValueError(f"The certificate claims {name} in {list(claim)}, but its proof gives {list(proved)}.")
    return found


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(repr(value))
    return float(value)
