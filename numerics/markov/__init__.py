"""Markov chains and in-context predictors: samplers, Bayes rules, losses, minimal models."""
