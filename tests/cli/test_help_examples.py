"""Every help has an example, and every example can be typed: its commands and options exist."""

from __future__ import annotations

import shlex

import pytest
import typer

from cellwright.cli.app import make_app
from cellwright.cli.help_examples import EXAMPLES, epilog
from cellwright.cli.output import set_quiet

ROOT = typer.main.get_command(make_app())


def commands(command, path=()):
    yield " ".join(path), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))


ALL = dict(commands(ROOT))


@pytest.mark.parametrize("name", ALL)
def test_every_help_has_an_example(name):
    assert "cellwright " in (ALL[name].epilog or ""), name


@pytest.mark.parametrize("line", sorted({f"{name}: {line}" for name, lines in EXAMPLES.items() for line in lines}))
def test_every_example_parses(line):
    name, _, typed = line.partition(": ")
    if name and name not in ALL:
        pytest.skip(f"'{name}' is not built yet")
    command, words = ROOT, shlex.split(typed)
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    command.make_context(typed, words).close()
    set_quiet(False)


def test_examples_are_of_the_command_that_shows_them():
    for name, lines in EXAMPLES.items():
        assert all(line.startswith(name) for line in lines), name
    assert epilog("bench motion").splitlines()[-1] == "  cellwright bench motion --runs 3 --out motion.json"
