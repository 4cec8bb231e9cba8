"""The pages of the constructions, by subject: what each of them is, how it runs, and its weights at work."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

from lemmata.constructions.registry import REGISTRY, Registered
from lemmata.site.at_work import panels_of
from lemmata.site.cells import panel_picture
from lemmata.site.prose import escaped, fenced

__all__ = ["SUBJECTS", "construction_pages"]

SUBJECTS = {
    "groups": ("Networks for groups", ("max_margin", "group_certificates")),
    "parity": ("Networks for parities", ("sparse_parity", "success_frontier")),
    "circuits": ("Circuits as networks", ("turing_machine",)),
    "induction": ("Induction heads", ("induction_head",)),
    "descent": ("Gradient descent in a forward pass", ("gradient_descent_in_context",)),
    "sparse": ("Sparse functions by attention", ("sparse_selection",)),
    "turing": ("Turing machines as transformers", ("turing_machine",)),
    "tokens": ("Sparse token regression", ("sparse_token_regression",)),
}
"""The subjects of the registry that are constructions of the documents, with titles and notebooks; layers are parts."""
_NOTHING = "Nothing of it is shown: it maps more than two numbers to others, and has no attention, tape or spectrum."
_SYSTEMS = {"exact": "exact numbers", "ball": "balls", "float": "floating point"}


def construction_pages() -> dict[str, str]:
    """The pages by their places: ``constructions/index.md`` and one for each subject."""
    pages = {}
    lines = []
    for subject, (title, notebooks) in SUBJECTS.items():
        some = [one for one in REGISTRY if one.name.startswith(f"{subject}: ")]
        pages[f"constructions/{subject}.md"] = _page(title, notebooks, some)
        names = "; ".join(escaped(_local(one)) for one in some)
        lines.append(f"- [{title}]({subject}.md): {names}")
    listed = "\n".join(SUBJECTS)
    pages["constructions/index.md"] = (
        "# Constructions at work\n\nEvery construction of the library, as a small instance on one input: the "
        "pictures are drawn from the weights when the site is built. The same instances are taken through all number "
        "systems and to torch by the tests.\n\n" + "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )
    return pages


def _page(title: str, notebooks: Sequence[str], some: Sequence[Registered]) -> str:
    links = ", ".join(f"[{name}](../notebooks/{name}.ipynb)" for name in notebooks)
    parts = [
        f"# {title}",
        "Blue is above zero, orange below it, and the strongest colour the largest number of its picture; every cell "
        f"has its number as a title. To build, break and train them: {links}.",
    ]
    for one in some:
        instance = one.build()
        systems = ", ".join(_SYSTEMS[system] for system in one.systems)
        torch = "; as a torch module" if one.module is not None else ""
        parts += [f"## {escaped(_local(one)[0].upper() + _local(one)[1:])}",
                  f"`{type(instance).__name__}`: {_first_sentence(instance)} Runs in {systems}{torch}."]  # fmt: skip
        pictures = "".join(panel_picture(panel) for panel in panels_of(one))
        parts.append(fenced(f'<div class="scrolling">{pictures}</div>', "{raw} html") if pictures else _NOTHING)
    return "\n\n".join(parts) + "\n"


def _local(one: Registered) -> str:
    """The name of a construction without its subject."""
    return one.name.partition(": ")[2]


def _first_sentence(instance: object) -> str:
    """The first sentence of what the type of an instance says of itself, without references to other docstrings."""
    text = (inspect.getdoc(type(instance)) or "").partition("\n\n")[0]
    words = " ".join(text.split()).partition(";")[0].rstrip(".")
    return escaped(re.sub(r"`+", "", words)) + "."
