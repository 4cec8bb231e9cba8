"""Networks for sparse parities."""
