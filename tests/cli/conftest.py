"""The command, called in this process: exit code, stdout, stderr."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cellwright.cli import main


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout; anything else there is an error."""
        data = json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
        assert isinstance(data, dict)
        return data


@pytest.fixture
def cellwright(capfd, tmp_path, monkeypatch) -> Callable[..., Ended]:
    """Runs `cellwright ...` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Ended(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def refused(cellwright) -> Callable[..., str]:
    """Runs a command that must be refused: exit 2, a line for each mistake, nothing on stdout. Returns them.

    What a command says before, about what it begins to do, does not count.
    """

    def run(*arguments: object) -> str:
        ended = cellwright(*arguments)
        assert ended.code == 2, ended
        assert ended.out == ""
        lines = ended.err.splitlines(keepends=True)
        complaints = [line for line in lines if line.startswith("cellwright: ")]
        assert complaints, ended.err
        assert complaints == lines[-len(complaints) :], ended.err
        assert len(lines) - len(complaints) <= 1, ended.err
        return "".join(complaints)

    return run


@pytest.fixture
def cell_file(tmp_path) -> Callable[..., Path]:
    """The APRS cell as a file of its own, without physics, with pieces of its text replaced."""
    from cellwright.cells import CELLS

    def write(*replacements: tuple[str, str], name: str = "mine.yaml") -> Path:
        text = CELLS.get("aprs").read_text(encoding="utf-8").replace("settle_s: 3.0", "fidelity: kinematic")
        for old, new in replacements:
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write
