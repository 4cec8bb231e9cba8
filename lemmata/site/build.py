"""The building of the site: sources in a folder of their own, then Sphinx, then a look at every link.

The sources are Markdown (MyST): pages of the ledger, of the proofs, of the public names, the executed notebooks as they
are committed, the formats of certificates, and the texts of `pages/`. The result replaces the last one only when it is
whole.
"""

from __future__ import annotations

import functools
import json
import posixpath
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote

from lemmata.certificates.atlas.committed import committed_atlas
from lemmata.cli import EXAMPLES, PANELS
from lemmata.site.atlas import atlas_contents, atlas_pages
from lemmata.site.atlas_pictures import gap_picture, unseen_map
from lemmata.site.authors import author_pages, papers_list
from lemmata.site.chapters import chapter_pages, errata_page, statements_index
from lemmata.site.constructions import construction_pages
from lemmata.site.entries import Library, edges_of, load_library
from lemmata.site.listings import narrowed
from lemmata.site.margins import PICTURE
from lemmata.site.mutants import drawn_table, everywhere_text, mutants_table, survivors_list
from lemmata.site.papers import statements_script
from lemmata.site.pdf import page_pdf
from lemmata.site.picture import whole_picture
from lemmata.site.prose import fenced, statement_place
from lemmata.site.reference import reference_pages
from lemmata.site.statements import proof_page, statement_page
from lemmata.theorems.ledger import OLDER, THEOREMS

__all__ = ["ROOT", "SiteError", "broken_links", "build_site", "remote_sources", "write_sources"]

ROOT = THEOREMS.parent
HERE = Path(__file__).parent
_TARGET = re.compile(r'\b(?:href|src)="([^"]*)"')
_ANCHOR = re.compile(r'\b(?:id|name)="([^"]*)"')
_REMOTE = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["'](?:https?:)?//"""
    r"""|<link\b(?![^>]*\brel=["']canonical)[^>]*\bhref=["'](?:https?:)?//"""
    r"""|@import\s+(?:url\()?["']?(?:https?:)?//|url\(["']?(?:https?:)?//"""
)
CONFIGURATION = {
    "project": "Lemmata",
    "extensions": ["myst_nb", "lemmata.site.mathematics", "lemmata.site.repeated", "lemmata.site.numbers"],
    "html_theme": "furo",
    "html_title": "Lemmata",
    "html_css_files": ["lemmata.css"],
    "html_math_renderer": "mathml",
    "html_show_copyright": False,
    "html_show_sourcelink": False,
    "html_copy_source": False,
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},
    "myst_enable_extensions": ["deflist", "dollarmath"],
    "myst_heading_anchors": 3,
    "suppress_warnings": ["toc.not_included"],
}


class SiteError(RuntimeError):
    """The site could not be built, or is not whole; the message says what is wrong."""


def build_site(target: Path, *, jobs: int = 2) -> dict[str, int]:
    """The whole site in a folder, which it replaces.

    Args:
        target: the folder; it may exist only if it holds an earlier site.
        jobs: processes of Sphinx.

    Returns:
        How many pages, statements, proofs and notebooks there are.

    Raises:
        SiteError: if Sphinx fails or warns, a link leads nowhere, or a page asks the network for something.
        FileExistsError: if the folder holds something else.
        FileNotFoundError: outside of a checkout, where there are no notebooks.
    """
    if target.exists() and any(target.iterdir()) and not (target / ".lemmata-site").exists():
        raise FileExistsError(f"{target} exists and is no site of Lemmata; name another folder, or empty it.")
    if not (ROOT / "notebooks").is_dir():
        raise FileNotFoundError("The site is built from a checkout of Lemmata; an installed copy has no notebooks.")
    library = load_library(ROOT / "notebooks")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as folder:
        work = Path(folder)
        write_sources(work / "source", library)
        _run_sphinx(work, jobs)
        site = work / "html"
        write_redirects(site, library.entries)
        for place, text in author_pages(library).items():
            (site / place).with_suffix(".pdf").write_bytes(page_pdf(text, text.partition("\n")[0].lstrip("# ")))
        (site / ".lemmata-site").write_text(f"Lemmata {version('lemmata')}\n", encoding="utf-8")
        faults = [*broken_links(site), *remote_sources(site)]
        faults += [
            f"{name} has no page" for name in library.entries if not (site / f"{statement_place(name)}.html").is_file()
        ]
        if faults:
            raise SiteError(f"The site is not whole: {'; '.join(faults[:10])} ({len(faults)} faults).")
        if target.exists():
            shutil.rmtree(target)
        site.rename(target)
    return {
        "pages": sum(1 for _ in target.rglob("*.html")),
        "statements": len(library.entries),
        "proofs": sum(1 for _ in (target / "proofs").rglob("*.html")),
        "notebooks": sum(1 for _ in (target / "notebooks").glob("*.html")),
    }


