"""`lemmata.site.pdf`: pages for the authors in the markup of Typst, and what it makes of them."""

import pytest
import typst

from lemmata.site.pdf import formula_markup, page_markup, page_pdf
from lemmata.site.prose import compared

PAGE = r"""# For *the* authors

| verdict | statements |
| --- | --- |
| holds | 3 |

**[Lemma 1](../x.md)** has `code`, $a_1^2 \le \binom{n}{k}$ and a "quotation" of 3 \* 4 #1 @x.

- one
- two

""" + compared(r"$x \ge 1$, n < 2", "$x > 1$")


@pytest.mark.parametrize(
    ("source", "markup"),
    [
        ("x_1^2", 'attach(x, b: "1", t: "2")'),
        (r"\binom{n}{k}", "binom(n, k)"),
        (r"\frac{a}{b+1}", 'frac(a, b + "1")'),
        (r"\sqrt{2}", 'sqrt("2")'),
        (r"\mathrm{err}", 'upright("err")'),
        (r"f(x, y)", r"f \( x \, y \)"),
        (r"\hat{u}", "hat(u)"),
        ("x_1", 'attach(x, b: "1")'),
        ("x^2", 'attach(x, t: "2")'),
        (r"\sqrt[3]{x}", 'root("3", x)'),
        (r"\begin{matrix} a & b \\ c & d \end{matrix}", "mat(delim: #none, a, b; c, d)"),
        (r"\mathbf{x}", "\N{MATHEMATICAL BOLD SMALL X}"),
    ],
)
def test_formulas(source: str, markup: str) -> None:
    assert formula_markup(source) == markup


def test_what_is_set_has_every_text_of_the_page() -> None:
    """The words of the page, found in what Typst made of it: strings stand there as they are."""
    markup = page_markup(PAGE)
    for text in (
        "authors",
        "holds",
        "Lemma 1",
        "code",
        '\\"quotation\\"',
        "3 * 4 #1 @x.",
        "two",
        "As printed",
        ", n < 2",
    ):
        assert text in markup
    assert "x.md" not in markup
    assert page_pdf(PAGE, "A page").startswith(b"%PDF")
    assert len(typst.compile(markup.encode(), format="svg")) > 1000


def test_long_forms_stand_below_one_another() -> None:
    assert "#grid(columns: (1fr, 1fr,)" in page_markup(compared("$x$", "$y$"))
    assert "#grid(columns: (1fr,)" in page_markup(compared(f"${'x + ' * 20}x$", "$y$"))


@pytest.mark.parametrize(
    "source",
    [
        r"\begin{matrix} a & b \\ c & d \end{matrix}",
        r"\sum_{i=1}^n |x_i|",
        r"\lVert x \rVert_2",
        r"\lim_{t \to \infty} \arg\max_\theta g'",
        r"\overline{ab} \cdot \{1, 2\}; \#3",
    ],
)
def test_formulas_that_are_set(source: str) -> None:
    assert typst.compile(f"${formula_markup(source)}$".encode()).startswith(b"%PDF")


def test_what_these_pages_do_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="have no fence"):
        page_markup("```python\nx\n```\n")
    with pytest.raises(ValueError, match="have no ordered_list_open"):
        page_markup("1. One, whose number a bullet would lose\n")
    with pytest.raises(ValueError, match="have no image in a line"):
        page_markup("![a](b.png)\n")
    with pytest.raises(ValueError, match=r"is not understood|cannot be converted"):
        formula_markup(r"\nonsense{x}")
