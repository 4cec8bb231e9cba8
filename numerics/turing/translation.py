"""Decoder programs, which `lemmata.numerics.turing.index` interprets, as straight-line machine code.

A step is translated once, coordinate by coordinate. Copies and constants cost nothing, and what is computed of the same
bits is computed once: that searches compare the same place is seen from the copies in the program, so that its digits
are put together once for all of them. What a query must satisfy (INDEX.md, section 1) and that outputs are bits is
decided for all bits at once where the range of a form tells, and checked in every step where it does not.

The machine code refuses a step as soon as a check fails, and leaves the stream and the past as they were before it. The
interpreter then runs this step, and says what is wrong. So both refuse the same steps, and the code needs no reasons.

Source: turing, lemma-C.3, claims C.4 to C.6, lemma-C.7.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from lemmata.numerics.turing.assembly import Assembler, Value, pointer_type
from lemmata.numerics.turing.index import CrossIndex, DecoderProgram, Ints, Readout, Records, TimeIndex

__all__ = ["Translation", "run_translated", "translated"]

_MOST_VALUES = 256  # of a unit that are tried one by one, to see what its output is for each

_ARRAYS = {
    "io": 64,
    "stream": 64,
    "last": 32,
    "previous": 32,
    "payload": 0,  # 8 or 64
    "codes": 64,
    "values": 64,
    "states": 16,
    "symbols": 16,
    "places": 64,
    "visits": 32,
    "written": 16,
    "cells": 64,
    "answers": 64,
}
_TIME, _COUNT, _HALTING, _TOKENS, _DONE, _WALKED, _REFUSED = range(7)  # of io


class Form(NamedTuple):
    """constant + sum of coefficient times bit, over different registers."""

    constant: int
    terms: dict[str, int]

    @property
    def low(self) -> int:
        """The least value over all bits."""
        return self.constant + sum(min(w, 0) for w in self.terms.values())

    @property
    def high(self) -> int:
        """The largest value over all bits."""
        return self.constant + sum(max(w, 0) for w in self.terms.values())

    def plus(self, other: Form, factor: int = 1) -> Form:
        """The form plus a multiple of another one."""
        terms = dict(self.terms)
        for value, w in other.terms.items():
            terms[value] = terms.get(value, 0) + factor * w
        return Form(self.constant + factor * other.constant, {value: w for value, w in terms.items() if w})


class Translation(NamedTuple):
    """A program in machine code, for one type of payload; the engine keeps it alive."""

    engine: Any
    function: Any


def run_translated(
    translation: Translation,
    cross: CrossIndex,
    index: TimeIndex,
    h: Ints,
    time: int,
    halting: bool,
    records: Records,
) -> tuple[int, int, bool]:
    """The steps done, the links followed, and whether the next step was refused; arguments as of `run_decoder`."""
    io = np.array([time, len(records.states), halting, len(cross.codes), 0, 0, 0], np.int64)
    tokens = cross if len(cross.codes) else (np.zeros(1, np.int64), np.zeros(1, np.int64))  # the first one may be read
    arrays = (io, h, *index, *tokens, *records[:-1])
    translation.function(*(array.ctypes.data for array in arrays))
    return int(io[_DONE]), int(io[_WALKED]), bool(io[_REFUSED])


def translated(program: DecoderProgram, readout: Readout, width: int, payload_bits: int) -> Translation:
    """The machine code of a program; the last ones are kept in the process.

    Args:
        program, readout: what to run and to record.
        width: of the stream.
        payload_bits: of an entry of `TimeIndex.payload`, 8 or 64.
    """
    arrays = [x if isinstance(x, int) else tuple(x.tolist()) for x in (*program, *readout)]
    return _translated(tuple(arrays), width, payload_bits)


@lru_cache(maxsize=16)
def _translated(key: tuple[Any, ...], width: int, payload_bits: int) -> Translation:
    parts: list[Any] = [x if isinstance(x, int) else np.array(x, np.int64) for x in key]
    split = len(DecoderProgram._fields)
    text = _Translator(DecoderProgram(*parts[:split]), Readout(*parts[split:]), width, payload_bits).text()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(_ARRAYS))
    return Translation(engine, signature(engine.get_function_address("run")))


class _Translator:
    """The state of a translation: the rest of the code, and what every coordinate holds."""

    def __init__(self, program: DecoderProgram, readout: Readout, width: int, payload_bits: int) -> None:
        self.program, self.readout, self.width = program, readout, width
        self.bits = {**_ARRAYS, "payload": payload_bits}
        self.rest: Iterator[int] = iter(program.code.tolist())
        self.out = Assembler()
        self.stream: list[Value] = []
        self.walked: Value = "%walked"
        self.value_rows = 0
        self.remembered: tuple[Value, Value] | None = None  # the place, and its last time before

    def text(self) -> str:
        """The module."""
        out, arguments = self.out, ", ".join(f"{pointer_type(self.bits[a])} noalias %{a}" for a in _ARRAYS)
        out.lines += [
            'target triple = "' + llvm.get_default_triple() + '"',
            f"define void @run({arguments}) {{",
            "entry:",
        ]
        for name, place in (("first", _TIME), ("count", _COUNT), ("halting", _HALTING), ("tokens", _TOKENS)):
            address = out.define(f"getelementptr i64, {pointer_type(64)} %io, i64 {place}")
            out.emit(f"%{name} = load i64, {pointer_type(64)} {address}")
        out.emit("br label %head")
        out.label("%head")
        out.emit("%n = phi i64 [0, %entry], [%next, %latch]")
        out.emit("%walked = phi i64 [0, %entry], [%walked_next, %latch]")
        out.branch(out.define("icmp slt i64 %n, %count"), "%step", "%done")
        out.label("%step")
        out.emit("%t = add i64 %n, %first")
        out.emit("%later = icmp ne i64 %t, 0")
        out.emit("%zeroth = icmp eq i64 %t, 0")
        self._step()
        out.label("%done")
        self._finish("%n", "%walked", 0)
        return "\n".join([*out.lines, "}"])

    def _finish(self, done: str, walked: Value, refused: int) -> None:
        for place, value in ((_DONE, done), (_WALKED, walked), (_REFUSED, refused)):
            address = self.out.define(f"getelementptr i64, {pointer_type(64)} %io, i64 {place}")
            self.out.emit(f"store i64 {value}, {pointer_type(64)} {address}")
        self.out.emit("ret void")

    # ---- one step

    def _step(self) -> None:
        out, program = self.out, self.program
        self.stream = [out.loaded("%stream", 64, c) for c in range(self.width)]
        loaded = list(self.stream)
        taken: Value = 0
        for r, c in enumerate(program.time.tolist()):
            digit = out.operate("and", out.operate("ashr", "%t", len(program.time) - 1 - r), 1)
            taken = out.operate("or", taken, out.operate("and", digit, self.stream[c]))
            self.stream[c] = out.operate("or", digit, self.stream[c])
        self._require("eq", taken, 0)
        visits: list[Value] = [0, -1, -1]
        for layer in range(program.layers):
            if layer == self.readout.visit_layer:
                visits = [out.code(self._at(self.readout.visit)), self._single(self.readout.written)]
                visits.append(out.code(self._at(self.readout.cell)))
            if layer == program.index_layer:
                self._remember()
            if next(self.rest):
                self._search()
            if next(self.rest):
                self._look_up()
            self._map()
        self._record(visits)
        for c, value in enumerate(self.stream):
            if value != loaded[c]:
                out.store("%stream", 64, c, value)
        out.emit(f"%walked_next = add i64 {self.walked}, 0")
        out.emit("%next = add i64 %n, 1")
        out.emit("br label %ends")
        out.label("%ends")
        answer = out.linear(0, list(zip(self._at(program.answer), program.answer_weights.tolist(), strict=True)))
        ended = out.define(f"and i1 {out.compared('ne', answer, 0)}, {out.compared('ne', '%halting', 0)}")
        out.branch(ended, "%halted", "%latch")
        out.label("%latch")
        out.emit("br label %head")
        out.label("%halted")
        self._finish("%next", "%walked_next", 0)

    def _at(self, coordinates: Ints) -> list[Value]:
        return [self.stream[c] for c in coordinates.tolist()]

    def _record(self, visits: Sequence[Value]) -> None:
        readout, out = self.readout, self.out
        answer = out.linear(
            0, list(zip(self._at(self.program.answer), self.program.answer_weights.tolist(), strict=True))
        )
        values = {
            "states": self._single(readout.state),
            "symbols": self._single(readout.symbol),
            "places": out.code(self._at(readout.place)),
            **dict(zip(("visits", "written", "cells"), visits, strict=True)),
            "answers": answer,
        }
        for name, value in values.items():
            out.store(f"%{name}", self.bits[name], "%n", value)

    def _single(self, coordinates: Ints) -> Value:
        """The position of the only 1 in a block, or -1."""
        bits = self._at(coordinates)
        count = self.out.linear(0, [(bit, 1) for bit in bits])
        position = self.out.linear(0, [(bit, r) for r, bit in enumerate(bits)])
        if isinstance(count, int):
            return position if count == 1 else -1
        return self.out.selected(self.out.compared("eq", count, 1), position, -1)

    def _require(self, relation: str, a: Value, b: Value, unless: str | None = None) -> None:
        """Refuse the step unless a comparison holds, or something else is true."""
        out = self.out
        if isinstance(a, int) and isinstance(b, int):
            holds = {"eq": a == b, "slt": a < b, "ne": a != b, "sgt": a > b}[relation]
            if holds:
                return
            truth = "false"
        else:
            truth = out.compared(relation, a, b)
        if unless is not None:
            truth = out.define(f"or i1 {truth}, {unless}")
        good, refused = out.fresh("good"), out.fresh("refused")
        out.branch(truth, good, refused)
        out.label(refused)
        if self.remembered is not None:  # forget the step; at time 0 nothing was stored
            place, before = self.remembered
            address = out.define(f"getelementptr i32, {pointer_type(32)} %last, i64 {place}")
            present = out.define(f"load i32, {pointer_type(32)} {address}")
            old = out.define(f"trunc i64 {before} to i32")
            back = out.define(f"select i1 %later, i32 {old}, i32 {present}")
            out.emit(f"store i32 {back}, {pointer_type(32)} {address}")
        self._finish("%n", "%walked", 1)
        out.label(good)

    # ---- attention

    def _form(self) -> Form:
        """The next form of the code, over what the coordinates hold; last coordinates first, see `Assembler.linear`."""
        constant, count = next(self.rest), next(self.rest)
        pairs = [(next(self.rest), next(self.rest)) for _ in range(count)]
        form = Form(constant, {})
        for coordinate, weight in reversed(pairs):
            value = self.stream[coordinate]
            known = isinstance(value, int)
            form = form.plus(Form(weight * value, {}) if known else Form(0, {str(value): weight}))
        return form

    def _value(self, form: Form) -> Value:
        return self.out.linear(form.constant, list(form.terms.items()))

    def _query(self, count: int, unless: str | None) -> tuple[str | bool, list[Value]]:
        """Whether full matches win where there are any, and the bits of a full match; see INDEX.md, section 1."""
        out, full, null = self.out, self._form(), self._form()
        bits, extra, least, runtime = list[Value](), list[Value](), 1 << 62, list[Value]()
        for _ in range(count):
            form = self._form()
            if len(form.terms) > 1:
                value = self._value(form)
                truth = out.compared("sgt", value, 0)
                bits.append(out.widened(truth))
                extra.append(out.positive_part(value))
                runtime.append(out.selected(truth, value, out.operate("mul", value, -1)))
                continue
            ends = form.low, form.high  # the values at both bits, or twice the constant
            rising = all(w > 0 for w in form.terms.values())
            for value in form.terms or ("",):
                off, on = ends if rising else ends[::-1]
                bit: Value = int(on > 0) if (off > 0) == (on > 0) else value if on > 0 else out.negated(value)
                bits.append(bit)
                full = full.plus(Form(max(off, 0), {value: max(on, 0) - max(off, 0)} if value else {}))
                if abs(off) == abs(on):
                    least = min(least, abs(on))
                else:
                    runtime.append(out.linear(abs(off), [(value, abs(on) - abs(off))]))
        return self._decision(full.plus(null, -1), extra, least, runtime, unless), bits

    def _decision(
        self, above: Form, extra: Sequence[Value], least: int, runtime: Sequence[Value], unless: str | None
    ) -> str | bool:
        """Whether a full match beats the null pair, by ``above`` and ``extra``; the gap and the tie are checked."""
        out, low, high = self.out, above.low, above.high
        if extra or runtime or least <= 0 or high >= least:
            total = out.linear(0, [(self._value(Form(above.constant, above.terms)), 1), *((x, 1) for x in extra)])
            for bound in (least, *runtime):
                self._require("sgt", bound, 0, unless)
                self._require("slt", total, bound, unless)
            if extra or low <= 0 <= high:
                self._require("ne", total, 0, unless)
                return out.compared("sgt", total, 0)
            return low > 0
        if low <= 0 <= high:
            total = self._value(above)
            self._require("ne", total, 0, unless)
            return total > 0 if isinstance(total, int) else out.compared("sgt", total, 0)
        return low > 0

    def _remember(self) -> None:
        """Add the step to the past, unless it is the one at time 0."""
        out, program = self.out, self.program
        self._require("eq", out.code(self._at(program.time)), "%t", "%zeroth")
        place = out.code(self._at(program.place))
        stored: Value = 0
        for r, bit in enumerate(self._at(program.payload)):
            stored = out.operate("or", stored, out.operate("shl", bit, r))
        address = out.address("%last", 32, place)
        before = out.define(f"sext i32 {out.define(f'load i32, {pointer_type(32)} {address}')} to i64")
        out.store("%last", 32, place, out.selected("%later", "%t", before))
        out.store("%previous", 32, "%t", out.selected("%later", before, 0))
        out.store("%payload", self.bits["payload"], "%t", out.selected("%later", stored, 0))
        self.remembered = place, before

    def _search(self) -> None:
        """Self-attention: the last visit of a place with the given leading digits of its time."""
        out, places, times = self.out, len(self.program.place), len(self.program.time)
        digits = next(self.rest)
        decision, bits = self._query(places + digits, "%zeroth")
        if decision is False:
            self._add_values("0", "false")
            return
        latest = out.loaded("%last", 32, out.code(bits[:places]))
        if isinstance(decision, str):
            latest = str(out.selected(decision, latest, 0))
        low = out.operate("shl", out.code(bits[places:]), times - digits)
        if digits:
            latest = self._walk(latest, out.operate("or", low, (1 << (times - digits)) - 1))
        inside = out.define(f"and i1 {out.compared('sge', latest, low)}, {out.compared('sgt', latest, 0)}")
        self._add_values(latest, inside)

    def _walk(self, latest: str, high: Value) -> str:
        """The last time at this place that is at most high."""
        out, before, loop, joined = self.out, self.out.block, self.out.fresh("loop"), self.out.fresh("joined")
        s, walked, earlier, more = (out.fresh() for _ in range(4))
        out.branch(out.compared("sgt", latest, high), loop, joined)
        out.label(loop)
        out.emit(f"{s} = phi i64 [{latest}, {before}], [{earlier}, {loop}]")
        out.emit(f"{walked} = phi i64 [{self.walked}, {before}], [{more}, {loop}]")
        address = out.define(f"getelementptr i32, {pointer_type(32)} %previous, i64 {s}")
        out.emit(f"{earlier} = sext i32 {out.define(f'load i32, {pointer_type(32)} {address}')} to i64")
        out.emit(f"{more} = add i64 {walked}, 1")
        out.branch(out.define(f"icmp sgt i64 {earlier}, {high}"), loop, joined)
        out.label(joined)
        found = out.define(f"phi i64 [{latest}, {before}], [{earlier}, {loop}]")
        self.walked = out.define(f"phi i64 [{self.walked}, {before}], [{more}, {loop}]")
        return found

    def _add_values(self, time: str, matched: str) -> None:
        """Add the value of the token of a time where it is matched, and that of the null pair where not."""
        out, stored = self.out, "0"
        changes: dict[int, tuple[list[tuple[int, int]], int, int]] = {}
        for _ in range(next(self.rest)):
            coordinate, constant, bit, weight, null = (next(self.rest) for _ in range(5))
            read, constants, nulls = changes.get(coordinate, ([], 0, 0))
            changes[coordinate] = read + [(bit, weight)] * (bit >= 0), constants + constant, nulls + null
        if any(read for read, _, _ in changes.values()) and matched != "false":
            stored = out.loaded("%payload", self.bits["payload"], time)
        for coordinate, (read, constant, null) in changes.items():
            form = Form(constant, {str(out.operate("and", out.operate("ashr", stored, bit), 1)): w for bit, w in read})
            if matched == "false" or stored == "0":
                form = Form(constant, {})
            value = null if matched == "false" else out.selected(matched, self._value(form), null)
            self._change(coordinate, value, min(form.low, null), max(form.high, null))

    def _change(self, coordinate: int, value: Value, low: int, high: int) -> None:
        """Add to a coordinate a value from low to high; refuse the step unless the sum is a bit."""
        old = self.stream[coordinate]
        least, most = (old, old) if isinstance(old, int) else (0, 1)
        new = self.out.operate("add", old, value)
        if least + low < 0 or most + high > 1:
            self._require("eq", self.out.operate("and", new, -2), 0)
        self.stream[coordinate] = new

    def _look_up(self) -> None:
        """Attention to the encoder: the token with the given key, by binary search."""
        out = self.out
        decision, bits = self._query(self.program.cross_bits, None)
        changes = [tuple(next(self.rest) for _ in range(3)) for _ in range(next(self.rest))]
        if decision is False:
            for coordinate, _, null in changes:
                self._change(coordinate, null, null, null)
            return
        key = out.code(bits)
        token = self._lower_bound(key)
        inside = out.compared("slt", token, "%tokens")
        safe = out.selected(inside, token, 0)
        found = out.define(f"and i1 {inside}, {out.compared('eq', out.loaded('%codes', 64, safe), key)}")
        if isinstance(decision, str):
            found = out.define(f"and i1 {found}, {decision}")
        for coordinate, row, null in changes:
            place = out.operate("add", out.operate("mul", "%tokens", row), safe)
            value = out.selected(found, out.loaded("%values", 64, place), null)
            self._change(coordinate, value, -2, 2)

    def _lower_bound(self, key: Value) -> str:
        """The number of tokens with a smaller key."""
        out, before = self.out, self.out.block
        loop, body, joined = (out.fresh(stem) for stem in ("bisect", "body", "joined"))
        low, high, new_low, new_high = (out.fresh() for _ in range(4))
        out.jump(loop)
        out.label(loop)
        out.emit(f"{low} = phi i64 [0, {before}], [{new_low}, {body}]")
        out.emit(f"{high} = phi i64 [%tokens, {before}], [{new_high}, {body}]")
        out.branch(out.define(f"icmp slt i64 {low}, {high}"), body, joined)
        out.label(body)
        middle = out.define(f"ashr i64 {out.define(f'add i64 {low}, {high}')}, 1")
        address = out.define(f"getelementptr i64, {pointer_type(64)} %codes, i64 {middle}")
        less = out.define(f"icmp slt i64 {out.define(f'load i64, {pointer_type(64)} {address}')}, {key}")
        out.emit(f"{new_low} = select i1 {less}, i64 {out.define(f'add i64 {middle}, 1')}, i64 {low}")
        out.emit(f"{new_high} = select i1 {less}, i64 {high}, i64 {middle}")
        out.jump(loop)
        out.label(joined)
        return low

    # ---- token-wise maps

    def _map(self) -> None:
        new = list(self.stream)
        for target, source in self._pairs():
            new[target] = self.stream[source]
        for _ in range(next(self.rest)):
            target, value = self._row()
            new[target] = value
        for target, bit in self._pairs():
            new[target] = bit
        self.stream = new

    def _pairs(self) -> list[tuple[int, int]]:
        return [(next(self.rest), next(self.rest)) for _ in range(next(self.rest))]

    def _row(self) -> tuple[int, Value]:
        """A coordinate and its new bit; the step is refused where that is none."""
        out = self.out
        target, scale, bias, count = (next(self.rest) for _ in range(4))
        inner = [self._form() for _ in range(count)]
        outer = [(next(self.rest), next(self.rest), self._pairs()) for _ in range(next(self.rest))]
        if count == 1 and inner[0].high - inner[0].low < _MOST_VALUES:
            form, states = inner[0], list[int | None]()
            for x in range(form.low, form.high + 1):
                total = bias + sum(w * max(0, b + sum(v * max(x, 0) for _, v in pairs)) for b, w, pairs in outer)
                states.append(0 if total <= 0 else 1 if total == scale else None)
            if None not in states and states == sorted(states, key=int):  # type: ignore[arg-type]
                return target, self._threshold(form, form.low + states.count(0))
        units = [out.positive_part(self._value(form)) for form in inner]
        parts = [(out.positive_part(out.linear(b, [(units[u], v) for u, v in pairs])), w) for b, w, pairs in outer]
        total = out.linear(bias, parts)
        if isinstance(total, int):
            if total > 0:
                self._require("eq", total, scale)
            return target, int(total > 0)
        off = out.compared("sle", total, 0)
        self._require("eq", total, scale, off)
        return target, out.negated(out.widened(off))

    def _threshold(self, form: Form, least: int) -> Value:
        """Whether a form is at least so much, as a conjunction or a disjunction of literals where it is one."""
        out, literals, need = self.out, list[tuple[Value, int]](), least - form.constant
        for value, weight in form.terms.items():
            literals.append((value, weight) if weight > 0 else (out.negated(value), -weight))
            need -= min(weight, 0)
        total, smallest = sum(w for _, w in literals), min((w for _, w in literals), default=0)
        if need <= 0 or need > total:
            return int(need <= 0)
        if need <= smallest or total - smallest < need:
            operation = "or" if need <= smallest else "and"
            result = literals[0][0]
            for value, _ in literals[1:]:
                result = out.operate(operation, result, value)
            return result
        return out.widened(out.compared("sge", out.linear(0, literals), need))
