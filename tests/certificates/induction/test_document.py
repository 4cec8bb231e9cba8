"""Documents of certified losses: read again they prove the same, and every edit is refused."""

import json
from copy import deepcopy

import pytest

from certificates.induction.document import CLAIMS, check_loss_document, loss_document
from certificates.induction.losses import bound_losses, enumerate_losses
from certificates.induction.trained import trained_head

TRAINED = trained_head().model
DOCUMENTS = {
    "sequences": loss_document(TRAINED, enumerate_losses(TRAINED, 6)),
    "classes": loss_document(TRAINED, bound_losses(TRAINED, 9, 2)),
}


@pytest.mark.parametrize("method", DOCUMENTS)
def test_a_document_is_checked_after_a_journey_as_text(method):
    document = json.loads(json.dumps(DOCUMENTS[method]))
    found = check_loss_document(document)
    assert (found.method, list(found.proved.loss)) == (method, document["claims"]["loss"])


@pytest.mark.parametrize("method", DOCUMENTS)
@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize(("end", "factor"), [(0, 1.02), (1, 0.98), (0, 0.98), (1, 1.02)])
def test_edited_bounds_are_refused(method, claim, end, factor):
    document = deepcopy(DOCUMENTS[method])
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
    ],
)
def test_other_edits_are_refused(edit, message):
    document = deepcopy(DOCUMENTS["sequences"])
    edit(document)
    with pytest.raises(ValueError, match=message):
        check_loss_document(document)
