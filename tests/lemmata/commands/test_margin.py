"""`lemmata margin`."""

import json
from fractions import Fraction

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

import lemmata as lm
from lemmata.certificates.operations.certify import certify_operation
from lemmata.commands import margin as command
from lemmata.commands.console import out
from lemmata.constructions.networks.files import export_npz
from lemmata.numerics.operations.names import parse_operation
from lemmata.reports.margin import _plot_cells, _plot_representations
from tests.lemmata.commands.runner import run


@pytest.fixture(scope="module")
def optimal(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "s3.pt"
    torch.save(lm.to_torch(lm.optimal_network(lm.certify("S3"))).state_dict(), file)
    return file


def test_an_optimal_network_attains_the_maximum(optimal, tmp_path):
    picture = tmp_path / "s3.png"
    code, output, _ = run("margin", str(optimal), "--group", "S3", "--picture", str(picture))
    assert code == 0
    assert "right on 36 of 36 cells normalised margin 0.0236049693105" in output
    assert "exact; the kernel has just accepted the certificate deficit 0 % of the maximum" in output
    assert "1b 1 0.150221 0.150221" in output
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_numbers_are_whole_in_forty_columns(optimal, monkeypatch):
    monkeypatch.setattr(out, "width", 40)
    output = run("margin", str(optimal), "--group", "S3")[1]
    assert "1b: share 0.150221, optimal 0.150221" in output
    assert "…" not in output


def test_a_perturbed_weight_changes_the_report(optimal, tmp_path):
    state = torch.load(optimal, weights_only=True)
    state["readout"][3, 2] *= 1.02
    torch.save(state, tmp_path / "perturbed.pt")
    reports = [
        json.loads(run("margin", str(file), "--group", "S3", "--json")[1])
        for file in (optimal, tmp_path / "perturbed.pt")
    ]
    assert reports[0]["deficit"]["at_least"] <= 0 <= reports[0]["deficit"]["at_most"] < 1e-12
    assert reports[1]["deficit"]["at_least"] > 1e-4
    assert reports[0]["representations"] != reports[1]["representations"]
    assert reports[0]["maximum"] == reports[1]["maximum"]


def test_the_report_and_its_data_say_the_same_of_unbalanced_neurons(optimal, tmp_path):
    state = torch.load(optimal, weights_only=True)
    state["hidden"][0] *= 2
    state["readout"][0] /= 4  # the same function with a larger norm
    torch.save(state, tmp_path / "unbalanced.pt")
    task = ("margin", str(tmp_path / "unbalanced.pt"), "--group", "S3")
    report, text = json.loads(run(*task, "--json")[1]), run(*task)[1]
    maximum = float(lm.certify("S3").gamma)
    assert report["margin"] < 0.99 * maximum
    assert report["balanced"]["margin"] == pytest.approx(maximum, rel=1e-12)
    assert abs(report["balanced"]["deficit"]) < 1e-12
    deficit = 1 - report["margin"] / maximum
    assert report["deficit"]["at_least"] <= deficit <= report["deficit"]["at_most"] < deficit + 1e-12
    assert f"normalised margin {report['margin']:.12g}" in text
    assert f"deficit {100 * deficit:.6g} % of the maximum" in text
    assert "0 % for the same function, neurons balanced" in text


def test_dimensions_are_those_of_real_representations(tmp_path):
    for name, dimensions in (("Q8", [1, 1, 1, 1, 4]), ("Z5", [1, 2, 2]), ("S3", [1, 1, 2])):
        export_npz(lm.optimal_network(lm.certify(name)), tmp_path / "network.npz")
        report = json.loads(run("margin", str(tmp_path / "network.npz"), "--group", name, "--json")[1])
        assert sorted(line["dimension"] for line in report["representations"]) == dimensions
        assert [line["share"] for line in report["representations"]] == pytest.approx(
            [line["optimal"] for line in report["representations"]], abs=1e-10
        )


def test_a_certificate_that_the_kernel_refuses_gives_no_deficit(optimal, monkeypatch):
    written = command.document_of

    def altered(certificate):
        document = written(certificate)
        bounds = document["margin"]
        return {**document, "margin": {**bounds, "upper": str(Fraction(bounds["upper"]) * 2)}}

    monkeypatch.setattr(command, "document_of", altered)
    code, output, error = run("margin", str(optimal), "--group", "S3")
    assert (code, output) == (2, "")
    assert "The kernel does not accept the certificate of S3, so there is no deficit" in error


def test_the_picture_shows_the_cells_and_the_shares(optimal, tmp_path):
    state = torch.load(optimal, weights_only=True)
    state["readout"][3, 2] *= 1.02
    torch.save(state, tmp_path / "perturbed.pt")
    result = command._of_group(tmp_path / "perturbed.pt", "S3", 10**6)
    cells, bars = Figure().subplots(1, 2)
    _plot_cells(cells, result)
    _plot_representations(bars, result)
    drawn = np.asarray(cells.lines[0].get_ydata(), float)
    assert len(drawn) == 36
    assert drawn[0] == pytest.approx(result.measured.margin / float(lm.certify("S3").gamma), rel=1e-12)
    heights = [patch.get_height() for patch in bars.patches]
    lines = result.representations
    assert heights == [*(line.share for line in lines), *(line.optimal for line in lines)]
    assert heights[: len(lines)] != heights[len(lines) :]


def test_training_shrinks_the_deficit(tmp_path):
    table = lm.certify("S3").group.to_finite_group().table
    start = lm.margins.GroupWeights(*np.random.default_rng(0).normal(scale=0.3, size=(3, 6, 40)))
    _, seen = lm.margins.train_on_group(
        start,
        table,
        "square",
        penalty=("cubic", 1e-5),
        rate=lambda _: 0.2,
        steps=8000,
        record=lambda _, weights: {name: getattr(weights, name).copy() for name in "uvw"},
        record_at=(0, 2000, 8000),
    )
    reports = []
    for arrays in seen:
        np.savez(tmp_path / "trained.npz", **arrays)
        reports.append(json.loads(run("margin", str(tmp_path / "trained.npz"), "--group", "S3", "--json")[1]))
    deficits = [report["deficit"]["at_least"] for report in reports]
    assert deficits[0] > 1 > deficits[1] > deficits[2] > 1e-6
    assert reports[0]["right"] < 1
    assert reports[2]["right"] == 1
    assert reports[2]["neurons"] == 40
    assert sum(line["share"] for line in reports[2]["representations"]) == pytest.approx(1, abs=1e-12)


def test_tables_are_measured_against_their_own_certificates(tmp_path):
    certificate = certify_operation(parse_operation("op:max:3"))
    network = certificate.network
    file = tmp_path / "max.npz"
    u, v, w = network.weights()
    np.savez(file, u=u, v=v, w=w)
    code, output, _ = run("margin", str(file), "--operation", "op:max:3", "--json")
    report = json.loads(output)
    assert code == 0
    assert report["maximum"] == {
        "lower": certificate.document["margin"]["lower"],
        "upper": certificate.document["margin"]["upper"],
        "grade": "enclosed",
        "kernel": "valid",
    }
    assert report["margin"] == pytest.approx(float(certificate.lower), rel=1e-9)
    assert report["deficit"]["at_most"] < 1e-8
    assert report["representations"] == []


def test_a_table_of_a_group_keeps_its_own_numbers(tmp_path):
    export_npz(lm.modular_addition_network(5), tmp_path / "z5.npz")
    for task in (("--operation", "op:add:5"), ("--group", "Z5")):
        report = json.loads(run("margin", str(tmp_path / "z5.npz"), *task, "--json")[1])
        assert report["right"] == 1
        assert abs(report["deficit"]["at_most"]) < 1e-12
    wrong = json.loads(run("margin", str(tmp_path / "z5.npz"), "--operation", "op:sub:5", "--json")[1])
    assert wrong["deficit"]["at_least"] > 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "one of the two"),
        (("--group", "S3", "--operation", "op:add:3"), "one of the two"),
        (("--group", "S3", "--cells", "without:(0,0)"), "give --operation"),
        (("--group", "Z7"), "no weights for 7 rows, 7 columns and 7 labels. Found: hidden (18, 12), readout (18, 6)"),
        (("--group", "S3", "--picture", "s3.txt"), "end in .png, .pdf, .svg"),
        (("--group", "S3", "--picture", "nowhere/s3.png"), "does not exist"),
        (("--group", "S99"), "error"),
    ],
)
def test_input_is_refused(optimal, arguments, said):
    code, output, error = run("margin", str(optimal), *arguments)
    assert (code, output) == (2, "")
    assert said in error


