"""Weights of trained networks from files: what is recognised, and what is refused."""

import json
import struct
from typing import Any

import numpy as np
import pytest
import torch

from lemmata.constructions.groups.cyclic import modular_addition_network
from lemmata.constructions.networks.checkpoints import (
    OperationWeights,
    load_operation_weights,
    operation_weights,
    read_tensors,
)
from lemmata.constructions.networks.files import export_npz
from lemmata.constructions.networks.torch import to_torch

RANDOM = np.random.default_rng(3)
N, M = 5, 8
U, V, W = (RANDOM.normal(size=(N, M)) for _ in range(3))
BOTH = np.concatenate([U, V])


def same(found: OperationWeights, u: Any = U, v: Any = V, w: Any = W) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(found.parts, (u, v, w), strict=True))


@pytest.mark.parametrize(
    "tensors",
    [
        {"hidden": BOTH.T, "readout": W.T},
        {"net.hidden": BOTH.T, "net.readout": W.T},
        {"u": U, "v": V, "w": W},
        {"w": W, "u": U, "v": V},
        {"u": U.T, "v": V.T, "w": W.T},
        {"left.weight": U, "right.weight": V, "unembed.weight": W},
        {"left.weight": U, "right.weight": V, "unembed.weight": W.T},
        {"fc1.weight": BOTH.T, "fc2.weight": W},
        {"fc1.weight": BOTH.T, "fc1.bias": np.zeros(M), "fc2.weight": W, "fc2.bias": np.zeros(N)},
        {"W_in": BOTH, "W_out": W.T},
    ],
)
def test_weights_are_found_under_many_names(tensors):
    assert same(operation_weights(tensors, N, N, N))


class Embedded(torch.nn.Module):
    """An embedding for both arguments, or one for each, whose vectors lie side by side or are added."""

    def __init__(self, embeddings: int, added: bool) -> None:
        super().__init__()
        self.embeddings = torch.nn.ModuleList(torch.nn.Embedding(N, 3) for _ in range(embeddings))
        self.hidden = torch.nn.Linear(3 if added else 6, M, bias=False)
        self.readout = torch.nn.Linear(M, N, bias=False)
        self.added = added

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        left, right = self.embeddings[0](a), self.embeddings[-1](b)
        return self.readout(self.hidden(left + right if self.added else torch.cat([left, right], -1)) ** 2)


@pytest.mark.parametrize("embeddings", [1, 2])
@pytest.mark.parametrize("added", [False, True])
def test_embeddings_are_folded_in(embeddings, added):
    model = Embedded(embeddings, added).double()
    tensors = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    found = operation_weights(tensors, N, N, N)
    a, b = np.divmod(np.arange(N * N), N)
    with torch.no_grad():
        expected = model(torch.as_tensor(a), torch.as_tensor(b)).numpy()
    np.testing.assert_allclose((found.u[a] + found.v[b]) ** 2 @ found.w.T, expected, rtol=0, atol=1e-12)
    assert "folded into hidden.weight" in found.source
    with pytest.raises(ValueError, match="These are no weights for 6 rows"):
        operation_weights(tensors, N + 1, N, N)
    more = {
        "embeddings.0.weight": tensors["embeddings.0.weight"],
        "embed.position": np.ones((2, 3)),
        "embed": np.eye(N, 3),
    }
    with pytest.raises(ValueError, match=r"embed\.position"):  # a third one would be left out
        operation_weights(more | {name: tensors[name] for name in ("hidden.weight", "readout.weight")}, N, N, N)


def test_square_matrices_are_read_by_their_names_or_refused():
    u, v, w = (RANDOM.normal(size=(N, N)) for _ in range(3))
    with pytest.raises(ValueError, match=r"either axis.*neuron of zeros"):
        operation_weights({"a": u, "b": v, "c": w}, N, N, N)
    both, w = RANDOM.normal(size=(2 * N, 2 * N)), RANDOM.normal(size=(N, 2 * N))
    linear = operation_weights({"fc1.weight": both, "fc2.weight": w}, N, N, N)
    assert same(linear, both[:, :N].T, both[:, N:].T, w)
    exported = operation_weights({"hidden": both, "readout": w.T}, N, N, N)
    assert same(exported, both[:, :N].T, both[:, N:].T, w)
    with pytest.raises(ValueError, match="either axis"):
        operation_weights({"a": both, "b": w}, N, N, N)
    square, w = RANDOM.normal(size=(N, 2 * N)), RANDOM.normal(size=(N, N))  # as many neurons as labels
    assert same(operation_weights({"hidden": square, "readout": w}, N, N, N), square[:, :N].T, square[:, N:].T, w.T)
    assert same(operation_weights({"1.weight": square, "2.weight": w}, N, N, N), square[:, :N].T, square[:, N:].T, w)


