"""Evaluators of a Turing-machine transformer: dense, exact, torch and indexed."""