def test_a_file_of_a_group_with_its_identity_elsewhere_is_for_tables(optimal, tmp_path):
    file = tmp_path / "shifted.csv"
    file.write_text("\n".join(",".join(str((a + b + 1) % 6) for b in range(6)) for a in range(6)))
    code, _, error = run("margin", str(optimal), "--group", f"table:{file}")
    assert code == 2
    assert "give it as --operation" in error
    assert run("margin", str(optimal), "--operation", f"table:{file}")[0] == 0


def renumbered(state, *orders):
    """The weights with rows, columns and labels in another order."""
    n = state["readout"].shape[1]
    hidden, (rows, columns, labels) = state["hidden"], orders
    both = torch.cat([hidden[:, :n][:, rows], hidden[:, n:][:, columns]], dim=1)
    return {"hidden": both, "readout": state["readout"][:, labels]}


@pytest.mark.parametrize("apart", [False, True])
def test_a_network_with_another_numbering_is_measured_in_its_own(optimal, tmp_path, apart):
    """The order of the elements is drawn; the report says it, and margin and shares are those of the optimum."""
    state = torch.load(optimal, weights_only=True)
    orders = [np.random.default_rng(seed if apart else 0).permutation(6) for seed in range(3)]
    torch.save(renumbered(state, *orders), tmp_path / "renumbered.pt")
    task = ("margin", str(tmp_path / "renumbered.pt"), "--group", "S3")
    report, plain = (json.loads(run("margin", str(f), *task[2:], "--json")[1]) for f in (task[1], optimal))
    assert report["right"] == 1
    assert report["margin"] == pytest.approx(plain["margin"], rel=1e-12)
    assert plain["numbering"] is None
    shares = [[line["share"] for line in one["representations"]] for one in (report, plain)]
    assert shares[0] == pytest.approx(shares[1], abs=1e-12)
    group = lm.certify("S3").group.to_finite_group()
    names = [str(element) for element in group.elements]
    rows, columns, labels = (
        [names.index(name) for name in report["numbering"][part]] for part in ("rows", "columns", "labels")
    )
    for a in range(6):
        for b in range(6):
            own = int(np.flatnonzero(orders[2] == group.table[orders[0][a], orders[1][b]])[0])
            assert group.table[rows[a], columns[b]] == labels[own]
    assert "in a numbering of its own, which was found from its outputs" in run(*task)[1]


