"""The `cellwright` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and exits; Ctrl-C is answered in one line, also while the command is still being imported."""
    try:
        from cellwright.cli.app import main as run_command

        run_command(arguments)
    except KeyboardInterrupt:
        print("cellwright: interrupted", file=sys.stderr)
        sys.exit(130)
