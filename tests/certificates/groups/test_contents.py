"""What is read back from a document: an optimal pair of the game, whatever the order of its rows."""

import numpy as np
import pytest

from lemmata.certificates import kernel
from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.game.margin_game import MarginGame, verify
from lemmata.certificates.groups.certify import certify_group
from lemmata.certificates.groups.contents import shares, solution_of, table_of
from lemmata.certificates.groups.document import document_of
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.groups.report import margin_report
from lemmata.numerics.groups.names import parse_group
from tests.certificates.documents import margin_document

NAMES = ["Z2", "S3", "D4", "Q8", "Z5", "Z7", "Z12", "A4", "Dic3", "C7:C3", "SL(2,3)", "A5", "S5", "S6", "PSL(2,7)"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factors", [2, 3])
def test_shares_are_an_optimal_pair_of_the_game(name, factors):
    """Read back from the document, masses and weights satisfy the checks of another module in another field."""
    document = margin_document(name, factors)
    game = MarginGame(character_table(parse_group(name)), factors)
    value, masses, weights = shares(document)
    table = game.table
    conjugates = [
        next(S for S in range(len(table.values)) if all(table.values[S] == row[list(table.inverses)]))
        for row in table.values
    ]
    eps = [masses[R] if conjugates[R] == R else masses[R] + masses[conjugates[R]] for R in game.rows]
    t = [weights[C] if table.inverses[C] == C else weights[C] + weights[table.inverses[C]] for C in game.columns]
    solution = verify(game, value, np.array(eps, dtype=object), np.array(t, dtype=object))
    assert float(solution.gamma) == pytest.approx(float(document["margin"]["lower"]), rel=1e-15)


def test_a_document_of_a_stranger_is_read_in_its_own_order():
    """Rows in another order, 1 written as -zeta - zeta^2: the same solution."""
    document = document_of(certify_group(parse_group("Z3")))
    document["characters"]["rows"].reverse()
    document["characters"]["rows"][-1]["values"][1] = [[-1, 1], [-1, 2]]
    kernel.check(dumps(document))
    assert [irrep.name for irrep in margin_report(document).irreps] == ["1a and 1b"]
    assert all(value == 1 for value in table_of(document).values[0])
    assert solution_of(document).gamma == certify_group(parse_group("Z3")).gamma
