"""Certified losses of trained induction heads, and their circuits beside those of a constructed one."""
