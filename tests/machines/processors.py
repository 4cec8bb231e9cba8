"""The processors that are emulated, and what tells a process that it runs on one of them.

The libraries choose their kernels when they are loaded, by the processor that they find, and each lets an environment
variable choose for it: OpenBLAS, which serves NumPy and SciPy (`OPENBLAS_CORETYPE`), NumPy's own vectorised functions
(`NPY_DISABLE_CPU_FEATURES`), torch's (`ATEN_CPU_CAPABILITY`), the MKL in torch (`MKL_CBWR`) and Numba
(`NUMBA_CPU_NAME`). So another processor is a process with other variables, set before it starts; `effective` reads back
what the libraries chose.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

__all__ = [
    "MACHINES", "IllegalInstructionError", "Machine", "effective", "emulated", "environment", "not_emulated", "unlike",
    "without_choice",
]  # fmt: skip

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Machine:
    """A processor, by the kernels that libraries choose on it; None leaves the choice to the library.

    Attributes:
        name: as the command line has it.
        blas: the kernels of OpenBLAS.
        numpy: the widest vectors of NumPy's own functions: "sse", "avx2" or "avx512".
        torch: the capability of torch: "DEFAULT", "AVX2" or "AVX512".
        mkl: the code path of the MKL, under torch only.
        numba: the processor that Numba compiles for.
        threads: of BLAS and torch.
    """

    name: str
    blas: str | None = None
    numpy: str | None = None
    torch: str | None = None
    mkl: str | None = None
    numba: str | None = None
    threads: int | None = None


MACHINES = (
    Machine("here", threads=1),
    Machine("prescott", "Prescott", "sse", "DEFAULT", "COMPATIBLE", "generic", 2),
    Machine("nehalem", "Nehalem", "sse", "DEFAULT", "COMPATIBLE", "generic", 1),
    Machine("sandybridge", "Sandybridge", "sse", "DEFAULT", "COMPATIBLE", "sandybridge", 2),
    Machine("haswell", "Haswell", "avx2", "AVX2", None, "haswell", 1),
    Machine("zen", "Zen", "avx2", "AVX2", None, "znver1", 2),
    Machine("skylakex", "SkylakeX", "avx512", "AVX512", None, "skylake-avx512", 2),
    Machine("skylakex-one-thread", "SkylakeX", "avx512", "AVX512", None, "skylake-avx512", 1),
)
"""The processor of this machine, as `make test` runs it, six others, and one of them with a single thread."""

_KERNELS = {"Prescott": ("Prescott", "Katmai"), "Zen": ("Zen", "Haswell")}
"""The names by which OpenBLAS reports what it was asked for, where it has no kernels of that name alone."""

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_VARIABLES = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "MKL_CBWR", "NUMBA_CPU_NAME",
              *_THREADS)  # fmt: skip
_WIDER = {"sse": ("X86_V3", "AVX2", "FMA3", "X86_V4", "AVX512"), "avx2": ("X86_V4", "AVX512"), "avx512": ()}
"""What the names of NumPy's dispatched features begin with that are switched off for each width."""


class IllegalInstructionError(RuntimeError):
    """A process was stopped by a signal: the libraries were told to use kernels that this processor cannot run."""


def emulated(machine: Machine, dispatched: list[str]) -> tuple[dict[str, Any], str | None]:
    """What the libraries of a machine choose here, and why it cannot be emulated, or None if it can.

    Args:
        machine: the processor.
        dispatched: as for `environment`.
    """
    try:
        chosen = effective(without_choice() | environment(machine, dispatched))
    except IllegalInstructionError as error:
        return {}, str(error)
    return chosen, not_emulated(machine, chosen)


def _disabled(width: str, dispatched: list[str]) -> list[str]:
    return [feature for feature in dispatched if feature.startswith(_WIDER[width])]


def without_choice() -> dict[str, str]:
    """The variables of this process, without those by which somebody has chosen kernels."""
    return {key: value for key, value in os.environ.items() if key not in _VARIABLES}


def environment(machine: Machine, dispatched: list[str]) -> dict[str, str]:
    """The variables, in addition to `without_choice`, that turn a process into the machine.

    Args:
        machine: the processor.
        dispatched: the features for which this NumPy has functions of its own (`effective` lists them).
    """
    threads = None if machine.threads is None else str(machine.threads)
    disabled = None if machine.numpy is None else " ".join(_disabled(machine.numpy, dispatched))
    wanted = {
        "OPENBLAS_CORETYPE": machine.blas,
        "NPY_DISABLE_CPU_FEATURES": disabled or None,
        "ATEN_CPU_CAPABILITY": machine.torch and machine.torch.lower(),
        "MKL_CBWR": machine.mkl,
        "NUMBA_CPU_NAME": machine.numba,
        **dict.fromkeys(_THREADS, threads),
    }
    return {name: value for name, value in wanted.items() if value is not None}


