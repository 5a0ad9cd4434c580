"""The command's entry: sub-commands, and every error as one line with its exit code."""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.resources import files
from typing import Annotated, NoReturn

import typer

from cellwright import __version__
from cellwright.cli.help_examples import epilog
from cellwright.cli.live_page import with_addresses
from cellwright.cli.output import Quiet, set_quiet
from cellwright.cli.page_file import remember_command
from cellwright.core.errors import CellwrightError

__all__ = ["COMMANDS", "main", "make_app"]

COMMANDS = (
    "init", "examples", "run", "trial", "calibrate", "cell", "model", "move", "look", "reach", "plan", "db", "serve",
    "control", "targets", "crcl", "ros", "log", "experiment", "bench", "course", "doctor",
)  # fmt: skip
"""Modules of this package: a group called `app`, or a function of the module's own name."""
COMPLETION = {"--install-completion", "--show-completion"}
COLLECT_AFTER = (100_000, 20, 20)  # new objects; what is imported stays, and looking for garbage in it takes a tenth

# Older typers stand on click, newer ones carry a copy of it: the classes that are raised live beside this one.
_click = sys.modules[typer.BadParameter.__module__]


def make_app(commands: Iterable[str] = COMMANDS, *, only_listed: bool = False) -> typer.Typer:
    """Returns the command line with some commands; only their modules are imported, none when they are only listed."""
    app = typer.Typer(
        name="cellwright",
        help="A virtual robotics laboratory: physics-based robot cells with noisy sensors.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        epilog=epilog(""),
    )
    app.callback(invoke_without_command=True)(_version)
    for name in commands:
        if only_listed:
            app.command(name, help=short_help(name))(lambda: None)
            continue
        module = import_module(f"cellwright.cli.{name}")
        if hasattr(module, "app"):
            for command in module.app.registered_commands:
                called = command.name or command.callback.__name__.replace("_", "-")
                command.epilog = epilog(f"{name} {called}")
            app.add_typer(module.app, name=name, epilog=epilog(name))
        else:
            app.command(name, epilog=epilog(name))(getattr(module, name))
    return app


def short_help(name: str) -> str:
    """Returns the first line of a command's help, read from its source: to import all of them takes seconds."""
    module = ast.parse((files("cellwright.cli") / f"{name}.py").read_text(encoding="utf-8"))
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node) or ""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.targets[0]) == "app":
            words = {word.arg: word.value for word in node.value.keywords}
            return str(ast.literal_eval(words["help"])) if "help" in words else ""
    return ""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and exits: 0 done, 1 failed honestly, 2 bad input, 130 interrupted."""
    gc.set_threshold(*COLLECT_AFTER)
    code = _run(list(sys.argv[1:] if arguments is None else arguments))
    if code == 130:
        print("cellwright: interrupted", file=sys.stderr)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    remember_command(arguments)
    set_quiet(False)
    arguments = with_addresses(arguments)
    try:
        first = next((word for word in arguments if not word.startswith("-")), "")
        named = (first,) if first in COMMANDS else () if set(arguments) & COMPLETION else COMMANDS
        app = make_app(named, only_listed=arguments in ([], ["--help"], ["--version"]))
        result = app(args=arguments, prog_name="cellwright", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except CellwrightError as error:
        for line in getattr(error, "lines", (str(error),)):
            _say(line, error.exit_code)
        return error.exit_code
    except ImportError as error:
        return _say(f"{error}; `cellwright doctor` tells what is missing", 2)
    except _click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a class that older clicks do not have
            print(error.format_message(), file=sys.stderr)
            return 2
        return _say(_usage(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except (BrokenPipeError, SystemExit) as error:
        # typer turns the reader's leaving (`| head`) into exit 1; nothing went wrong here
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    quiet: Quiet = False,
    install: Annotated[
        bool, typer.Option("--install-completion", help="Install completion for your shell: bash, zsh or fish.")
    ] = False,
    show: Annotated[bool, typer.Option("--show-completion", help="Print the script that does it.")] = False,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit
    if install or show:
        from cellwright.cli.completion import completion_script, install_completion, this_shell

        shell = this_shell()
        print("\n".join([completion_script(shell, make_app())] if show else install_completion(shell, make_app())))
        raise typer.Exit


def _usage(error: Exception) -> str:
    """Returns the error of the arguments, and where to read how they are used."""
    message = error.format_message().replace("Value error, ", "").strip()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    return f"{message} (see '{context.command_path} --help')" if context else message


def _say(line: str, code: int) -> int:
    print(f"cellwright: {' '.join(line.split())}", file=sys.stderr)
    return code
