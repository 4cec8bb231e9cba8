"""Every deciding test skipped one by one, one of its cases skipped, and missing: each is noticed by the ledger.

No test runs: what is collected is read off the decorators, and the outcomes are simulated reports.
"""

from collections.abc import Mapping, Sequence

import pytest

from lemmata.theorems.citations import Citation, citations
from lemmata.theorems.ledger import DECIDED, THEOREMS, Chapter, load_ledger
from lemmata.theorems.plugin import LedgerRun
from lemmata.theorems.verdicts import Check, by_statement, evidence_errors, judged_verdict

CHAPTERS = [one for one in load_ledger().chapters if one.folder is not None and one.folder.is_relative_to(THEOREMS)]


def simulated(tests: Mapping[str, Sequence[Citation]], cases: Mapping[str, Sequence[str]]) -> list[Check]:
    """The checks of a run with these tests, of which all that are not in ``cases`` have two cases that pass."""
    run = LedgerRun(config=None)  # type: ignore[arg-type]
    for test, cited in tests.items():
        evidence = [vars(one.evidence) for one in cited]
        for number, outcome in enumerate(cases.get(test, ("passed", "passed"))):
            nodeid = f"{test}[{number}]"
            place = {"file": cited[0].file, "line": cited[0].line}
            run.items[nodeid] = {"test": test, **place, "evidence": evidence, "reached": ["lemmata"]}
            when = "call" if outcome == "passed" else "setup"
            run.pytest_runtest_logreport(pytest.TestReport(nodeid, (test, 1, test), {}, outcome, None, when))
    return run.checks()


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda one: one.name)
def test_a_deciding_test_that_is_skipped_is_noticed(chapter: Chapter) -> None:
    entries = {one.id: one for one in chapter.statements}
    cited = {name: citations(name) for name in entries}
    tests: dict[str, list[Citation]] = {}
    for one in (one for found in cited.values() for one in found):
        tests.setdefault(one.node, []).append(one)
    deciding = {name: [one.node for one in found if not one.evidence.supporting] for name, found in cited.items()}

    def errors(name: str, checks: Sequence[Check]) -> list[str]:
        return evidence_errors(entries[name], checks, deciding[name])

    groups = by_statement(simulated(tests, {}))
    assert not [error for name in entries for error in errors(name, groups.get(name, []))]
    unseen = []
    for test, roles in tests.items():
        decides = {one.evidence.statement for one in roles if not one.evidence.supporting}
        near = {one.node: tests[one.node] for name in decides for one in cited[name]}
        for cases in (("skipped", "skipped"), ("passed", "skipped"), ()):
            found = by_statement(simulated(near, {test: cases}))
            for name in decides:
                said = any(f"{test} did not run, or was skipped." in one for one in errors(name, found.get(name, [])))
                wanted = "undecided" if cases and entries[name].verdict in DECIDED else entries[name].verdict
                if not said or judged_verdict(entries[name], found.get(name, [])) != wanted:
                    unseen.append((name, test, cases))
    assert not unseen
