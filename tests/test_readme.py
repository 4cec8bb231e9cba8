"""The Python of the README runs as it stands, and its comments are true."""

import re
from pathlib import Path

import lemmata

README = Path(lemmata.__file__).parents[1] / "README.md"


def test_the_code_of_the_readme_runs() -> None:
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    blocks = [block for block in blocks if "to_transformer_lens" not in block]  # see test_transformer_lens
    assert len(blocks) >= 4
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    assert names["lm"] is lemmata
    certificate, descent = names["certificate"], names["block"]
    assert 3402 * certificate.gamma**2 == 1  # type: ignore[attr-defined]
    assert certificate.unique is True  # type: ignore[attr-defined]
    before, after = names["prompt"], descent(names["prompt"])  # type: ignore[operator]
    weights = [descent.weights(stream).tolist() for stream in (before, after)]  # type: ignore[attr-defined]
    assert len(weights[0]) == len(weights[1]) == 10
    assert weights[0] != weights[1]
