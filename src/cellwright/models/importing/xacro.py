"""xacro: macros that make URDF, run by the package `xacrodoc` where it is installed."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cellwright.core.errors import MissingExtra
from cellwright.models.importing.notes import DescriptionError
from cellwright.models.importing.paths import Finder
from cellwright.models.importing.xml import read_xml

__all__ = ["run_xacro"]

MOST_FILES = 500
_FIND = re.compile(r"\$\(find(?:-pkg-share)?\s+([\w.-]+)\)")


def run_xacro(path: Path, search: Sequence[Path], arguments: Mapping[str, str]) -> bytes:
    """The URDF that a xacro file makes.

    xacro evaluates Python expressions of the file, without builtins that reach the machine; still, run only files
    that you would run.

    Raises:
        MissingExtra: The package is not installed.
        DescriptionError: with what xacro says.
    """
    try:
        from xacrodoc import XacroDoc, packages  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise MissingExtra(f"reading {path.name}", "xacro") from None
    name = read_xml(path).get("name") or path.name.partition(".")[0]
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            packages.update_package_cache(_packages(path, Finder(path, search)))
            # as an include: only so are the file's own includes found that are relative to it
            whole = str(path.absolute())
            document = XacroDoc.from_includes(
                [whole], name=name, subargs=dict(arguments) or None, resolve_packages=False
            )
            return str(document.to_urdf_string()).encode()
    except SystemExit as error:  # that is how xacro reports some mistakes
        raise DescriptionError(path, f"xacro gave up ({error.code})") from None
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise DescriptionError(path, f"xacro cannot run it: {said[:300]}") from None
    finally:
        packages.reset()


def _packages(path: Path, finder: Finder) -> dict[str, str]:
    """The packages that a file and those packages' own files speak of, as far as they are found."""
    found: dict[str, str] = {}
    waiting: list[Path] = [path]
    seen: set[Path] = set()
    while waiting and len(seen) < MOST_FILES:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        try:
            text = file.read_text("utf-8", "replace")[:1_000_000]
        except OSError:
            continue
        for name in _FIND.findall(text):
            folder = None if name in found else finder.find(f"package://{name}")
            if folder is not None:
                found[name] = str(folder)
                waiting.extend(sorted(folder.rglob("*.xacro"))[:200])
    return found
