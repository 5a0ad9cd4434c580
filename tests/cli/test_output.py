"""What is made sure of before a file is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.cli.output import prepare_output
from cellwright.core.errors import OutputError


def test_a_file_that_will_be_written_is_never_there_empty(tmp_path, monkeypatch):
    opened, really = [], Path.open

    def watch(path, *arguments):
        opened.append(path)
        return really(path, *arguments)

    monkeypatch.setattr(Path, "open", watch)
    assert prepare_output(tmp_path / "new" / "run.world") == tmp_path / "new" / "run.world"
    assert opened, "it was tried"
    assert tmp_path / "new" / "run.world" not in opened
    assert list((tmp_path / "new").iterdir()) == []


def test_what_is_there_stays_and_what_cannot_be_written_is_refused(tmp_path):
    for name in ("run.db", "run.db.part"):
        (tmp_path / name).write_text("earlier")
    prepare_output(tmp_path / "run.db")
    prepare_output(tmp_path / "other.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.db", "run.db.part"]
    assert (tmp_path / "run.db").read_text() == "earlier"
    with pytest.raises(OutputError, match=r"run\.db is not a folder"):
        prepare_output(tmp_path / "run.db" / "a")
    with pytest.raises(OutputError, match="Is a directory"):
        prepare_output(tmp_path)
