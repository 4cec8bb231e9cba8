"""Data of the toolkit do not change, but for what runs."""

import re
from pathlib import Path

import lemmata

ROOT = Path(lemmata.__file__).resolve().parents[1]
RUNNING = {
    "numerics/parity/architecture_training.py": {"ArchitectureRun"},
    "numerics/parity/compiled_training.py": {"CompiledRun"},
    "numerics/parity/quadratic_training.py": {"QuadraticLayers"},
    "numerics/parity/sinusoidal_neuron.py": {"SinusoidalNeurons", "NeuronCourses"},
    "numerics/parity/training.py": {"Network", "TrainingRun"},
    "numerics/turing/simulator.py": {"Tape"},
    "constructions/turing/evaluators/dense.py": {"_Memory"},
    "constructions/turing/evaluators/exact.py": {"_Layer"},
    "constructions/turing/evaluators/indexed.py": {"IndexedRun"},
    "constructions/turing/evaluators/indexed_program.py": {"_Map"},
    "constructions/turing/evaluators/outcomes.py": {"Outcome"},
    "constructions/turing/evaluators/sessions.py": {"IndexedSession"},
    "certificates/operations/programs_interior.py": {"_Point"},
    "theorems/records.py": {"Record"},
    "theorems/variable_creation/experiments/training.py": {"Course"},
}
"""What changes while something runs; all other data are frozen."""


def thawed(text: str) -> set[str]:
    """The dataclasses of a module without ``frozen=True``."""
    found = re.findall(r"^ *@(?:dataclasses\.)?dataclass(.*)\n(?: *@.*\n)*^ *class (\w+)", text, re.MULTILINE)
    return {name for words, name in found if "frozen=True" not in words}


def test_data_are_frozen_but_what_runs():
    assert thawed("@dataclass(frozen=False)\n@final\nclass A: ...\n@dataclasses.dataclass\nclass B: ...\n") == {
        "A",
        "B",
    }
    assert thawed("@dataclass(frozen=True)\nclass A: ...\nclass B: ...\n") == set()
    found = {}
    for package in ("numerics", "constructions", "certificates", "theorems", "lemmata"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if classes := thawed(path.read_text(encoding="utf-8")):
                found[path.relative_to(ROOT).as_posix()] = classes
    assert found == RUNNING
