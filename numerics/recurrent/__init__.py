"""Recurrent networks at initialisation: complexities of target functions, Gaussian indicators, separation of states."""
