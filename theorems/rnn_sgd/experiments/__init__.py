"""The experiments of this chapter; `lemmata experiment list` shows them."""

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = ()
