"""Learning sparse parities: resource trade-offs and sparse initialisation."""
