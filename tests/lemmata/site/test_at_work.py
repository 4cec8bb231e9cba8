"""Pictures of weights at work: what is drawn is what the construction does, found here by another way."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from lemmata.constructions.registry import REGISTRY
from lemmata.numerics.exact.numbers import to_float
from lemmata.site.at_work import panels_of
from lemmata.site.cells import Curve, Matrix, panel_picture
from lemmata.site.constructions import SUBJECTS, construction_pages
from lemmata.site.prose import escaped

SVG = "{http://www.w3.org/2000/svg}"
BY_NAME = {one.name: one for one in REGISTRY}
NOTHING_TO_SHOW = {
    "descent: layer of the answer",
    "tokens: inner products",
    "tokens: gated copies",
    "tokens: answers by codes",
}


def test_every_construction_stands_on_a_page_and_all_but_these_have_a_picture():
    pages = construction_pages()
    assert {one.name.partition(": ")[0] for one in REGISTRY} == {*SUBJECTS, "layer"}
    without = set()
    for one in REGISTRY:
        subject, _, local = one.name.partition(": ")
        if subject != "layer":
            part = pages[f"constructions/{subject}.md"].split(f"\n## {escaped(local[0].upper() + local[1:])}\n")[1]
            if "<svg" not in part.split("\n## ")[0]:
                without.add(one.name)
    assert without == NOTHING_TO_SHOW


def test_attention_of_a_hard_bigram_head_is_where_the_last_symbol_stood_before():
    one = BY_NAME["induction: bigram head, hard"]
    symbols = one.inputs(one.build(), np.random.default_rng(0))[0].tolist()
    back, match = panels_of(one)
    assert [label for label in match.rows if not label.startswith("row")] == [str(symbol) for symbol in symbols]
    first = len(match.rows) - len(symbols)
    for i in range(1, len(symbols)):
        at = [j for j in range(1, i + 1) if symbols[j - 1] == symbols[i]]
        weights = match.values[first + i, first:]
        assert np.flatnonzero(back.values[first + i]).tolist() == [first + i - 1]
        assert at == [] or np.flatnonzero(weights).tolist() == at
    assert any(symbols[j - 1] == symbols[i] for i in range(1, len(symbols)) for j in range(1, i + 1))


@pytest.mark.parametrize("name", [name for name in BY_NAME if name.startswith(("induction", "sparse", "parity: tr"))])
def test_softmax_weights_add_up_to_one(name):
    shown = [one for one in panels_of(BY_NAME[name]) if one.title.endswith("attention")]
    for panel in shown:
        assert np.allclose(panel.values.sum(axis=1), 1, atol=1e-12)
        assert panel.values.min() >= 0


def test_neurons_of_modular_addition_have_one_frequency_each_the_same_in_all_parts():
    panels = panels_of(BY_NAME["groups: modular addition"])
    assert len(panels) == 3
    places = np.array([panel.values.argmax(axis=1) for panel in panels])
    assert (places == places[0]).all()
    assert set(places[0].tolist()) == {1, 2}
    assert all(np.allclose(panel.values.max(axis=1), 1, atol=1e-12) for panel in panels)


def test_the_tape_is_that_of_the_champion_with_two_states():
    rules = {("A", 0): (1, 1, "B"), ("A", 1): (1, -1, "B"), ("B", 0): (1, -1, "A"), ("B", 1): (1, 1, "H")}
    tape, state, head, rows = {}, "A", 0, []
    for _ in range(7):
        rows.append((dict(tape), head))
        if state != "H":
            tape[head], move, state = rules[state, tape.get(head, 0)]
            head += move
    low, high = (limit(place for _, place in rows) for limit in (min, max))
    [panel] = panels_of(BY_NAME["turing: compiled machine"])
    assert panel.values.tolist() == [[cells.get(cell, 0) for cell in range(low, high + 1)] for cells, _ in rows]
    assert panel.marked == {(time, place - low) for time, (_, place) in enumerate(rows)}
    assert panel.values[-1].sum() == 4


def test_the_weights_that_a_block_trains_end_as_exact_arithmetic_has_them():
    one = BY_NAME["descent: ReLU attention"]
    block = one.build()
    prompt = one.inputs(block, np.random.default_rng(0))
    trained = panels_of(one)[0]
    assert np.allclose(trained.values[-1], to_float(block.weights(block(prompt))), atol=1e-12)
    assert np.abs(trained.values[-1] - trained.values[0]).max() > 1e-3


def test_a_matrix_has_a_cell_for_each_entry_and_a_graph_the_ends_of_its_values():
    panel = Matrix("a", np.array([[1.0, -2.0], [0.0, 0.5]]), ["r", "s"], ["one", "two"], frozenset({(1, 0)}))
    drawn = ElementTree.fromstring(panel_picture(panel))
    cells = [
        (one.get("class"), one.get("fill-opacity"), one.findtext(f"{SVG}title")) for one in drawn.iter(f"{SVG}rect")
    ]
    assert cells == [
        ("positive", "0.500", "r, one: 1"),
        ("negative", "1.000", "r, two: -2"),
        ("positive marked", "0.000", "s, one: 0"),
        ("positive", "0.250", "s, two: 0.5"),
    ]
    curve = panel_picture(Curve("b", np.array([0.0, 1.0, 4.0]), np.array([1.0, 3.0, -1.0])))
    texts = [one.text for one in ElementTree.fromstring(curve).iter(f"{SVG}text")]
    assert texts == ["b", "3", "-1", "0", "4"]
    points = re.findall(r"[ML]([\d.]+) ([\d.]+)", re.findall(r'class="curve" d="([^"]*)"', curve)[0])
    heights = [float(y) for _, y in points]
    assert heights[1] < heights[0] < heights[2]
    assert heights[0] - heights[1] == pytest.approx(heights[2] - heights[0])
    with pytest.raises(ValueError, match="needs a label for each row and column"):
        Matrix("c", np.array([[1.0]]), ["r"], ["one", "two"])
    with pytest.raises(ValueError, match="finite entries"):
        Matrix("d", np.array([[np.nan]]), ["r"], ["one"])
