"""What pytest loads by its entry point in every project of the environment: it does nothing where nobody asks.

`lemmata.theorems.plugin` is loaded, with its options, its fixture and its Hypothesis profiles, if the command line has
``--lemmata``, the configuration of the project the line ``lemmata = true``, or if what is run lies in a chapter of the
ledger, is one, or contains one (an environment inside the project does not count).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lemmata.theorems.places import package_folder


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two ways to ask: an option and a line of the configuration."""
    words = "load the ledger of Lemmata and its options (see --lemmata --help)"
    parser.getgroup("lemmata").addoption("--lemmata", action="store_true", help=words)
    parser.addini("lemmata", words, type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Load the ledger's plugin if it is asked for."""
    if not early_config.pluginmanager.is_blocked("lemmata-ledger") and _asked(early_config):
        from lemmata.theorems import plugin

        if not early_config.pluginmanager.is_registered(plugin):
            early_config.pluginmanager.register(plugin, "lemmata-ledger")


def _asked(config: pytest.Config) -> bool:
    given = config.known_args_namespace
    if given.lemmata or getattr(config.option, "lemmata", False) or config.getini("lemmata"):
        return True
    from lemmata.theorems.ledger import THEOREMS, LedgerError, foreign_folders

    try:
        chapters = [THEOREMS, *foreign_folders()]
    except LedgerError:  # of somebody else: said where the ledger is wanted
        chapters = [THEOREMS]
    return any(_reaches(path, chapter) for path in _paths(config) for chapter in chapters)


def _paths(config: pytest.Config) -> Iterator[Path]:
    """The files and folders that pytest is asked to run."""
    given, here = config.known_args_namespace, config.invocation_params.dir
    words = [str(word).partition("::")[0] for word in given.file_or_dir]
    places = [(here / word).resolve() for word in words if (here / word).exists()]
    if given.pyargs:
        places += [found for word in words if (found := package_folder(word)) is not None]
    yield from places or [here.resolve()]


def _reaches(path: Path, chapter: Path) -> bool:
    """Whether a path lies in a chapter, is it, or contains it, but for one in an environment or a hidden folder."""
    if path.is_relative_to(chapter):
        return True
    between = chapter.relative_to(path).parts if chapter.is_relative_to(path) else ("site-packages",)
    return not any(part in ("site-packages", "dist-packages") or part.startswith(".") for part in between)
