"""The experiments of this chapter; `lemmata experiment list` shows them."""

from lemmata.theorems.qstr.experiments.long_prompts import LONG_PROMPTS
from lemmata.theorems.qstr.experiments.query_key import QUERY_KEY
from lemmata.theorems.qstr.experiments.samples import SAMPLES

__all__ = ["EXPERIMENTS"]

EXPERIMENTS = (QUERY_KEY, SAMPLES, LONG_PROMPTS)
