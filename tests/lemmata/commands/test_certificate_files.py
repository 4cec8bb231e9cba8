"""`lemmata check` and `lemmata explain`: certificate files, true, false and malformed."""

import json

from lemmata.certificates import kernel
from tests.lemmata.commands.runner import run


def test_a_certificate_is_written_checked_and_explained(tmp_path):
    file = tmp_path / "a5.json"
    code, output, _ = run("certify", "A5", "--out", str(file))
    assert code == 0
    assert "lemmata check" in output
    code, checked, _ = run("check", str(file))
    assert code == 0
    assert 'valid: group of order 60 called "A5"' in checked
    code, explained, _ = run("explain", str(file))
    assert code == 0
    assert "some optimal network uses: 3a, 3b, 4a." in explained
    assert "Classes on the margin of every optimal network: 3A, 5A, 5B." in explained
    assert "1.034221197 times the closed form" in explained
    report = output.partition("Network attains")[0]
    assert explained.startswith(report)


def tampered(file, change):
    document = json.loads(file.read_bytes())
    change(document)
    file.write_text(json.dumps(document))


def test_false_and_malformed_files(tmp_path):
    good, false, broken = (tmp_path / name for name in ("good.json", "false.json", "broken.json"))
    for file in (good, false):
        run("certify", "S3", "--out", str(file))
    tampered(false, lambda document: document["classes"][1].update(size=2))
    broken.write_text("{")
    assert run("check", str(good), str(false))[0] == 1
    code, output, _ = run("check", str(good), str(false), str(broken), str(tmp_path / "none.json"))
    assert code == 2
    assert "good.json: valid: " in output
    assert "false.json: invalid: classes[1].size: the class has 3 elements" in output
    assert "broken.json: malformed: " in output
    assert "none.json: malformed: No such file" in output
    code, output, _ = run("check", "--json", str(good), str(false), str(broken))
    assert code == 2
    said = {one["file"]: (one["status"], one["reason"]) for one in json.loads(output)}
    assert [said[str(file)][0] for file in (good, false, broken)] == ["valid", "invalid", "malformed"]
    assert said[str(good)][1].startswith('group of order 6 called "S3"')
    code, output, _ = run("explain", "--json", str(good))
    assert code == 0
    assert json.loads(output)["margin"] == json.loads(good.read_bytes())["margin"]
    assert run("explain", "--json", str(false))[0] == 1
    code, output, _ = run("explain", str(false))
    assert code == 1
    assert "invalid: classes[1].size" in output
    code, output, error = run("explain", str(broken))
    assert (code, output) == (2, "")
    assert "is no certificate" in error
    assert run("explain", str(tmp_path / "none.json"))[0] == 2


def test_what_is_explained_is_what_was_checked(tmp_path, monkeypatch):
    """A file that is replaced right after its check: the report is that of the checked bytes."""
    file, other = tmp_path / "file.json", tmp_path / "other.json"
    for name, place in (("S3", file), ("Z7", other)):
        assert run("certify", name, "--out", str(place))[0] == 0
    checked, content = file.read_bytes(), other.read_bytes()
    accept = kernel.check

    def replacing(data):
        line = accept(data)
        file.write_bytes(content)
        return line

    monkeypatch.setattr(kernel, "check", replacing)
    assert "1/(36 + 9/2*sqrt(2))" in run("explain", str(file))[1]
    assert file.read_bytes() == content
    file.write_bytes(checked)
    output = json.loads(run("explain", "--json", str(file))[1])
    assert output["margin"] == json.loads(checked)["margin"] != json.loads(content)["margin"]
