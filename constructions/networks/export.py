"""What has a torch module: the module of constructions that builds it is found by name when it is needed.

Such a translator imports the types that it translates, and torch, which is slow to import. So a type does not import
its translator but names it, and no circle of imports arises.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import torch

    from lemmata.constructions.networks.stream import ResidualStream

__all__ = ["Translated"]


class Translated:
    """The base of all types with a torch module.

    Attributes:
        translator: the module of constructions, without that word, where the torch module is registered. The class of
            the torch module says which parameters it has.
    """

    translator: ClassVar[str] = "networks.torch"

    def to_torch(self, *, dtype: torch.dtype | None = None, stream: ResidualStream | None = None) -> torch.nn.Module:
        """The torch module with the same weights; see `lemmata.constructions.networks.torch.to_torch`."""
        return import_module(f"lemmata.constructions.{self.translator}").to_torch(self, dtype=dtype, stream=stream)
