"""Plugins: Python files of the user's own, named by a configuration, that register sensors and their like."""

from __future__ import annotations

import hashlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from cellwright.core.errors import BadInput
from cellwright.core.plugin_errors import line_in, reason_of

__all__ = ["load_plugin"]

_failed: dict[str, tuple[bytes, BadInput]] = {}
"""Module -> its text and why it could not be imported: what it registered before stays, and would be there twice."""


def load_plugin(file: Path) -> None:
    """Imports a Python file, unless it has been imported before; its folder is not searched for other modules.

    Raises:
        BadInput: The file does not exist, or cannot be imported; with its line.
    """
    path = file.resolve()
    name = f"cellwright_plugin_{path.stem}_{hashlib.blake2b(bytes(path), digest_size=4).hexdigest()}"
    if name in sys.modules:
        return
    if path.suffix != ".py":
        raise BadInput(f"a plugin should be a Python file, its name ending in .py, got '{file}'")
    if not path.is_file():
        raise BadInput(f"plugin {file} {'is not a file' if path.exists() else 'does not exist'}")
    text = path.read_bytes()
    if name in _failed and _failed[name][0] == text:
        raise _failed[name][1]
    spec = spec_from_file_location(name, path)
    assert spec is not None  # of a file that ends in .py there always is one
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses look up their module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = line_in(error, str(path))
        problem = BadInput(f"{file}{f', line {line}' if line else ''}: {reason_of(error)}")
        _failed[name] = (text, problem)
        raise problem from error
