"""What the tests of the mutants need that is not always there."""

from importlib.util import find_spec

import pytest

needs_operators = pytest.mark.skipif(find_spec("cosmic_ray") is None, reason="needs the extra mutants (Cosmic Ray)")
needs_coverage = pytest.mark.skipif(find_spec("coverage") is None, reason="needs the extra mutants (coverage)")
