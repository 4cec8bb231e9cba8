"""Models that are trained here in TransformerLens 4: read from their state dicts, and their losses proved.

TransformerLens has an environment of its own (`make lens`). Logits are those of its own forward pass, and all sequences
are run through it for the loss.
"""

import numpy as np
import pytest
import torch

from lemmata.certificates.induction.measured import certified_loss
from lemmata.constructions.networks.attention_checkpoints import attention_only
from tests.certificates.induction.test_plain_models import SEEN, train, uniform_loss
from tests.constructions.networks.test_transformer_lens import installed

pytestmark = pytest.mark.skipif(not installed(), reason="TransformerLens 4 is not installed.")


class Bridge(torch.nn.Module):
    """A TransformerBridge of attention alone, with biases and absolute positions, over the symbols 1, ..., k."""

    def __init__(self, k, layers, heads):
        super().__init__()
        from transformer_lens.config import TransformerBridgeConfig
        from transformer_lens.model_bridge import TransformerBridge

        settings = {"attn_only": True, "normalization_type": None, "positional_embedding_type": "standard"}
        config = TransformerBridgeConfig(
            n_layers=layers, d_model=8, n_ctx=SEEN, d_head=4, n_heads=heads, d_vocab=k, d_vocab_out=k,
            default_prepend_bos=False, dtype=torch.float64, device="cpu", **settings,
        )  # fmt: skip
        self.bridge = TransformerBridge.boot_native(config, dtype=torch.float64)
        torch.manual_seed(5)  # not its own weights: their biases are 0
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter, std=0.4)

    def forward(self, x):
        return self.bridge(x - 1)


@pytest.mark.parametrize(("k", "layers", "heads", "t"), [(2, 2, 2, 6), (3, 1, 2, 4)])
def test_a_trained_bridge_is_read_and_its_loss_proved(k, layers, heads, t):
    """Two layers of two heads over two symbols, one over three.

    Tolerance of the logits: float64 on both sides, 1e-11 as for the export; that of the loss as for `uniform_loss`.
    """
    module = train(Bridge(k, layers, heads), k, "uniform", 80)
    state = {name: value.detach().numpy() for name, value in module.bridge.state_dict().items()}
    model = attention_only(state, heads=heads).model
    x = np.random.default_rng(0).integers(1, k + 1, size=(50, SEEN))
    with torch.no_grad():
        logits = module(torch.from_numpy(x)).numpy()
    assert np.abs(logits - model(x)).max() < 1e-11
    assert np.ptp(logits) > 0.1
    low, high = certified_loss(model, t, start="uniform").proved.loss
    assert low - 1e-7 < uniform_loss(module, k, t) < high + 1e-7
    assert high - low < 1e-10
    # negative control: the heads in another order of the value alone are another model
    name = "blocks.0.attn.v.weight"
    moved = attention_only({**state, name: state[name][::-1]}, heads=heads).model
    assert np.abs(logits - moved(x)).max() > 1e-3
