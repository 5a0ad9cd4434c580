"""Plugins: Python files of the user's own, named by a configuration, that register sensors and their like."""

from __future__ import annotations

import hashlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from cellwright.core.errors import BadInput
from cellwright.core.plugin_errors import line_in, reason_of
from cellwright.core.plugin_folder import PluginFolder

__all__ = ["load_plugin"]

PREFIX = "cellwright_plugin_"

_failed: dict[str, tuple[object, BadInput]] = {}
"""Module -> its text and why it could not be imported: what it registered before stays, and would be there twice."""

_folders: dict[Path, PluginFolder] = {}


def load_plugin(file: Path) -> None:
    """Imports a Python file, unless it has been imported before; meanwhile it can import the files beside it.

    Raises:
        BadInput: The file does not exist, or cannot be imported; with its line.
    """
    path = file.resolve()
    name = f"{PREFIX}{path.stem}_{hashlib.blake2b(bytes(path), digest_size=4).hexdigest()}"
    folder = _folders.setdefault(path.parent, PluginFolder(path.parent))
    if name in sys.modules or getattr(folder.imported.get(path.stem), "__file__", None) == str(path):
        return
    if path.suffix != ".py":
        raise BadInput(f"a plugin should be a Python file, its name ending in .py, got '{file}'")
    if not path.is_file():
        raise BadInput(f"plugin {file} {'is not a file' if path.exists() else 'does not exist'}")
    text = path.read_bytes(), folder.state()
    if name in _failed and _failed[name][0] == text:
        raise _failed[name][1]
    spec = spec_from_file_location(name, path)
    assert spec is not None  # of a file that ends in .py there always is one
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses look up their module
    plugins = [module for name, module in sys.modules.items() if name.startswith(PREFIX)]
    try:
        with folder.importable(plugins):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        shown = [(str(file), str(path)), *((one.name, str(one)) for one in folder.tried)]
        lines = [(shown_as, line_in(error, one)) for shown_as, one in shown]
        place = ": ".join(f"{one}, line {line}" for one, line in lines if line) or str(file)
        problem = BadInput(f"{place}: {reason_of(error)}")
        _failed[name] = (text, problem)
        raise problem from error
