"""`lemmata check` on certificates of operations."""

import json

from tests.certificates.operations import parity_document
from tests.lemmata.commands.runner import run


def test_certificates_of_operations_are_recognised(tmp_path):
    good, false = tmp_path / "good.json", tmp_path / "false.json"
    document = parity_document()
    good.write_text(json.dumps(document))
    document["network"]["masses"][0] = 2
    false.write_text(json.dumps(document))
    code, output, _ = run("check", str(good))
    assert code == 0
    assert "valid: table of 2 rows, 2 columns and 2 labels called addition mod 2" in output
    code, output, _ = run("check", str(good), str(false))
    assert code == 1
    assert "invalid: network: at cell" in output
