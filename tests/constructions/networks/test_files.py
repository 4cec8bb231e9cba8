"""Files of networks: written at one stroke, read back to the last bit, and refused when spoiled."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lemmata.constructions.groups.any_type import any_group_network, quaternion_group_network
from lemmata.constructions.networks.files import export_npz, load_npz
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.inputs import group_inputs
from lemmata.constructions.representations.unitary import unitary_irreps
from lemmata.numerics.groups.tables import FiniteGroup, cyclic


class TestFiles:
    def network(self) -> HomogeneousNetwork:
        return any_group_network(unitary_irreps(cyclic(5)))

    def test_round_trip_is_bitwise(self, tmp_path: Path) -> None:
        network = self.network()
        path = export_npz(network, tmp_path / "z5.npz", cyclic(5))
        assert list(tmp_path.iterdir()) == [path]
        again = load_npz(path)
        for name in ("hidden", "readout", "masses"):
            assert np.array_equal(getattr(network, name), getattr(again, name))
        assert (again.degree, again.norm_squared) == (2, 15.0)

    def test_stranger_can_use_the_weights(self, tmp_path: Path) -> None:
        with np.load(export_npz(self.network(), tmp_path / "z5.npz", cyclic(5))) as file:
            outputs = (group_inputs(5) @ file["weights_hidden"].T) ** int(file["degree"]) @ file["weights_readout"]
            assert np.array_equal(outputs.argmax(axis=1), file["table"].reshape(-1))
        assert np.allclose(outputs, self.network()(group_inputs(5)), atol=1e-15)

    def test_exact_network_is_rounded(self, tmp_path: Path) -> None:
        again = load_npz(export_npz(quaternion_group_network(), tmp_path / "q8.npz"))
        assert again.arithmetic == "float"
        assert np.allclose(again(group_inputs(8)), quaternion_group_network()(group_inputs(8)), atol=1e-15)

    def test_torch_is_the_same_network(self, tmp_path: Path) -> None:
        import torch

        module = load_npz(export_npz(self.network(), tmp_path / "z5.npz")).to_torch()
        outputs = module(torch.as_tensor(group_inputs(5), dtype=torch.float64)).detach().numpy()
        assert np.allclose(outputs, self.network()(group_inputs(5)), atol=1e-15)

    def test_interrupted_write_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = export_npz(self.network(), tmp_path / "z5.npz")
        before = path.read_bytes()

        def fail(descriptor: int) -> None:
            raise OSError("disk full")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            export_npz(self.network(), path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("group", [cyclic(4), cyclic(6)])
    def test_wrong_group(self, tmp_path: Path, group: FiniteGroup) -> None:
        with pytest.raises(ValueError, match="has 10 and 5"):
            export_npz(self.network(), tmp_path / "z5.npz", group)

    def test_wrong_name(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="whose name ends in"):
            export_npz(self.network(), tmp_path / "z5.pt")

    @pytest.mark.parametrize("content", [b"", b"not a file of arrays", b"PK\x03\x04 truncated"])
    def test_foreign_files(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "x.npz"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not an npz file"):
            load_npz(path)

    def test_arrays_without_a_network(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", hidden=np.eye(2))
        with pytest.raises(ValueError, match="fields readout, masses, degree, norm_squared are missing"):
            load_npz(tmp_path / "x.npz")
        np.save(tmp_path / "y.npy", np.eye(2))
        with pytest.raises(ValueError, match="is not an npz file"):
            load_npz(tmp_path / "y.npy")

    def test_spoiled_network(self, tmp_path: Path) -> None:
        with np.load(export_npz(self.network(), tmp_path / "z5.npz")) as file:
            fields = dict(file)
        np.savez(tmp_path / "masses.npz", **{**fields, "masses": -fields["masses"]})
        with pytest.raises(ValueError, match="must be >= 0"):
            load_npz(tmp_path / "masses.npz")
        np.savez(tmp_path / "degree.npz", **{**fields, "degree": np.array(2.5)})
        with pytest.raises(ValueError, match="must be an integer"):
            load_npz(tmp_path / "degree.npz")
