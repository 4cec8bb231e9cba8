"""Networks for sparse token regression: attention that retrieves tokens, recurrences that copy or store them."""
