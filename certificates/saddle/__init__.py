"""Saddle pairs: a network and a distribution of wrong labels that prove each other optimal."""
