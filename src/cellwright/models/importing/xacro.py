"""xacro: macros that make URDF, run by the package `xacrodoc` where it is installed."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cellwright.core.errors import MissingExtra
from cellwright.models.importing.notes import DescriptionError, Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.xml import read_xml

__all__ = ["run_xacro"]

MOST_FILES = 500
_FIND = re.compile(r"\$\(find(?:-pkg-share)?\s+([\w.-]+)\)")
_ARGUMENT = re.compile(r"\$\(arg\s+([\w.-]+)\s*\)")
_DECLARED = re.compile(r"""<xacro:arg\s[^>]*?name\s*=\s*["']([\w.-]+)["']""")
_DEFAULT = re.compile(r"""<xacro:arg\s+name\s*=\s*["']([\w.-]+)["']\s+default\s*=\s*["']([^"']*)["']""")


def run_xacro(path: Path, search: Sequence[Path], arguments: Mapping[str, str], notes: Notes | None = None) -> bytes:
    """Returns the URDF that a xacro file generates.

    xacro evaluates Python expressions of the file, without builtins that reach the machine; still, run only files
    that you would run.

    Args:
        path: The file.
        search: Folders that hold packages.
        arguments: Of the file, name -> value.
        notes: Gets a note for every argument that no file knows.

    Raises:
        MissingExtra: The package is not installed.
        DescriptionError: with what xacro says.
    """
    try:
        from xacrodoc import XacroDoc, packages  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise MissingExtra(f"reading {path.name}", "xacro") from None
    said = read_xml(path).get("name") or ""
    given = _defaults(said, path) | dict(arguments)
    name = _ARGUMENT.sub(lambda found: given.get(found.group(1), ""), said) or path.name.partition(".")[0]
    found, texts = _packages(path, FileFinder(path, search))
    known = sorted({word for text in texts for pattern in (_DECLARED, _ARGUMENT) for word in pattern.findall(text)})
    unknown = [argument for argument in arguments if argument not in known]
    for argument in unknown:
        if notes is not None:
            notes.dropped(f"argument {argument}", f"no file knows it (known: {', '.join(known) or 'none'})")
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            packages.update_package_cache(found)
            # as an include: only so are the file's own includes found that are relative to it
            whole = str(path.absolute())
            document = XacroDoc.from_includes([whole], name=name, subargs=given or None, resolve_packages=False)
            return str(document.to_urdf_string()).encode()
    except SystemExit as error:  # that is how xacro reports some mistakes
        raise DescriptionError(path, f"xacro gave up ({error.code})") from None
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise DescriptionError(path, f"xacro cannot run it: {said[:300]}{_remedy(error, known, unknown)}") from None
    finally:
        packages.reset()


def _defaults(said: str, path: Path) -> dict[str, str]:
    """Returns arguments in the robot's own name: xacro would look at them before it reads the file's defaults."""
    declared = dict(_DEFAULT.findall(path.read_text("utf-8", "replace")))
    return {name: declared.get(name) or path.name.partition(".")[0] for name in _ARGUMENT.findall(said)}


def _remedy(error: Exception, known: Sequence[str], unknown: Sequence[str]) -> str:
    said = str(error)
    if unknown:
        return f" (no file knows the argument {unknown[0]}; known: {', '.join(known) or 'none'})"
    if "ndefined substitution argument" in said:
        return f" (--arg name:=value gives one; the file knows {', '.join(known) or 'none'})"
    if "ackage" in said and "not found" in said.lower():
        return " (--search names the folder that holds it)"
    return ""


def _packages(path: Path, finder: FileFinder) -> tuple[dict[str, str], list[str]]:
    """Returns the packages to which a file and those packages' files refer, as far as found; and what was read."""
    found: dict[str, str] = {}
    waiting: list[Path] = [path]
    seen: set[Path] = set()
    texts: list[str] = []
    while waiting and len(seen) < MOST_FILES:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        try:
            text = file.read_text("utf-8", "replace")[:1_000_000]
        except OSError:
            continue
        texts.append(text)
        for name in _FIND.findall(text):
            folder = None if name in found else finder.find(f"package://{name}")
            if folder is not None:
                found[name] = str(folder)
                waiting.extend(sorted(folder.rglob("*.xacro"))[:200])
    return found, texts
