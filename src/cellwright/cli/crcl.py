"""`cellwright crcl`: tools for CRCL, against any CRCL server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.crcl_conform import conform
from cellwright.cli.crcl_record import record
from cellwright.cli.crcl_send import send
from cellwright.cli.crcl_status import status
from cellwright.cli.output import print_json, say
from cellwright.core.errors import BadInput
from cellwright.crcl import check as check_text

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="CRCL: check documents and talk to servers.")

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="CRCL documents: commands, status, programs.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def check(files: Files, as_json: Json = False) -> int:
    """Checks documents by the schema of 2021Apr28: exit 0 when all are valid, 2 when not, a line for each problem."""
    texts = {file: _read(file) for file in files}
    found = {file: check_text(text) for file, text in texts.items()}
    valid = not any(found.values())
    if as_json:
        results = [{"file": file, "problems": list(map(asdict, problems))} for file, problems in found.items()]
        print_json({"valid": valid, "files": results})
    else:
        for file, problems in found.items():
            for problem in problems:
                say(f"{file}:{problem.line}: {' '.join(str(problem).split())}")
        if valid:
            say(f"valid: {', '.join(map(str, found))}")
    return 0 if valid else 2


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror or error}") from None


for _command in (send, status, record, conform):
    app.command()(_command)
