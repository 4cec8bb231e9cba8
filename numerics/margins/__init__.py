"""Margins of networks: evaluation in blocks, and their maximisation by ascent and descent."""
