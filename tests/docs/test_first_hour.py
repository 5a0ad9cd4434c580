"""The tutorial, done as it is written: every block in order, in one folder; what it shows is what comes."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

PAGE = Path(__file__).parents[2] / "docs/guide/first-hour.md"
FENCE = re.compile(r"^```(?:\{code-block\} )?(\w+)\n(?::caption: (\S+)\n\n)?(.*?)^```$", re.DOTALL | re.MULTILINE)
STATUS = "@status "


class Block(NamedTuple):
    """A block of the page: its language, the file that its caption names, its text."""

    language: str
    file: str
    text: str


BLOCKS = [Block(*found) for found in FENCE.findall(PAGE.read_text(encoding="utf-8"))]


def changed(text: str, diff: str) -> str:
    """Returns a text with a change as it is shown: lines that stay, lines with `-` and lines with `+`."""
    lines = diff.splitlines(keepends=True)
    before, after = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
    assert text.count(before) == 1, before
    return text.replace(before, after)


def split_console(text: str) -> tuple[list[str], str]:
    """Returns the commands of a block, and what it shows besides."""
    lines = text.splitlines()
    return [line[2:] for line in lines if line.startswith("$ ")], "\n".join(
        line for line in lines if not line.startswith("$ ")
    )


def shows(shown: str, printed: str) -> bool:
    """Returns whether this was printed; spaces do not count, and `...` stands for anything or nothing."""
    parts = [re.escape(" ".join(part.split())) for part in shown.split("...")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), " ".join(printed.split()), re.DOTALL) is not None


def run(commands: list[str], folder: Path) -> str:
    """Returns what the commands print, in one shell; one that fails must be followed by a look at its exit code."""
    script = "".join(f"{command}\n_s=$?; echo '{STATUS}'$_s; (exit $_s)\n" for command in commands)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    printed = shell.stdout.splitlines()
    states = [line for line in printed if line.startswith(STATUS)]
    expected = [*commands[1:], ""]
    for command, state, following in zip(commands, states, expected, strict=True):
        assert state == f"{STATUS}0" or "$?" in following, f"{command}: {shell.stdout}"
    return "\n".join(line for line in printed if not line.startswith(STATUS))


def test_every_block_is_of_a_kind_that_is_done():
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCKS) == text.count("\n```") // 2 >= 15
    assert {block.language for block in BLOCKS} == {"console", "python", "yaml", "diff"}
    assert all(block.file for block in BLOCKS if block.language != "console")
    for block in BLOCKS:
        if block.language == "python":
            ast.parse(block.text)
        if block.language == "yaml":
            yaml.safe_load(block.text)


def test_the_sensor_has_fifteen_lines():
    sensor = next(block for block in BLOCKS if block.file == "laser.py")
    assert len([line for line in sensor.text.splitlines() if line.strip()]) <= 15


def test_a_change_that_does_not_fit_is_found():
    assert changed("a\nb\nc\n", " a\n-b\n+d\n") == "a\nd\nc\n"
    with pytest.raises(AssertionError):
        changed("a\nb\n", "-c\n+d\n")


def test_what_is_not_printed_is_found():
    assert shows("a\n...\nb 1... mm", "a\nb  1.2 mm\n")
    assert not shows("a\nb", "a\nc\nb")
    assert not shows("a\n...", "b\na")


def test_a_command_that_fails_unseen_is_found(tmp_path):
    assert run(["false", "echo $?"], tmp_path) == "1"
    with pytest.raises(AssertionError, match="false"):
        run(["false", "echo on"], tmp_path)


@pytest.mark.slow
def test_the_hour_goes_as_it_is_written(tmp_path):
    for number, (language, file, text) in enumerate(BLOCKS):
        if language == "console":
            commands, shown = split_console(text)
            printed = run(commands, tmp_path)
            assert shows(shown, printed), f"block {number}: {commands} shows\n{shown}\nbut prints\n{printed}"
        elif language == "diff":
            (tmp_path / file).write_text(changed((tmp_path / file).read_text("utf-8"), text), encoding="utf-8")
        else:
            assert not (tmp_path / file).exists(), f"{file} is written twice"
            (tmp_path / file).write_text(text, encoding="utf-8")
