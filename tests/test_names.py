"""One meaning for each public name: the glossary names classes that exist, and no two classes share a name."""

import ast
import importlib
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cellwright"

SHARED = {
    "Message": "CRCL's own word for a text to the operator; ours is the base of what goes over the bus",
    "Order": "the message that announces an order has its name",
    "Pose": "CRCL's pose, by two axes, is converted where it enters",
    "Wrench": "CRCL's wrench is converted where it enters",
}

QUESTIONS = {"What", "Who", "Whom", "Whose", "Where", "How", "Whether", "Which", "When", "Why"}

ROWS = re.findall(
    r"^\| ([^|]+) \| .* \| `([\w.]+)` \|$", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), flags=re.MULTILINE
)


def public_classes() -> dict[str, list[str]]:
    """Name -> the modules that define a public class of that name, without generated ones."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        relative = path.relative_to(SOURCE)
        if "generated" in relative.parts:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(relative))
    return found


def registries() -> dict[str, list[str]]:
    """Name -> the modules that make a registry of that name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in re.findall(r"^([A-Z_]+)\b[^=\n]*= (?:Registry|registry)\b", path.read_text("utf-8"), re.MULTILINE):
            found[name].append(str(path.relative_to(SOURCE)))
    return found


def test_no_two_public_classes_share_a_name():
    shared = {name: where for name, where in public_classes().items() if len(where) > 1}
    assert set(shared) == set(SHARED), {name: where for name, where in shared.items() if name not in SHARED}
    assert len(SHARED) <= 10


def test_there_is_one_registry_for_each_concept():
    found = registries()
    assert len(found) >= 5
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_the_glossary_has_about_forty_terms():
    assert 35 <= len(ROWS) <= 80


@pytest.mark.parametrize(("term", "path"), ROWS, ids=[term for term, _ in ROWS])
def test_the_glossary_names_what_exists(term, path):
    module, _, name = path.rpartition(".")
    assert isinstance(getattr(importlib.import_module(f"cellwright.{module}"), name), type), term


def docstrings_that_ask() -> list[str]:
    """Docstrings that begin with a question word; properties that are true or false may say `Whether`."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if "generated" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            first = (ast.get_docstring(node) or " ").split()[:1]
            decorators = {ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])}
            is_property = bool(decorators & {"property", "cached_property"})
            if first and first[0] in QUESTIONS and not (first == ["Whether"] and is_property):
                found.append(f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 1)}")
    return found


def test_docstrings_are_sentences_and_no_questions():
    assert docstrings_that_ask() == []


STATIONS = re.findall(
    r"^\| \d+ \| `([\w/.]+)` \| `([\w.]+)` \|", (ROOT / "docs/architecture.md").read_text("utf-8"), flags=re.MULTILINE
)


@pytest.mark.slow
def test_an_order_passes_every_station_that_the_docs_name():
    """Runs an order with a profiler: a row that is not called, or was renamed, misleads the reader."""
    code = """
import sys
called = set()
def look(frame, event, _argument):
    if event == "call":
        called.add((frame.f_code.co_filename.partition("/cellwright/")[2], frame.f_code.co_qualname))
import cellwright.cli
sys.setprofile(look)
try:
    cellwright.cli.main(["run", "--no-picture", "--fidelity", "kinematic", "--json", "--order", "kit_m2l1"])
except SystemExit as end:
    sys.setprofile(None)
    print(end.code, file=sys.stderr)
    for file, name in sorted(called):
        print(file, name, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    code_told, *lines = done.stderr.splitlines()[done.stderr.splitlines().index("0") :]
    called = {tuple(line.split(" ", 1)) for line in lines}
    assert code_told == "0"
    assert len(STATIONS) >= 20
    assert [station for station in STATIONS if station not in called] == []
