"""Documents of certified losses: read again they prove the same, and every edit is refused."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from lemmata.certificates.induction.document import CLAIMS, check_loss_document, loss_document
from lemmata.certificates.induction.losses import bound_losses, enumerate_losses
from lemmata.certificates.induction.trained import trained_head
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer

METHODS = ("sequences", "classes")


TRAINED = trained_head().model


@cache
def documents():
    """One document of each method: made when a test asks, since the compilation takes seconds."""
    return {
        "sequences": loss_document(TRAINED, enumerate_losses(TRAINED, 6)),
        "classes": loss_document(TRAINED, bound_losses(TRAINED, 9, 2)),
    }


@pytest.mark.parametrize("method", METHODS)
def test_a_document_is_checked_after_a_journey_as_text(method):
    document = json.loads(json.dumps(documents()[method]))
    found = check_loss_document(document)
    assert (found.method, list(found.proved.loss)) == (method, document["claims"]["loss"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize(("end", "factor"), [(0, 1.02), (1, 0.98), (0, 0.98), (1, 1.02)])
def test_edited_bounds_are_refused(method, claim, end, factor):
    document = deepcopy(documents()[method])
    before = document["claims"][claim][end]
    document["claims"][claim][end] = before * factor
    if before == 0:
        document["claims"][claim][end] = 0.01 * (factor - 1)
    with pytest.raises(ValueError, match=f"claims {claim} in"):
        check_loss_document(document)


def edited_weight(document):
    row = document["weights"]["heads"][0]["value"][0].split()
    document["weights"]["heads"][0]["value"][0] = " ".join([str(float(row[0]) * 1.02), *row[1:]])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (edited_weight, "claims loss in"),
        (lambda d: d["proof"].update(t=7), "claims loss in"),
        (lambda d: d["proof"].update(method="hope"), "no proof by 'hope'"),
        (lambda d: d["proof"].pop("t"), "'t' is missing"),
        (lambda d: d["claims"].pop("gap"), "'gap' is missing"),
        (lambda d: d["claims"].update(gap=["0", "1"]), "of another type"),
        (lambda d: d["claims"].update(gap=[0.0]), "claims gap in"),
        (lambda d: d.update(format="x"), "its format must be"),
        (lambda d: d["claims"].update(loss=[float("nan"), float("nan")]), "claims loss in"),
        (lambda d: d.update(note="no loss at all"), "no part 'note'"),
        (lambda d: d["claims"].update(accuracy=[1, 1]), "no part 'accuracy'"),
        (lambda d: d["proof"].update(window=5), "no part 'window'"),
        (lambda d: d["weights"].update(positions=["1 2"]), "no part 'positions'"),
        (lambda d: d["weights"]["heads"][0].update(output=["1 2"]), "no part 'output'"),
        (lambda d: d["weights"].update(embedding=[[1.0, 2.0]]), "of another type"),
    ],
)
def test_other_edits_are_refused(edit, message):
    document = deepcopy(documents()["sequences"])
    edit(document)
    with pytest.raises(ValueError, match=message):
        check_loss_document(document)


@pytest.mark.parametrize(("setting", "value"), [("t", 8), ("window", 3), ("grid", 31)])
def test_edited_settings_of_a_compact_proof_are_refused(setting, value):
    document = deepcopy(documents()["classes"])
    document["proof"][setting] = value
    with pytest.raises(ValueError, match="claims loss in"):
        check_loss_document(document)


def test_a_document_knows_the_grid_of_its_proof():
    certificate = bound_losses(TRAINED, 7, 2, grid=9)
    assert check_loss_document(loss_document(TRAINED, certificate)).proved == certificate.proved


@pytest.mark.parametrize("change", ["query", "key", "value", "output", "sharpness"])
def test_a_model_with_more_parts_than_a_document_holds_is_refused(change):
    first, second = TRAINED.layers
    head = first.heads[0]
    maps = {name: Affine(getattr(head, name).weight, np.ones(8)) for name in ("query", "key", "value")}
    parts = {**maps, "output": Affine(np.eye(8)), "sharpness": 2}
    model = replace(TRAINED, layers=(AttentionLayer((replace(head, **{change: parts[change]}),)), second))
    with pytest.raises(ValueError, match="no biases, output maps or sharpness"):
        loss_document(model, enumerate_losses(model, 3))
