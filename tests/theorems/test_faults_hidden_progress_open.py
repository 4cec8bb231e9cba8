"""Faults planted in classes of signs, sizes of runs, features and sign ranks: the deciding checks on them see them."""

from __future__ import annotations

from typing import Any

import pytest

from lemmata.theorems.hidden_progress import test_sgd_sizes, test_sign_classes
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten

READOUT = test_sign_classes.class_readout
PROBABILITY = test_sign_classes.no_class_probability
BOUND = test_sign_classes.no_class_bound
SEED = 1  # its first full class has the parity -1
MOMENT, REGRET, LOSS = test_sgd_sizes.feature_moment, test_sgd_sizes.regret_bound, test_sgd_sizes.sgd_loss_bound
CLASSES: dict[str, Any] = {"classes": 2, "levels": 3, "needed": 2, "pairs": 4}

FAULTS = [
    *(
        Fault(
            name,
            "lemma-B.5",
            test_sign_classes,
            "test_some_class_of_the_network_is_the_parity",
            test_sign_classes,
            "class_readout",
            rewritten(READOUT, old, new),
            {"seed": SEED},
        )
        for name, old, new in (
            ("the sign of the class forgotten", "int(np.prod(pattern)) * weight", "weight"),
            ("the levels shifted by one", "level - k // 2 - 1", "level - k // 2"),
            ("the second neurons taken for the first", "p + len(w)", "p"),
            ("the read-out weights at the start forgotten", "u[:, None] * w", "w"),
        )
    ),
    Fault(
        "the weights larger by a fiftieth",
        "lemma-B.5",
        test_sign_classes,
        "test_some_class_of_the_network_is_the_parity",
        test_sign_classes,
        "class_readout",
        lambda *args: 51 * READOUT(*args) // 50,
        {"seed": 0},
    ),
    *(
        Fault(
            name,
            "lemma-B.5",
            test_sign_classes,
            "test_no_class_is_complete_as_often_as_stated",
            test_sign_classes,
            "no_class_probability",
            rewritten(PROBABILITY, old, new),
            CLASSES,
        )
        for name, old, new in (
            ("one level less needed", "(y - 1) ** needed", "(y - 1) ** (needed - 1)"),
            ("one pair less", "fmpq(m, cells) ** pairs", "fmpq(m, cells) ** (pairs - 1)"),
            ("one class forgotten", "** classes", "** (classes - 1)"),
        )
    ),
    *(
        Fault(
            name,
            "lemma-B.5",
            test_sign_classes,
            "test_no_class_is_complete_as_often_as_stated",
            test_sign_classes,
            "no_class_bound",
            rewritten(BOUND, old, new),
            {"classes": 1, "levels": 3, "needed": 2, "pairs": 4},
        )
        for name, old, new in (("the needed levels counted twice", "arb(pairs) - needed", "arb(pairs) + needed"),)
    ),
    Fault(
        "the classes forgotten in the bound",
        "lemma-B.5",
        test_sign_classes,
        "test_the_printed_width_suffices",
        test_sign_classes,
        "no_class_bound",
        rewritten(BOUND, "** classes", "** 1"),
        {"k": 4, "delta": test_sign_classes.fmpq(1, 10)},
    ),
    *(
        Fault(
            name,
            statement,
            test_sgd_sizes,
            "test_second_moments_of_features",
            test_sgd_sizes,
            "feature_moment",
            rewritten(MOMENT, old, new),
            {"n": 7, "k": 4},
        )
        for statement in ("theorem-5.5-full", "informal-theorem-5.2")
        for name, old, new in (
            ("the relevant weights forgotten", "k * relevant**2 + ", ""),
            ("the irrelevant weights forgotten", "(n - k) * irrelevant**2 + ", ""),
            ("the bias larger by a fiftieth", "fmpq(k - 1, k) + error", "fmpq(51 * (k - 1), 50 * k) + error"),
            ("the error of the bias forgotten", "fmpq(k - 1, k) + error", "fmpq(k - 1, k)"),
        )
    ),
    *(
        Fault(
            name,
            "theorem-5.5-full",
            test_sgd_sizes,
            "test_the_regret_is_attained",
            test_sgd_sizes,
            "regret_bound",
            rewritten(REGRET, old, new),
            {"steps": 10},
        )
        for name, old, new in (
            ("the distance counted once instead of half", "(2 * rate * steps)", "(rate * steps)"),
            ("the noise larger by a fiftieth", "moment / 2", "moment * fmpq(51, 100)"),
            ("the noise forgotten", " + rate * moment / 2", ""),
        )
    ),
    *(
        Fault(
            name,
            "theorem-5.5-full",
            test_sgd_sizes,
            "test_the_printed_width_rate_and_steps_suffice",
            test_sgd_sizes,
            "sgd_loss_bound",
            rewritten(LOSS, old, new),
            {"k": 4, "epsilon": test_sgd_sizes.fmpq(1, 10)},
        )
        for name, old, new in (
            ("the fit larger by a fiftieth", "fit=arb(epsilon) / 4", "fit=arb(epsilon) * 51 / 200"),
            ("the entries of one neuron alone", "batch=2 * width * (n + 1)", "batch=2 * (n + 1)"),
            ("the exponent larger by a fiftieth", "tau**2 / 2", "tau**2 * 51 / 100"),
            ("the readout larger by a fiftieth", "arb(64 * k**3), moment", "arb(64 * k**3) * 51 / 50, moment"),
            ("the irrelevant inputs forgotten", " + arb(fmpq(k - 1, 2 * k * (n - k))) * root", ""),
        )
    ),
    Fault(
        "the readout larger by a half",
        "informal-theorem-5.2",
        test_sgd_sizes,
        "test_steps_without_n_suffice",
        test_sgd_sizes,
        "sgd_loss_bound",
        rewritten(LOSS, "arb(64 * k**3), moment", "arb(64 * k**3) * 3 / 2, moment"),
        {"k": 20, "epsilon": test_sgd_sizes.fmpq(1, 10)},
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "hidden-progress", monkeypatch)
