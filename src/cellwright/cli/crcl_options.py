"""What the commands that talk to a CRCL server have in common."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Json", "Server"]

Server = Annotated[str, typer.Argument(metavar="HOST:PORT", help="A CRCL server.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