def test_elements_of_cyclic_groups_are_numbers(tmp_path):
    torch.save(lm.to_torch(lm.optimal_network(lm.certify("Z5"))).state_dict(), tmp_path / "z5.pt")
    worst = json.loads(run("margin", str(tmp_path / "z5.pt"), "--group", "Z5", "--json")[1])["worst"]
    row, column, label = (int(worst[name]) for name in ("row", "column", "label"))
    assert label == (row + column) % 5 != int(worst["wrong_label"])


def test_a_network_with_relus_is_no_network_of_squares(tmp_path):
    """ReLUs of x_i, 2 at the i-th cell and 0 or -2 elsewhere, are right; those of -3 x_i for one row change little.

    Squares do not see the sign: there the latter put wrong labels above the right ones.
    """
    table = lm.certify("Z3").group.to_finite_group().table
    hidden, readout = np.zeros((12, 6)), np.zeros((12, 3))
    for i, (a, b) in enumerate(np.ndindex(3, 3)):
        hidden[i] = -1
        hidden[i, a] = hidden[i, 3 + b] = 1
        readout[i, table[a, b]] = 1
    hidden[9:] = -3 * hidden[:3]
    readout[9:] = np.roll(readout[:3], 1, axis=1) / 4
    torch.save({"hidden": torch.tensor(hidden), "readout": torch.tensor(readout)}, tmp_path / "relu.pt")
    code, output, _ = run("margin", str(tmp_path / "relu.pt"), "--group", "Z3")
    assert code == 0
    assert "with the activation ReLU these weights are right on 9 of 9 cells; of such networks no maximum is" in output
    code, _, error = run("margin", str(tmp_path / "relu.pt"), "--group", "Z3", "--activation", "relu")
    assert (code, "A maximum is certified for the square alone" in error) == (2, True)
