"""`lemmata path`."""

from tests.lemmata.commands.runner import run


def test_path():
    code, output, _ = run("path", "S3", "--lambda", "1e-7", "--lambda", "1/20")
    assert code == 0
    assert "1e-07 6.327456636e-05" in output
    assert "0.98048531 2 of 2" in output
    assert "0.05 1.791759469" in output  # log 6: the zero network
    assert "0 - 0 of 2" in output
    code, output, error = run("path", "S3", "--lambda", "many")
    assert (code, output) == (2, "")
    assert "'many'" in error
    assert run("path", "S3", "--lambda", "-1")[0] == 2