def test_what_does_not_fit_is_refused_with_what_was_found():
    with pytest.raises(ValueError, match=r"fc1.bias of shape \(8,\) is not zero.*bias=False"):
        operation_weights({"fc1.weight": BOTH.T, "fc1.bias": np.ones(M), "fc2.weight": W}, N, N, N)
    with pytest.raises(ValueError, match=r"Found: u \(5, 8\), v \(5, 8\), w \(5, 8\). Accepted: hidden"):
        operation_weights({"u": U, "v": V, "w": W}, N, N, N + 1)
    with pytest.raises(ValueError, match="Found: no matrix"):
        operation_weights({}, N, N, N)
    with pytest.raises(ValueError, match="no weight matrix"):
        operation_weights({"u": U[None]}, N, N, N)
    with pytest.raises(ValueError, match=r"fc1.bias of shape \(8, 8\) is no weight matrix"):
        operation_weights({"fc1.bias": np.ones((M, M)), "u": U, "v": V}, N, N, N)
    with pytest.raises(ValueError, match="int64; weights are real"):
        operation_weights({"u": U.astype(int)}, N, N, N)
    with pytest.raises(ValueError, match="activation must be the square, but that of this network is x\\^3"):
        operation_weights({"weights_hidden": BOTH.T, "weights_readout": W.T, "degree": np.array(3)}, N, N, N)
    with pytest.raises(ValueError, match="not finite"):
        OperationWeights(U, np.full_like(V, np.nan), W)
    with pytest.raises(ValueError, match="All weights are zero"):
        OperationWeights(0 * U, 0 * V, 0 * W)
    with pytest.raises(ValueError, match="the same neurons"):
        OperationWeights(U, V, W[:, 1:])


@pytest.mark.parametrize("key", [None, "state_dict", "model_state_dict", "model"])
def test_a_state_dict_is_read(key, tmp_path):
    state = {name: torch.tensor(part, dtype=torch.float32) for name, part in zip("uvw", (U, V, W), strict=True)}
    torch.save(state if key is None else {key: state, "step": 7}, tmp_path / "model.pt")
    single = [part.astype(np.float32) for part in (U, V, W)]
    assert same(load_operation_weights(tmp_path / "model.pt", N, N, N), *single)


def test_bfloat16_is_read_exactly(tmp_path):
    state = {name: torch.tensor(part).bfloat16() for name, part in zip("uvw", (U, V, W), strict=True)}
    torch.save(state, tmp_path / "model.pt")
    assert same(
        load_operation_weights(tmp_path / "model.pt", N, N, N), *(part.double().numpy() for part in state.values())
    )


def test_our_own_files_are_read(tmp_path):
    network = modular_addition_network(N).to_float()
    hidden, readout = network.weights()
    torch.save(to_torch(network).state_dict(), tmp_path / "model.pt")
    export_npz(network, tmp_path / "model.npz")
    for name in ("model.pt", "model.npz"):
        found = load_operation_weights(tmp_path / name, N, N, N)
        assert same(found, hidden[:, :N].T, hidden[:, N:].T, readout.T)


def test_safetensors_are_read(tmp_path):
    header: dict[str, Any]
    header, body = {"__metadata__": {"by": "hand"}}, b""
    for name, part, kind, dtype in (("u", U, "F64", "<f8"), ("v", V, "F32", "<f4"), ("w", W, "F16", "<f2")):
        data = part.astype(dtype).tobytes()
        header[name] = {"dtype": kind, "shape": part.shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    data = np.array([1.5, -2.0], "<f4").view("<u4") >> 16
    header["x"] = {"dtype": "BF16", "shape": [2], "data_offsets": [len(body), len(body) + 4]}
    text = json.dumps(header).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(text)) + text + body + data.astype("<u2").tobytes())
    tensors = read_tensors(file)
    assert tensors["x"].tolist() == [1.5, -2.0]
    del tensors["x"]
    assert same(operation_weights(tensors, N, N, N), U, V.astype("<f4"), W.astype("<f2"))
    for broken in (b"", b"\xff" * 20, file.read_bytes()[:-20]):
        file.write_bytes(broken)
        with pytest.raises(ValueError, match="no safetensors file"):
            read_tensors(file)


class Trap:
    """An object whose pickle would run code."""

    def __reduce__(self):
        return (print, ("run",))


def test_malformed_files_are_refused(tmp_path, capsys):
    for name, said in (("model.npz", "no npz file"), ("model.pt", "reads safely")):
        (tmp_path / name).write_bytes(b"not a file of weights")
        with pytest.raises(ValueError, match=said):
            read_tensors(tmp_path / name)
    torch.save(Trap(), tmp_path / "trap.pt")
    with pytest.raises(ValueError, match="reads safely"):
        read_tensors(tmp_path / "trap.pt")
    np.savez(tmp_path / "trap.npz", u=np.array([Trap()], dtype=object))
    with pytest.raises(ValueError, match="no npz file"):
        read_tensors(tmp_path / "trap.npz")
    assert capsys.readouterr().out == ""
    torch.save([torch.ones(2)], tmp_path / "list.pt")
    with pytest.raises(ValueError, match="holds no state dict"):
        read_tensors(tmp_path / "list.pt")
    with pytest.raises(FileNotFoundError):
        read_tensors(tmp_path / "missing.pt")
    torch.save({"u": torch.ones(2, 2)}, tmp_path / "one.pt")
    with pytest.raises(ValueError, match=r"one.pt: .*Found: u \(2, 2\)"):
        load_operation_weights(tmp_path / "one.pt", N, N, N)
