"""Executable statements, one package per chapter, and the ledger that records their verdicts."""
