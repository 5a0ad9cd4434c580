"""The command's entry: sub-commands, and every error as one line with its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import click
import typer

from cellwright import __version__
from cellwright.cli import bench, cell, doctor, log, model, run
from cellwright.core.errors import CellwrightError

__all__ = ["app", "main"]

app = typer.Typer(
    name="cellwright",
    help="A virtual robotics laboratory: physics-based robot cells with honest sensors.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("doctor")(doctor.doctor)
app.add_typer(cell.app, name="cell")
app.add_typer(model.app, name="model")
app.add_typer(log.app, name="log")
app.add_typer(bench.app, name="bench")


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and exits: 0 done, 1 failed honestly, 2 bad input, 130 interrupted."""
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        result = app(args=list(arguments) if arguments is not None else None, standalone_mode=False)
        return result if isinstance(result, int) else 0
    except CellwrightError as error:
        return _say(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.UsageError as error:
        return _say(error.format_message(), 2)
    except click.ClickException as error:
        return _say(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _say(line: str, code: int) -> int:
    print(f"cellwright: {' '.join(line.split())}", file=sys.stderr)
    return code
