"""Recurrent networks trained by stochastic gradient descent."""
