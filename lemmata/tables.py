"""Tables of finite binary operations: what a network can learn of them, and what it says of cells that it never saw.

tables         Table
"""

from numerics.tables.table import Table

__all__ = ["Table"]
