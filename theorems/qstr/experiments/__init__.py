"""The experiments of this chapter; `lemmata experiment list` shows them."""

from theorems.qstr.experiments.long_prompts import LONG_PROMPTS
from theorems.qstr.experiments.query_key import QUERY_KEY
from theorems.qstr.experiments.samples import SAMPLES

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (QUERY_KEY, SAMPLES, LONG_PROMPTS)
