"""Sample thresholds of networks of least norm: reports, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from lemmata.certificates.tokens.minimum_norm import (
    coded_chance,
    coded_norm,
    generalising_norm,
    interpolation_norm,
    minimum_norm_report,
    narrow_samples,
    wide_samples,
)


def test_reports_hold_both_cases() -> None:
    report = minimum_norm_report(10**12, 2, "1/100", "1/2")
    assert (report.wide, report.samples, report.coded) == (21, 21, 332_264)
    assert report.narrow is not None
    assert report.narrow > 10**6
    assert minimum_norm_report(10**12, 2).narrow is None
    assert minimum_norm_report(1000, 2).samples == 0  # too few tokens for a statement
    steep = minimum_norm_report(10**12, 2, "1/100", "99/100")
    assert steep.narrow == steep.samples == 0 or (steep.narrow is not None and steep.narrow < 100)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interpolation_norm(0, 2), "The number of samples must be an integer >= 1"),
        (lambda: interpolation_norm(1, 1), "The depth must be an integer >= 2, not 1"),
        (lambda: coded_norm(1, 1), "The depth must be an integer >= 2, not 1"),
        (lambda: coded_norm(0, 2), "The number of samples must be an integer >= 1"),
        (lambda: coded_chance(0, 1), "The number of tokens must be an integer >= 1"),
        (lambda: generalising_norm(1, 2, 0), "must be an integer >= 2, not 1"),
        (lambda: wide_samples(10, 2, 1), "risks below"),
        (lambda: narrow_samples(10, 2, 0, 1), "0 <= c < 1, not c = 1"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
