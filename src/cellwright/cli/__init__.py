"""The `cellwright` command."""

from cellwright.cli.app import app, main

__all__ = ["app", "main"]
