"""The limits of a control program's process: what it may open, import and start, and how much memory it gets.

They are for honest mistakes and for simple cheating, such as reading another robot's readings or the task's seed. They
are no prison: Python code that wants to get out finds a way, so programs of strangers belong into a container.
"""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["FORBIDDEN", "limit_program"]

FORBIDDEN = ("cellwright", "mujoco", "rospy", "roslibpy")
MEMORY_BYTES = 4 << 30  # of addresses: NumPy alone reserves several hundred MB
STARTS = ("subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn")
OTHERS = ("os.kill", "os.killpg", "socket.", "ctypes.", "signal.pthread_kill", "sqlite3.")
CHANGES = (
    "os.chmod",
    "os.chown",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "shutil.",
)


def limit_program(path: str) -> None:
    """Limits this process, for good, to what a program that drives a robot needs.

    Args:
        path: The program: the only file outside of Python's own packages that it may read.
    """
    try:
        import resource
    except ImportError:  # not everywhere
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    program = os.path.realpath(path)
    own = {os.path.realpath(place) for place in (sys.prefix, sys.base_prefix, *sys.path) if place}
    places = tuple(place.rstrip(os.sep) + os.sep for place in own)
    places = tuple(place for place in places if not program.startswith(place))  # a folder of submissions is none

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            name, mode = arguments[0], arguments[1]
            if isinstance(name, int):
                return
            real = os.path.realpath(os.fsdecode(name))
            if _writes(mode, arguments[2]) or not (real == program or real.startswith(places)):
                raise PermissionError(f"a program may not open {os.fsdecode(name)}")
        elif event == "import":
            if arguments[0].partition(".")[0] in FORBIDDEN:
                raise PermissionError(f"a program may not import {arguments[0]}")
        elif event.startswith((*STARTS, *OTHERS, *CHANGES)):
            raise PermissionError(f"a program may not use {event}")

    sys.addaudithook(look)


def _writes(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
