"""Networks in NumPy's npz files: what another program reads, and what we read back.

A file holds the mass form (`hidden`, `readout`, `masses`, `degree`, `norm_squared`) and the actual weights
(`weights_hidden`, `weights_readout`), for which ((x @ weights_hidden.T) ** degree) @ weights_readout is the network;
for a group task also the Cayley table (`table`), which says what the inputs mean.
"""

from __future__ import annotations

import os
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.numerics.groups.tables import FiniteGroup
from lemmata.numerics.runs.files import write_atomically

__all__ = ["export_npz", "load_npz"]

FIELDS = ("hidden", "readout", "masses", "degree", "norm_squared")


def export_npz(network: HomogeneousNetwork, path: str | os.PathLike[str], group: FiniteGroup | None = None) -> Path:
    """Write a network to an npz file, in float64, and return its path; exact networks and balls are rounded.

    The file appears at one stroke, so that no reader ever sees a part of it. ValueError for a name that does not end in
    .npz and for a group whose order does not fit the network.
    """
    target = Path(path)
    if target.suffix != ".npz":
        raise ValueError(f"Networks are written to files whose name ends in .npz, not to {target.name}.")
    rounded = network.to_float()
    arrays = {name: np.asarray(getattr(rounded, name)) for name in FIELDS}
    arrays["weights_hidden"], arrays["weights_readout"] = rounded.weights()
    if group is not None:
        if network.hidden.shape[1] != 2 * group.order or network.readout.shape[1] != group.order:
            raise ValueError(
                f"A network for {group.name} has {2 * group.order} inputs and {group.order} outputs, but this one has "
                f"{network.hidden.shape[1]} and {network.readout.shape[1]}."
            )
        arrays["table"] = group.table
    buffer = BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_atomically(buffer.getvalue(), target)
    return target


def load_npz(path: str | os.PathLike[str]) -> HomogeneousNetwork:
    """Read the network that `export_npz` wrote, bit for bit, and check it.

    Raises ValueError for a file that is not such a network (no npz, fields missing, pickled objects, or anything that
    `HomogeneousNetwork` refuses), OSError for one that cannot be read.
    """
    with Path(path).open("rb") as stream:
        if not zipfile.is_zipfile(stream):
            raise ValueError(f"{path} is not an npz file.")
    with np.load(path, allow_pickle=False) as file:
        missing = [name for name in FIELDS if name not in file.files]
        if missing:
            raise ValueError(f"{path} holds no network: the fields {', '.join(missing)} are missing.")
        hidden, readout, masses, degree, norm_squared = (file[name] for name in FIELDS)
    if degree.shape != () or degree.dtype.kind not in "iu":
        raise ValueError(f"The degree in {path} must be an integer, but is {degree}.")
    return HomogeneousNetwork(hidden, readout, masses, int(degree), norm_squared)