def effective(variables: Mapping[str, str]) -> dict[str, Any]:
    """What the libraries choose in a process with exactly these variables; `_report` says it there.

    Raises:
        IllegalInstructionError: if the process was stopped by a signal, as by kernels that this processor cannot run.
        RuntimeError: if the process fails.
    """
    command = [sys.executable, "-m", "tests.machines.processors"]
    done = subprocess.run(command, cwd=ROOT, env=dict(variables), capture_output=True, text=True)
    if done.returncode < 0:
        raise IllegalInstructionError(f"its kernels do not run here ({signal.Signals(-done.returncode).name})")
    if done.returncode:
        raise RuntimeError(f"The processor cannot be asked:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def not_emulated(machine: Machine, found: Mapping[str, Any]) -> str | None:
    """Why a process is not the machine, or None if it is.

    Args:
        machine: what was asked for.
        found: what the libraries of the process chose, from `effective`.
    """
    if machine != MACHINES[0] and found["processor"] not in ("x86_64", "AMD64"):
        return f"a processor of kind {found['processor'] or 'unknown'}"
    wanted = {
        "OpenBLAS": (
            found["blas"] if found["blas"] in _KERNELS.get(machine.blas or "", ()) else machine.blas,
            found["blas"],
        ),
        "NumPy without": (_disabled(machine.numpy, found["dispatched"]) if machine.numpy else [], found["disabled"]),
        "torch": (machine.torch, found["torch"]),
        "MKL": (machine.mkl, found["mkl"]),
        "Numba": (machine.numba, found["numba"]),
        "threads of OpenBLAS": (machine.threads, found["threads"]),
        "threads of torch": (machine.threads, found["torch threads"]),
    }
    odd = [f"{what} {got} for {want}" for what, (want, got) in wanted.items() if want is not None and got != want]
    if machine.numpy == "avx512" and not any(one.startswith(("X86_V4", "AVX512")) for one in found["supported"]):
        odd.append("no AVX-512 here")
    return ", ".join(odd) or None


def unlike(found: Mapping[str, Any], count: int) -> list[Machine]:
    """Machines that can be emulated here, with kernels of BLAS unlike those that were found: widest vectors first.

    Args:
        found: what the libraries chose, from `effective`.
        count: how many; fewer where there are not so many.
    """
    named = {machine.name: machine for machine in MACHINES}
    others = (named[name] for name in ("skylakex", "nehalem", "haswell", "sandybridge"))
    possible = (one for one in others if one.blas != found["blas"] and emulated(one, found["dispatched"])[1] is None)
    return list(islice(possible, count))


def _report() -> dict[str, Any]:
    """What the libraries of this process chose."""
    import numba.core.registry
    import numpy as np
    import scipy.linalg
    import threadpoolctl
    import torch
    from numpy._core import _multiarray_umath as kernels

    scipy.linalg.eigh(np.eye(2) @ np.eye(2))  # both copies of OpenBLAS are loaded and have chosen
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"]
    chosen = sorted({str(pool["architecture"]) for pool in pools})
    threads = sorted({int(pool["num_threads"]) for pool in pools})
    dispatched = [str(feature) for feature in kernels.__cpu_dispatch__]
    codegen: Any = numba.core.registry.cpu_target.target_context.codegen()
    switched_off = os.environ.get("NPY_DISABLE_CPU_FEATURES", "").split()
    return {
        "processor": platform.machine(),
        "blas": chosen[0] if len(chosen) == 1 else ", ".join(chosen),
        "threads": threads[0] if len(threads) == 1 else threads,
        "dispatched": dispatched,
        "supported": [feature for feature in dispatched if kernels.__cpu_features__.get(feature)],
        "disabled": [one for one in dispatched if one in switched_off and not kernels.__cpu_features__.get(one)],
        "torch": torch.backends.cpu.get_cpu_capability(),
        "torch threads": torch.get_num_threads(),
        "mkl": _code_path(),
        "numba": codegen._get_host_cpu_name(),
    }


def _code_path() -> str | None:
    """The code path of the MKL, as it reports each call, None without an MKL or without a choice."""
    wanted = os.environ.get("MKL_CBWR")
    import torch

    if wanted is None or not torch.backends.mkl.is_available():
        return None
    done = subprocess.run(
        [sys.executable, "-c", "import torch; torch.ones(64, 64) @ torch.ones(64, 64)"],
        env=os.environ | {"MKL_VERBOSE": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [word.removeprefix("CNR:") for word in done.stdout.split() if word.startswith("CNR:")]
    return found[0] if found else None


if __name__ == "__main__":
    print(json.dumps(_report()))
