"""The `cellwright` command."""

from cellwright.cli.app import main

__all__ = ["main"]
