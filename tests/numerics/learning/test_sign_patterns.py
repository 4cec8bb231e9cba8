"""Bad input of the counts of signs. (What they bound: theorems/turing/test_sign_patterns.py.)"""

from __future__ import annotations

import pytest

from lemmata.numerics.learning.sign_patterns import (
    network_log_growth,
    sign_loss_sample_size,
    sign_pattern_bound,
    vc_bound,
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_pattern_bound(0, 1, 1), "number of polynomials"),
        (lambda: sign_pattern_bound(1, 0, 1), "degree"),
        (lambda: sign_pattern_bound(1, 1, 0), "number of variables"),
        (lambda: network_log_growth(0, 1, 1, 1), "number of inputs"),
        (lambda: network_log_growth(-1, 1, 1, 1), "number of inputs"),
        (lambda: network_log_growth(1, 0, 1, 1), "number of parameters"),
        (lambda: network_log_growth(1, 1, 0, 1), "width"),
        (lambda: vc_bound(1, 1, 0), "depth"),
        (lambda: sign_loss_sample_size(0, 1, 1, 1), "target must be positive"),
    ],
)
def test_bad_input_is_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_one_parameter_without_a_product() -> None:
    # 2^n <= (n + 1)(2 n + 1): 2^6 = 64 <= 7 * 13 and 2^7 = 128 > 8 * 15
    assert vc_bound(1, 1, 1) == 6
