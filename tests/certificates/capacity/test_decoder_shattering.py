"""Sizes and bad input of the recalling decoder. (What it proves: theorems/turing/test_shattering_decoders.py.)"""

from __future__ import annotations

import pytest

from lemmata.certificates.capacity import decoder_shattering
from lemmata.certificates.capacity.decoder_shattering import RecallingDecoder


def test_sizes() -> None:
    decoder = RecallingDecoder(3, 5)
    assert (decoder.bits, decoder.points, decoder.stream, decoder.width) == (3, 15, 11, 13)
    assert decoder.words().shape == (15, 5)
    assert decoder.words()[7].tolist() == [0, 0, 2, 0, 0]


def test_bad_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="number of letters"):
        RecallingDecoder(0, 2)
    with pytest.raises(ValueError, match="number of steps"):
        RecallingDecoder(1, 0)
    with pytest.raises(ValueError, match="labels 0 or 1"):
        RecallingDecoder(1, 2).start([0, 2])
    with pytest.raises(ValueError, match="labellings"):
        RecallingDecoder(5, 5).certify()
    monkeypatch.setattr(decoder_shattering, "LARGEST_LABELLINGS", 8)
    assert RecallingDecoder(3, 1).certify() == 3
    with pytest.raises(ValueError, match="2\\^4 labellings, more than 8"):
        RecallingDecoder(2, 2).certify()