def write_sources(source: Path, library: Library) -> None:
    """The sources of all pages, in a new folder."""
    edges = edges_of(library)
    pages = {
        "statements/index.md": statements_index(library),
        "errata.md": errata_page(library),
        **author_pages(library),
        **reference_pages(),
        **construction_pages(),
        **atlas_pages({name: entry.statement.title for name, entry in library.entries.items()}),
    }
    for chapter in library.ledger.chapters:
        pages |= chapter_pages(chapter, library, edges)
        for path in sorted((Path(str(chapter.folder)) / "proofs").glob("*.md")):
            pages[f"proofs/{chapter.name}/{path.stem}.md"] = proof_page(path, library)
    for name, entry in library.entries.items():
        pages[f"{statement_place(name)}.md"] = statement_page(entry, library, edges, version("lemmata"))
    for path in sorted((HERE / "pages").glob("*.md")):
        pages[path.name] = _filled(path.read_text(encoding="utf-8"), library, whole_picture(library, edges))
    for name in (
        "FORMAT",
        "CHARACTER_TABLE_FORMAT",
        "OPERATION_FORMAT",
        "ALGEBRAIC_FORMAT",
        "SOLUTION_FORMAT",
        "TERNARY_FORMAT",
        "game/UNIVERSAL_MARGIN",
        "operations/OPERATION_MARGIN",
    ):
        path = ROOT / "certificates" / f"{name}.md"
        pages[f"formats/{path.name}"] = path.read_text(encoding="utf-8")
    pages["statements.js"] = statements_script(library.ledger)
    for place, text in pages.items():
        path = source / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(narrowed(text) if path.suffix == ".md" else text, encoding="utf-8")
    shutil.copy(PICTURE, source)
    shutil.copytree(ROOT / "notebooks", source / "notebooks", ignore=shutil.ignore_patterns(".*", "__pycache__"))


def write_redirects(site: Path, names: Iterable[str]) -> None:
    """A page that leads on, for each address that a statement had when its kind was written ``def`` or ``prop``."""
    for name in names:
        page = statement_place(name)
        folder, _, local = page.rpartition("/")
        for older, kind in OLDER.items():
            if local.startswith(f"{kind}-"):
                target = f"{local}.html"
                text = (
                    f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
                    f'<meta http-equiv="refresh" content="0; url={target}"><link rel="canonical" href="{target}">'
                    f'</head><body><a href="{target}">{name}</a></body></html>\n'
                )
                (site / folder / f"{older}{local.removeprefix(kind)}.html").write_text(text, encoding="utf-8")


def _filled(text: str, library: Library, picture: str) -> str:
    """A page written by hand, with the places that are filled from the ledger."""
    chapters = "\n".join(f"chapters/{chapter.name}" for chapter in library.ledger.chapters)
    verdicts = [entry.statement.verdict for entry in library.entries.values()]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(sorted(verdicts)))
    commands = "\n\n".join(
        f"**{panel}**\n\n| command | what it does | for example |\n| --- | --- | --- |\n"
        + "\n".join(f"| `{name}` | {what} | `lemmata {EXAMPLES[name]}` |" for name, what in some.items())
        for panel, some in PANELS.items()
    )
    sections = committed_atlas()["sections"]
    mutants = json.loads((ROOT / "tests" / "mutants" / "results.json").read_text(encoding="utf-8"))
    draws = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "tests/mutants/draws").glob("*.json"))
    ]
    return (
        text.replace("<!-- slot: chapters -->", chapters)
        .replace("<!-- slot: atlas -->", atlas_contents())
        .replace("<!-- slot: commands -->", commands)
        .replace("<!-- slot: gaps -->", fenced(f'<div class="scrolling">{gap_picture(sections)}</div>', "{raw} html"))
        .replace("<!-- slot: unseen -->", fenced(unseen_map(sections["unseen"]["rows"]), "{raw} html"))
        .replace("<!-- slot: counts -->", f"{len(verdicts)} statements: {counts}")
        .replace("<!-- slot: drawn -->", drawn_table(library.ledger))
        .replace("<!-- slot: everywhere -->", everywhere_text(draws))
        .replace("<!-- slot: mutants -->", mutants_table(mutants))
        .replace("<!-- slot: papers -->", papers_list())
        .replace("<!-- slot: picture -->", picture)
        .replace("<!-- slot: survivors -->", survivors_list(mutants))
        .replace("<!-- slot: version -->", version("lemmata"))
    )


def _run_sphinx(work: Path, jobs: int) -> None:
    """Sphinx over the sources; any warning is an error, with its text."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    with (work / "warnings").open("w+", encoding="utf-8") as warnings, docutils_namespace():
        app = Sphinx(
            srcdir=work / "source",
            confdir=None,
            outdir=work / "html",
            doctreedir=work / "doctrees",
            buildername="html",
            confoverrides=CONFIGURATION
            | {
                "release": version("lemmata"),
                "html_static_path": [str(HERE / "static"), str((work / "source" / "statements.js").resolve())],
            },
            status=None,
            warning=warnings,
            parallel=jobs,
        )
        app.build()
        warnings.seek(0)
        said = warnings.read().replace(str(work / "source"), "").strip()
    if app.statuscode or said:
        raise SiteError(f"Sphinx warns:\n{said[:5000]}")


def broken_links(site: Path) -> Iterator[str]:
    """The links between pages that lead to no file or no place in it, each as a sentence."""
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}

    @functools.cache
    def places(page: str) -> set[str]:
        return set(_ANCHOR.findall((site / page).read_text(encoding="utf-8")))

    for here in sorted(name for name in files if name.endswith(".html")):
        for link in dict.fromkeys(_TARGET.findall((site / here).read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:|//", link) or not link:
                continue
            name, _, anchor = link.partition("#")
            path = unquote(name.partition("?")[0])
            goal = posixpath.normpath(posixpath.join(posixpath.dirname(here), path)) if name else here
            if goal not in files:
                yield f"{here} links to {link}, which does not exist"
            elif anchor and goal.endswith(".html") and unquote(anchor) not in places(goal):
                yield f"{here} links to {link}, a place that does not exist"


def remote_sources(site: Path) -> Iterator[str]:
    """The pages and styles that ask the network for a script, a style, a picture or a font, each as a sentence."""
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        if found := _REMOTE.search(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} asks the network: {found[0][:80]}"
