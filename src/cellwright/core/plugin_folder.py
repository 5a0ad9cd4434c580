"""The folder of a plugin: its other Python files can be imported by name, by that plugin and by nobody else."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

__all__ = ["PluginFolder"]


class PluginFolder(MetaPathFinder):
    """The modules of one folder.

    Two folders may each have a `helper.py`. So what was imported from one is known under its short name only while a
    plugin of that folder is imported; its plugins share it. As with a script, a file beside the plugin goes before an
    installed package of its name, but neither before the standard library nor before Cellwright.

    Attributes:
        imported: Name -> module, of what its plugins have imported.
        tried: The files whose import was begun for the present plugin, those that failed included.
    """

    def __init__(self, folder: Path) -> None:
        self.imported: dict[str, ModuleType] = {}
        self.tried: list[Path] = []
        self._folder = folder
        self._files: dict[str, Path] = {}

    @contextmanager
    def importable(self, plugins: Collection[ModuleType]) -> Iterator[None]:
        """Lets its files be imported by name meanwhile, and forgets what was imported if that fails.

        Args:
            plugins: Modules that are plugins already; one of this folder is not imported anew under its short name.
        """
        self._files = self._find_files()
        for name, file in list(self._files.items()):
            if getattr(sys.modules.get(name), "__file__", None) == str(file):
                del self._files[name]  # the program has imported this very file, and shares it
        others = self._take()
        sys.modules.update(self.imported)
        sys.modules.update({Path(one.__file__ or "").stem: one for one in plugins if self._holds(one)})
        self.tried = []
        sys.meta_path.insert(0, self)
        try:
            yield
            self.imported |= {name: module for name, module in self._present().items() if module not in plugins}
        finally:
            sys.meta_path.remove(self)
            self._take()
            sys.modules.update(others)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Finds a file or package of the folder."""
        file = self._files.get(fullname)
        if file is None:
            return None
        self.tried.append(file)
        within = [str(file.parent)] if file.name == "__init__.py" else None
        return spec_from_file_location(fullname, file, submodule_search_locations=within)

    def state(self) -> dict[str, tuple[int, int]]:
        """Returns file -> time and size of all files that can be imported, to see whether one was changed."""
        stats = {name: file.stat() for name, file in self._find_files().items()}
        return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in stats.items()}

    def _find_files(self) -> dict[str, Path]:
        found = {file.parent.name: file for file in sorted(self._folder.glob("*/__init__.py"))}
        found |= {file.stem: file for file in sorted(self._folder.glob("*.py"))}
        taken = {*sys.stdlib_module_names, "cellwright"}
        return {name: file for name, file in found.items() if name not in taken and file.is_file()}

    def _holds(self, module: ModuleType) -> bool:
        return self._files.get(Path(module.__file__ or "").stem) == Path(module.__file__ or "")

    def _present(self) -> dict[str, ModuleType]:
        return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in self._files}

    def _take(self) -> dict[str, ModuleType]:
        """Takes all modules of its names, and what is within them, out of those that are known."""
        return {name: sys.modules.pop(name) for name in self._present()}
