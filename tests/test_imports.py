"""The import rules of docs/architecture.md, checked for every import in the source.

The table in that page is the rule; this test only reads it. Imports inside functions count, and so do packages that
only a longer chain of imports would reach, which is why no tool is needed beside it.
"""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cellwright"
TRUTH = {"sim", "sensors", "cells", "judge"}
BLIND = {"mobile", "perception", "knowledge", "planning", "execution", "motion", "crcl"}
ABOVE_LAB = {
    "interfaces",
    "hybrid",
    "checks",
    "trials",
    "course",
    "viewing",
    "experiments",
    "testing",
    "console",
    "bench",
    "cli",
}
SEES_SIM = {"sensors", "control", "judge", "lab"} | ABOVE_LAB


def read_table() -> dict[str, set[str]]:
    """Package -> the packages it may import, from the rows of the page's first table."""
    table: dict[str, set[str]] = {}
    for line in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"\| `(\w+)` \| .* \| (nothing|all above[^|]*|`[\w`, ]+`) \|", line)
        if row is None:
            continue
        name, allowed = row.groups()
        named = set(re.findall(r"`(\w+)`", allowed))
        table[name] = named | (set(table) if allowed.startswith("all above") else {"core"} - {name})
    return table


TABLE = read_table()


def imported_packages(tree: ast.Module, module: str, is_package: bool) -> set[str]:
    """The packages of cellwright that a module imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = (
                    module.split(".")[: -node.level + 1 or None] if is_package else module.split(".")[: -node.level]
                )
                base = ".".join([*parents, base]).rstrip(".")
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("cellwright.")}
    return found


def source_imports(folder: Path) -> list[tuple[Path, set[str]]]:
    result = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        result.append((path, imported_packages(ast.parse(path.read_text(encoding="utf-8")), module, is_package)))
    return result


PACKAGES = sorted(p.name for p in SOURCE.iterdir() if p.is_dir() and any(p.glob("*.py")))


def test_every_package_has_a_row():
    assert set(PACKAGES) <= set(TABLE), "add the package to the table in docs/architecture.md"


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_what_the_table_allows(package):
    allowed = TABLE.get(package, set()) | {package}
    for path, imported in source_imports(SOURCE / package):
        wrong = (imported & set(TABLE)) - allowed
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}; {package} may import {sorted(allowed)}"


def test_nothing_imports_the_command_line():
    for path, imported in source_imports(SOURCE):
        inside = path.relative_to(SOURCE).parts[0]
        assert "cli" not in imported or inside in {"cli", "__main__.py"}, f"{path.relative_to(ROOT)} imports cli"


def test_the_table_leaks_no_truth():
    for package in BLIND:
        reached, todo = set(), [package]
        while todo:
            step = todo.pop()
            todo += TABLE[step] - reached
            reached |= TABLE[step]
        assert not reached & TRUTH, f"{package} reaches {sorted(reached & TRUTH)}"
    assert {name for name, allowed in TABLE.items() if "sim" in allowed} <= SEES_SIM


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f():\n    from cellwright.sim import World", {"sim"}),
        ("import cellwright.judge.score as s", {"judge"}),
        ("from cellwright import sensors", {"sensors"}),
        ("from ..cells import load", {"cells"}),
        ("from .kinematics import solve", {"motion"}),
        ("import importlib\nimportlib.import_module('cellwright.sim.world')", {"sim"}),
        ("import numpy", set()),
    ],
)
def test_the_reader_sees_every_kind_of_import(code, expected):
    assert imported_packages(ast.parse(code), "cellwright.motion.arm", is_package=False) == expected


@pytest.mark.parametrize(
    "package", sorted(".".join(p.relative_to(SOURCE.parent).parent.parts) for p in SOURCE.rglob("__init__.py"))
)
def test_what_a_package_promises_is_there(package):
    module = importlib.import_module(package)
    missing = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
    assert not missing, f"{package}.__all__ names {missing}"
