"""Mathematics on the site: MathML, or the source where it is not understood."""

import re
from html import unescape

import pytest
from fontTools.ttLib import TTFont

from lemmata.site.build import HERE
from lemmata.site.chapters import erratum_weight
from lemmata.site.mathml import formula_html, formulas, mathml, split_mathematics
from lemmata.theorems.ledger import THEOREMS, Statement, load_ledger


def test_mathematics_is_mathml_and_what_is_not_understood_stays_readable() -> None:
    inline, display = (formula_html(source, inline) for _, source, inline in split_mathematics(
        r"If $x < \frac{1}{2}$ then $$\sum_{i=1}^n x_i \le 1$$"
    ) if source)  # fmt: skip
    assert "<mfrac>" in inline
    assert ('display="inline"' in inline, 'display="block"' in display) == (True, True)
    assert formula_html(r"\nosuchcommand{x}", True) == r"<code>\nosuchcommand{x}</code>"
    with pytest.raises(ValueError, match="is not understood"):
        mathml(r"\nosuchcommand{x}")


def test_an_escaped_dollar_opens_no_formula() -> None:
    assert formulas(r"costs \$5, not $x$, and \$6") == ["x"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"2\log n", "2~log~n"),
        (r"n\log_2n+\exp(x)", "n~log2~n+exp(x)"),
        (r"\sup|y|\le\|h\|\max(1,|\log x|)", "sup~|y|≤‖h‖~max(1,|log~x|)"),
        (r"(a)^2\ln2", "(a)2~ln~2"),
        (r"a\bmod b", "amodb"),
    ],
)
def test_names_of_functions_have_thin_spaces_beside_them(source: str, shown: str) -> None:
    assert unescape(re.sub("<[^>]*>", "", re.sub("<mspace[^>]*>", "~", mathml(source)))) == shown


def test_bars_and_slashes_are_tight_and_signs_of_numbers_belong_to_them() -> None:
    tight = 'lspace="0" rspace="0">'
    assert mathml(r"|x|/\|y\|").count(tight) == 5
    assert tight not in mathml("a-b")
    assert [mathml(source).count('form="prefix"') for source in ("a-b", "[-1,-1]", "=-1", "|a|-1")] == [0, 2, 1, 0]


def test_bars_of_a_norm_have_one_size() -> None:
    assert mathml(r"\lVert x \rVert_2") == mathml(r"\|x \|_2")
    assert mathml(r"\lVert x \rVert_2").count('stretchy="false"') == 2


def test_letters_of_other_alphabets_are_characters_with_and_without_braces() -> None:
    assert mathml(r"\mathbb R\mathcal F_n") == mathml(r"\mathbb{R}\mathcal{F}_n")
    assert unescape(mathml(r"\mathbb R")).count("ℝ") == 1


def test_every_formula_of_the_ledger_and_of_the_proofs_becomes_mathml_in_characters_of_the_font() -> None:
    proofs = [path.read_text(encoding="utf-8") for path in THEOREMS.glob("*/proofs/*.md")]
    texts = [statement.statement for statement in load_ledger().statements()] + proofs
    shown: set[str] = set()
    for formula in {formula for text in texts for formula in formulas(text)}:
        shown |= set(unescape(re.sub("<[^>]*>", "", mathml(formula))))
    with TTFont(HERE / "static" / "lemmata-math.woff") as font:
        assert "MATH" in font
        assert {character for character in shown if ord(character) not in font.getBestCmap()} == set()


def test_displays_of_proofs_follow_an_empty_line() -> None:
    """Behind a line of text MyST reads two dollars as a dollar and a formula."""
    opened = re.compile(r"^ *\$\$.*?\$\$ *$", re.MULTILINE | re.DOTALL)
    for path in THEOREMS.glob("*/proofs/*.md"):
        text = path.read_text(encoding="utf-8")
        displays = list(opened.finditer(text))
        assert text.count("$$") == 2 * len(displays), path
        assert all(text[: display.start()].endswith("\n\n") for display in displays), path


def test_errata_are_listed_with_the_heaviest_first() -> None:
    def of(kind: str, verdict: str, **errata: str) -> Statement:
        reach = "cases" if verdict in ("holds", "repaired", "refuted") else None
        return Statement(f"turing:{kind}-1", kind, "Title", "Claim.", "Here", verdict, reach, **errata)

    heaviest_first = [
        of("lemma", "refuted", erratum="False."),
        of("theorem", "repaired", erratum="A factor."),
        of("lemma", "repaired", erratum="A sign."),
        of("remark", "open", erratum="A typo."),
        of("lemma", "holds", proof_erratum="A gap."),
    ]
    weights = [erratum_weight(statement) for statement in heaviest_first]
    assert weights == sorted(weights)
    assert len(set(weights)) == len(weights)
