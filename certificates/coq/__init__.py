"""Theorems in Coq: the theory (*.v; README.md, GROUPS.md and DESCENT.md say what is proved) and what runs it."""
