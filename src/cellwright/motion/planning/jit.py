"""Compiles the kernels, the functions in the files `kernel_*.py`, and keeps the result on disk.

numba notices a changed file, but not a changed function of another file that was compiled into it: that would leave
yesterday's collision check inside today's planner. So the compiled code lies in a folder named after the text of all
kernels together.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from cellwright.core.errors import MissingExtra
from cellwright.core.files import cache_folder

__all__ = ["compiled", "inlined", "load"]

F = TypeVar("F", bound=Callable[..., Any])

FEATURE, EXTRA = "collision-free planning", "motion"
FIRST_TIME_S = 40
_HERE = Path(__file__).parent
_log = logging.getLogger(__name__)


def load(name: str) -> Any:
    """Returns an optional package, or the error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(FEATURE, EXTRA) from error


def inlined(function: F) -> F:
    """Decorates small functions that other kernels call; a call with arrays costs as much as a distance."""
    return load("numba").njit(inline="always", error_model="numpy")(function)  # type: ignore[no-any-return]


def compiled(function: F) -> F:
    """Decorates a function that is compiled at its first call or taken from disk."""
    numba = load("numba")
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_folder())  # read while decorating only
    try:
        return numba.njit(cache=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no folder can be written: compile anew in every process
        return numba.njit(error_model="numpy")(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before


@cache
def _folder() -> Path:
    sources = [*sorted(_HERE.glob("kernel_*.py")), _HERE / "arrays.py"]  # whose columns are compiled in
    text = b"".join(path.read_bytes() for path in sources)
    folder = _root() / f"kernels-{hashlib.blake2b(text, digest_size=8).hexdigest()}"
    if not any(folder.rglob("*.nbc")):
        _log.warning("compiling the motion planner, once for this version: about %d s", FIRST_TIME_S)
    return folder


def _root() -> Path:
    """Returns where compiled code is kept: beside the source as Python does, or with the user's other caches."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if os.access(_HERE, os.W_OK):
        return _HERE / "__pycache__"
    return cache_folder()
