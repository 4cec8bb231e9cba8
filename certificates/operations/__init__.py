"""Certificates of the maximum margin of any finite binary operation, and of cells that were not given."""
