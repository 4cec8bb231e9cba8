"""The maximum margin of a group that is known by its character table alone: a conditional certificate.

The margin depends on the group through its order, its class sizes, its characters and their indicators only
(certificates/game/UNIVERSAL_MARGIN.md). Here these are given, not computed: `certify_character_table` has the table
checked by `lemmata.certificates.character_table_kernel`, for all that a table can show, and solves the game exactly.
What is proved says "if this is the character table of a group". Groups of every size are in reach, the Monster among
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lemmata.certificates import character_table_kernel, kernel
from lemmata.certificates.groups.character_table_files import library_file, read_character_table, table_of
from lemmata.certificates.groups.character_table_game import CharacterTableGame, CharacterTableStrategies, solve_game
from lemmata.certificates.groups.decimals import reciprocal_decimals
from lemmata.certificates.groups.format import Document
from lemmata.numerics.exact.integers import checked_integer

__all__ = ["CharacterTableMarginCertificate", "certify_character_table", "character_table_document"]


@dataclass(frozen=True, eq=False)
class CharacterTableMarginCertificate:
    """What `certify_character_table` proved about products of elements of every group with this table.

    ``data`` is the table as documents hold it, ``table`` the same as the kernel reads it, checked;
    ``game`` and ``strategies`` are the game that it defines, and an optimal pair.
    """

    data: Document
    table: character_table_kernel.Table
    game: CharacterTableGame
    strategies: CharacterTableStrategies

    @property
    def factors(self) -> int:
        """The number k of factors."""
        return self.game.factors

    def __repr__(self) -> str:
        lower, upper = self.enclosure(12)
        name = self.table.name
        return f"CharacterTableMarginCertificate({name}, factors {self.factors}, {lower}..{upper}, {self.grade})"

    @property
    def grade(self) -> str:
        """``exact``: the game of rational means is always solved exactly."""
        return "exact"

    @property
    def condition(self) -> str:
        """What is assumed, as text."""
        return character_table_kernel.condition(self.table)

    @cached_property
    def reciprocal_value(self) -> kernel.Radicals:
        """1/v as {m: q}, the sum of q sqrt(m), v the value of the game."""
        total: kernel.Radicals = {}
        rows = zip(self.table.degrees, self.table.indicators, self.strategies.masses, strict=True)
        for d, indicator, mass in rows:
            if mass:
                total = kernel.plus(total, kernel.payoff_scale(d, indicator, self.factors), mass)
        return total

    @cached_property
    def reciprocal_gamma(self) -> kernel.Radicals:
        """1/gamma as {m: q}, gamma the maximum margin."""
        return kernel.reciprocal_margin(self.reciprocal_value, self.table.order, self.factors)

    @property
    def value(self) -> str:
        """The value of the game in closed form, such as 1/(1/6 + 2/3*sqrt(2))."""
        return kernel.text(self.reciprocal_value)

    @property
    def gamma(self) -> str:
        """The maximum margin in closed form: attained by an explicit network, and not exceeded."""
        return kernel.text(self.reciprocal_gamma)

    def enclosure(self, digits: int = 30) -> tuple[str, str]:
        """Decimals ``lower <= gamma <= upper`` with ``digits`` significant digits, rounded outwards.

        Raises:
            ValueError: for fewer than one digit.
        """
        return reciprocal_decimals(self.reciprocal_gamma, self.reciprocal_gamma, digits)


def certify_character_table(table: str | Path | Mapping[str, Any], factors: int = 2) -> CharacterTableMarginCertificate:
    """The certificate of the maximum margin of products of k elements, conditional on a character table.

    Args:
        table: ``"ctbl:M"``, a table of the character table library (the optional extra ``gap``); the path of a file in
            the format of certificates/CHARACTER_TABLE_FORMAT.md; or what such a file holds.
        factors: the number k of factors, from 2 to `kernel.MAX_FACTORS`.

    Raises:
        ValueError: for what is no table, naming the first relation that it violates; for a missing indicator that
            cannot be derived; for a number of factors out of range; for a table beyond the limits of the kernel.
        OSError: for an unreadable file.
    """
    if checked_integer("The number of factors", factors, 2) > kernel.MAX_FACTORS:
        raise ValueError(f"The number of factors must be at most {kernel.MAX_FACTORS}, but is {factors}.")
    if isinstance(table, str) and table.startswith("ctbl:"):
        where, given = f"The table {table}", library_file(table.removeprefix("ctbl:"))
    elif isinstance(table, str | Path):
        where, given = f"The table in {table}", read_character_table(table)
    else:
        where, given = "The table", table
    data = table_of(given, where)
    try:
        parsed = character_table_kernel.Table(data)
        character_table_kernel.check_table(parsed)
    except kernel.MalformedError as error:
        raise ValueError(f"{where} cannot be used: {error}.") from error
    except kernel.ViolatedError as error:
        raise ValueError(f"{where} is not the character table of a group: {error}.") from error
    by_number = character_table_kernel.galois_means(parsed)
    means = [[by_number[x] for x in row] for row in parsed.values]
    game = CharacterTableGame(parsed.degrees, parsed.indicators, means, factors)
    return CharacterTableMarginCertificate(data, parsed, game, solve_game(game))


def character_table_document(certificate: CharacterTableMarginCertificate, digits: int = 30) -> Document:
    """The document of a certificate, for `certificates/character_table_kernel.py`; decimals have ``digits`` digits.

    Raises:
        ValueError: for fewer than one digit.
    """
    lower, upper = certificate.enclosure(digits)
    strategies = certificate.strategies
    return {
        "format": character_table_kernel.FORMAT,
        "version": character_table_kernel.VERSION,
        "table": certificate.data,
        "factors": certificate.factors,
        "scaled_masses": [str(y) for y in strategies.masses],
        "scaled_weights": [{str(m): str(q) for m, q in sorted(u.items())} for u in strategies.weights],
        "value": {"lower": certificate.value, "upper": certificate.value},
        "margin": {"exact": certificate.gamma, "lower": lower, "upper": upper},
        "grade": certificate.grade,
    }
