"""Tables of finite binary operations: what a network can learn of them, and what it says of cells that it never saw.

tables         Table
unseen cells   unseen_cells: what all networks of nearly maximum margin say of the cells that are not given, certified;
               UnseenCells, UnseenCell
"""

from certificates.tables.unseen import UnseenCell, UnseenCells, unseen_cells
from numerics.tables.table import Table

__all__ = ["Table", "UnseenCell", "UnseenCells", "unseen_cells"]
