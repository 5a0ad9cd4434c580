"""Pages of the packages, made from `__all__` and docstrings whenever the documentation is built.

Packages import many names when they are first used, and re-export what their modules define: so every name gets a
directive of its own, on the page of the outermost package that holds it. Others that re-export it have a link.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import cellwright

SOURCE = Path(cellwright.__file__).parent
HIDDEN = ("cellwright.cli", "cellwright.knowledge.generate")  # commands, and what only makes our own source
MODULES = ("cellwright.core.errors",)
"""Modules whose names their package does not re-export, besides the packages themselves."""


def packages() -> dict[str, ModuleType]:
    """Returns the packages with public names, the outer ones first; not the root, which the guide describes."""
    found = [".".join(("cellwright", *path.relative_to(SOURCE).parts[:-1])) for path in SOURCE.rglob("*/__init__.py")]
    names = sorted((*found, *MODULES), key=lambda name: (name.count("."), name))
    loaded = {name: importlib.import_module(name) for name in names if not name.startswith(HIDDEN)}
    return {name: module for name, module in loaded.items() if getattr(module, "__all__", ())}


def write_pages(folder: Path) -> None:
    """Writes a page for each package, and removes those of packages that are gone; what is the same is left alone."""
    folder.mkdir(exist_ok=True)
    homes = find_homes()
    pages = {f"{name}.md": page(name, module, homes) for name, module in packages().items()}
    for path in folder.glob("cellwright*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def find_homes() -> dict[str, str]:
    """Returns definition -> the public name under which it is described: in the outermost package around it, if any."""
    homes: dict[str, str] = {}
    exports = [(package, name, origin) for package, module in packages().items() for name, origin in _origins(module)]
    for package, name, origin in sorted(exports, key=lambda export: not export[2].startswith(f"{export[0]}.")):
        homes.setdefault(origin, f"{package}.{name}")
    return homes


def page(package: str, module: ModuleType, homes: dict[str, str]) -> str:
    """Returns the page of a package."""
    described: dict[str, list[str]] = {"Classes": [], "Functions": [], "Data": []}
    links = []
    for name, origin in _origins(module):
        value, public = getattr(module, name), f"{package}.{name}"
        if inspect.ismodule(value):
            links.append(f"{{py:mod}}`{value.__name__}`")
        elif (home := homes[origin]) != public:
            links.append(f"{{py:obj}}`{home}`")
        elif inspect.isclass(value):
            kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
            described["Classes"].append(f".. {kind}:: {public}\n   :members:\n")
        elif inspect.isroutine(value):
            described["Functions"].append(f".. autofunction:: {public}\n")
        else:
            described["Data"].append(_data(public, origin, value))
    text = f"# {package}\n\n```{{eval-rst}}\n.. automodule:: {package}\n   :no-members:\n```\n"
    for kind, entries in described.items():
        if entries:
            text += f"\n## {kind}\n\n```{{eval-rst}}\n{chr(10).join(entries)}```\n"
    return text + (f"\n## Described elsewhere\n\n{', '.join(links)}\n" if links else "")


def _origins(module: ModuleType) -> list[tuple[str, str]]:
    """Returns the public names of a package, sorted, each with its definition: a module and the name there."""
    found = []
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        is_made = inspect.isclass(value) or inspect.isroutine(value)
        home = value.__module__ if is_made else _imported(module).get(name, module.__name__)
        found.append((name, f"{home}.{value.__name__ if is_made else name}"))
    return found


def _imported(module: ModuleType) -> dict[str, str]:
    """Returns name -> the module that it is imported from, by the source, also where it is only for type checkers."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}


def _data(public: str, origin: str, value: Any) -> str:
    """Returns the entry of a constant, with the docstring below its definition."""
    module, _, name = origin.rpartition(".")
    doc = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name), [])
    package, _, short = public.rpartition(".")
    head = f".. py:data:: {short}\n   :module: {package}\n   :type: {type(value).__name__}\n\n"
    return head + "".join(f"   {line}\n" for line in doc)
