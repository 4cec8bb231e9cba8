"""Character tables on which the tests of the margin game play it."""

import numpy as np

from certificates.characters.tables import CharacterTable, cyclic_characters, product_characters, symmetric_characters


def quaternion_table() -> CharacterTable:
    """The table of Q_8; the values are those of D_4, the map of squares is not."""
    values = np.array(
        [[1, 1, 1, 1, 1], [1, 1, 1, -1, -1], [1, 1, -1, 1, -1], [1, 1, -1, -1, 1], [2, -2, 0, 0, 0]], dtype=object
    )
    names = ("e", "-1", "i", "j", "k")
    return CharacterTable(
        "Q8", values, (1, 1, 2, 2, 2), (0, 0, 1, 1, 1), (0, 1, 2, 3, 4), names, ("1", "i", "j", "k", "H")
    )


TABLES = {
    "Z2": lambda: cyclic_characters(2),
    "Z9": lambda: cyclic_characters(9),
    "Z12": lambda: cyclic_characters(12),
    "S5": lambda: symmetric_characters(5),
    "S6": lambda: symmetric_characters(6),
    "S7": lambda: symmetric_characters(7),
    "Q8": quaternion_table,
    "Z3xS3": lambda: product_characters(cyclic_characters(3), symmetric_characters(3)),
    "Q8xS3": lambda: product_characters(quaternion_table(), symmetric_characters(3)),
    "Z2xS5": lambda: product_characters(cyclic_characters(2), symmetric_characters(5)),
}
