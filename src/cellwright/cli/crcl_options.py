"""Options and output that the commands for CRCL servers share."""

from __future__ import annotations

from typing import Annotated

import typer

from cellwright.cli.output import err, say
from cellwright.crcl.findings import DocumentFindings

__all__ = ["Json", "Server", "tell_findings"]

Server = Annotated[str, typer.Argument(metavar="HOST:PORT", help="A CRCL server.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def tell_findings(findings: DocumentFindings, whose: str = "the server's answers") -> None:
    """Says on stderr what was wrong with documents that were read all the same."""
    for line in findings.lines:
        say(f"finding in {whose}: {line}", to=err)
