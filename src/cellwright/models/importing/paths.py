"""Resolution of the file references in descriptions: `package://`, `model://`, `file://`, relative paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlparse

__all__ = ["FileFinder"]

DEPTH = 4  # of folders that are looked through below a search path
MOST_FOLDERS = 20_000
_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")
_FIND = re.compile(r"^\$\(find(?:-pkg-share)?\s+([\w.-]+)\)/?(.*)$")
SKIPPED = {".git", "node_modules", "build", "__pycache__"}


class FileFinder:
    """Finds files by the references of a description.

    Looks, in this order: beside the file, in the folders given, in those of the environment (ROS_PACKAGE_PATH,
    AMENT_PREFIX_PATH, GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH), in the parents of the file. Capital and small letters
    are told apart only where both exist.

    Args:
        file: The description.
        search: Folders that hold packages or models, or are such.
    """

    def __init__(self, file: Path, search: Iterable[Path] = ()) -> None:
        self.file = file.absolute()
        self.search = tuple(Path(folder).absolute() for folder in search)
        self._below: dict[Path, list[Path]] = {}

    def find(self, uri: str) -> Path | None:
        """Returns the referenced file or folder, or None."""
        text = uri.strip()
        if not text or "\0" in text:
            return None
        if match := _FIND.match(text):  # left over from xacro
            return self._in_package(match.group(1), match.group(2))
        scheme, _, rest = text.partition("://")
        if not rest:
            return self._relative(text)
        if scheme == "package":
            package, _, inside = unquote(rest).partition("/")
            return self._in_package(package, inside)
        if scheme in ("model", "fuel"):
            name, _, inside = unquote(rest).partition("/")
            return self._in_package(name, inside)
        if scheme == "file":
            path = unquote(urlparse(text).path) or "/" + rest
            return _existing(Path(path)) or self._relative(unquote(rest).lstrip("/"))
        return None  # http and the like: nothing is fetched

    def why_not(self, uri: str) -> str:
        """Returns the reason why a file is not there, and a remedy."""
        scheme = uri.partition("://")[0].lower() if "://" in uri else ""
        if scheme in ("http", "https", "ftp"):
            return "is not fetched from the network; put it beside the file"
        if scheme == "package" and not any(self._folders_of(unquote(uri[10:]).partition("/")[0])):
            return f"not found: no folder holds the package '{unquote(uri[10:]).partition('/')[0]}' (--search)"
        return "not found (give its folder with --search)"

    @cached_property
    def _roots(self) -> tuple[Path, ...]:
        """The folders to search, without repetition."""
        listed = [self.file.parent, *self.search]
        for variable in ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH"):
            listed += [Path(p) for p in os.environ.get(variable, "").split(os.pathsep) if p]
        for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
            if prefix:
                listed.append(Path(prefix) / "share")
        listed += [parent for parent in self.file.parents if parent != parent.parent][:6]
        return tuple(dict.fromkeys(listed))

    def _relative(self, text: str) -> Path | None:
        path = Path(text.replace("\\", "/"))
        if path.is_absolute():
            return _existing(path)
        return next((found for root in self._roots if (found := _existing(root / path))), None)

    def _in_package(self, package: str, inside: str) -> Path | None:
        for folder in self._folders_of(package):
            if found := (_existing(folder / inside) if inside else folder):
                return found
        return None

    def _folders_of(self, package: str) -> Iterator[Path]:
        """Yields folders of a package or model: by their name, then by the name in their package.xml."""
        for root in self._roots:
            if root.name.lower() == package.lower() and root.is_dir():
                yield root
            if found := _existing(root / package):
                yield found
        for root in self.search or (self.file.parent,):
            yield from self._named.get((root, package), ())
        if not self.search:
            return
        for root in self.search:
            for folder in self._all_folders(root):
                if folder.name == package:
                    yield folder

    @cached_property
    def _named(self) -> dict[tuple[Path, str], list[Path]]:
        """The folders of packages by the name in their package.xml, which need not be their folder's name."""
        named: dict[tuple[Path, str], list[Path]] = {}
        above = self.file.parents[:6]
        for root in self.search or (self.file.parent,):
            folders = [root, *self._all_folders(root), *above]
            for folder in dict.fromkeys(folders):
                manifest = folder / "package.xml"
                try:
                    match = _NAME.search(manifest.read_bytes()[:100_000]) if manifest.is_file() else None
                except OSError:
                    continue
                if match:
                    named.setdefault((root, match.group(1).decode("utf-8", "replace")), []).append(folder)
        return named

    def _all_folders(self, root: Path) -> list[Path]:
        """Returns folders below a root, nearest first, to a depth and count that bound the time."""
        if root not in self._below:
            self._below[root] = self._walk(root)
        return self._below[root]

    def _walk(self, root: Path) -> list[Path]:
        found: list[Path] = []
        level = [root]
        for _ in range(DEPTH):
            below = []
            for folder in level:
                try:
                    inner = sorted(p for p in folder.iterdir() if p.is_dir() and p.name not in SKIPPED)
                except OSError:
                    continue
                below += inner
                if len(found) + len(below) > MOST_FOLDERS:
                    return found + below[: MOST_FOLDERS - len(found)]
            found += below
            level = below
        return found


def _existing(path: Path) -> Path | None:
    """Returns the path, or the one that differs from it in capital letters only."""
    try:
        if path.exists():
            return path.resolve()
        if path.parent == path:
            return None
        folder = _existing(path.parent)
        if folder is None or not folder.is_dir():
            return None
        near = [entry for entry in folder.iterdir() if entry.name.lower() == path.name.lower()]
        return near[0].resolve() if len(near) == 1 else None
    except (OSError, ValueError):
        return None
