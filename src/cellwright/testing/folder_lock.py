"""A lock on the output folder, so that a session never empties what another is writing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import IO

__all__ = ["FolderLock"]

MOST = 100  # sessions at the same time


class FolderLock:
    """Keeps a folder for one session; while another session has it, the next one with a number: `test-results-2`.

    It ends with the process, however that ends. Where the system has no such locks, nothing keeps sessions apart.

    Args:
        wanted: The folder.

    Attributes:
        folder: The one that is kept.
    """

    def __init__(self, wanted: Path) -> None:
        self.folder = wanted
        self._file: IO[bytes] | None = None
        for number in range(1, MOST):
            folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
            if self._take(folder):
                self.folder = folder
                return

    def _take(self, folder: Path) -> bool:
        """Returns whether the folder is this session's; also where that cannot be told."""
        try:
            import fcntl
        except ImportError:  # Windows
            return True
        digest = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
        name = Path(tempfile.gettempdir()) / f"cellwright-tests-{digest}.lock"
        while True:
            try:
                file = name.open("ab")
            except OSError:  # another user's, or there is no such folder
                return True
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                return False
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(file.fileno()), name.stat()):
                    self._file = file
                    return True
            file.close()  # it was removed by its owner meanwhile

    def release(self) -> None:
        """Leaves the folder to the next session."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                Path(self._file.name).unlink()
            self._file.close()
            self._file = None
