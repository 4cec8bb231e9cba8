"""Max-margin networks for modular addition, sparse parity and finite groups."""
