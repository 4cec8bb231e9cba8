"""Max-margin networks for products in finite groups."""
