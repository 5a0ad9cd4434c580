"""The names of `import cellwright as cw`: these and no others, cheap to import, each described."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cellwright as cw

PAGE = Path(__file__).parents[1] / "docs/guide/python.md"

NAMES = {
    "load, step, move": ["Lab", "Cell", "load_cell", "check_cell", "Pose", "CellwrightError"],
    "sense": ["Sensor", "SensorCfg", "NoiseCfg", "SENSORS", "check_sensor", "messages", "read_log"],
    "plan": ["KitDesign", "Order", "plan_order", "TASK_PLANNERS"],
    "trial": ["TrialCfg", "read_trial", "run_trial", "Report", "TRIAL_CONTROLLERS", "expect"],
    "from outside": ["BlockingCrclClient", "BlockingVisionClient", "crcl"],
}
ALL = [name for names in NAMES.values() for name in names]


def test_the_root_has_these_names():
    assert sorted(cw.__all__) == sorted([*ALL, "__version__"])
    assert set(ALL) <= set(dir(cw))
    assert len(ALL) <= 26


def test_an_unknown_name_lists_those_that_exist():
    with pytest.raises(AttributeError, match=r"no attribute 'Laboratory' \(it has: .*Lab.*crcl.*messages"):
        _ = cw.Laboratory


@pytest.mark.parametrize("name", ALL)
def test_a_name_has_a_docstring_and_a_row_on_its_page(name):
    row = rf"^\| \{{py:\w+\}}`cw\.{name} <cellwright\.[\w.]+>` \| .{{10,}} \|$"
    assert re.search(row, PAGE.read_text("utf-8"), re.MULTILINE)
    value = getattr(cw, name)
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        assert len(inspect.getdoc(value) or "") > 30


def test_the_page_has_no_other_names():
    assert sorted(re.findall(r"^\| \{py:\w+\}`cw\.(\w+) <", PAGE.read_text("utf-8"), re.M)) == sorted(ALL)


def test_importing_the_root_loads_nothing_large():
    command = "import sys, cellwright; print([m for m in ('numpy', 'mujoco', 'pydantic', 'typer') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", command], capture_output=True, text=True).stdout.strip() == "[]"


def examples() -> list[doctest.DocTest]:
    """Returns the examples in the docstrings of the names, and of the methods of theirs."""
    finder, found = doctest.DocTestFinder(exclude_empty=True), []
    for name in ALL:
        if not inspect.ismodule(value := getattr(cw, name)) and (inspect.isclass(value) or inspect.isroutine(value)):
            found += finder.find(value, name, globs={"cw": cw, "np": np})
    return [test for test in found if test.examples]


@pytest.mark.slow
def test_the_examples_in_docstrings_do_what_they_say():
    found, said = examples(), []
    assert {"Lab", "Pose", "load_cell", "plan_order", "Sensor", "Order.of"} <= {test.name for test in found}
    runner = doctest.DocTestRunner(verbose=False)
    for test in found:
        runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
