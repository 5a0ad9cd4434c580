"""The documentation: it builds without a warning, describes every public name, and its code names what exists."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cellwright as cw

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts and not path.match("api/cellwright*"))


def python_blocks(page: Path) -> list[str]:
    """Returns the Python in a page."""
    found = re.findall(r"^```(?:\{code-block\} )?python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.M)
    return [re.sub(r"\A(:\w+:.*\n)+", "", block) for block in found]


def unknown_names(code: str) -> list[str]:
    """Returns what a program takes from Cellwright that is not there."""
    wrong = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cellwright"):
            module = importlib.import_module(node.module)
            wrong += [f"{node.module}.{alias.name}" for alias in node.names if not hasattr(module, alias.name)]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cw":
            wrong += [] if node.attr in cw.__all__ else [f"cw.{node.attr}"]
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_python_of_a_page_names_what_exists(page):
    assert [name for block in python_blocks(page) for name in unknown_names(block)] == []


def test_a_name_that_is_gone_is_found():
    assert unknown_names("import cellwright as cw\ncw.Laboratory()\nfrom cellwright.lab import Lab, Shed") == [
        "cellwright.lab.Shed",
        "cw.Laboratory",
    ]


def test_every_page_is_in_the_index():
    """A page that no table of contents names is a warning of Sphinx; this is the quick way to find it."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert [path for page in PAGES if (path := str(page.relative_to(DOCS))[:-3]) not in index and path != "index"] == []


@pytest.mark.slow
def test_the_programs_of_the_page_of_names_run(tmp_path):
    for number, program in enumerate(python_blocks(DOCS / "guide/python.md")):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"block {number}: {done.stderr}"
        assert done.stdout, f"block {number}"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The pages, built as `make docs` does."""
    pytest.importorskip("furo")
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_public_name_leads_to_its_description(built):
    page = (built / "guide/python.html").read_text(encoding="utf-8")
    for name in set(cw.__all__) - {"__version__"}:
        inside = rf"<code[^>]*><span[^>]*>cw\.{name}<"
        link = re.search(rf'<a class="reference internal" href="([^"]+)#([^"]+)"[^>]*>{inside}', page)
        assert link is not None, name
        described = (built / "guide" / link[1]).resolve().read_text(encoding="utf-8")
        assert f'id="{link[2]}"' in described, name


@pytest.mark.slow
def test_every_package_has_a_page_with_its_names(built):
    folders = sorted(path.parent.name for path in Path(cw.__file__).parent.glob("*/__init__.py"))
    assert len(folders) > 20
    for package in set(folders) - {"cli"}:
        module = importlib.import_module(f"cellwright.{package}")
        page = (built / f"api/cellwright.{package}.html").read_text(encoding="utf-8")
        assert module.__all__, package
        assert [name for name in module.__all__ if f".{name}" not in page and f">{name}<" not in page] == []
