"""What is made sure of before a file is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.cli.output import prepare_output, take_folder
from cellwright.core.errors import BadInput, OutputError


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


def test_folders_of_results_are_nobody_elses(tmp_path):
    usual, files = tmp_path / "out" / "trial" / "a", ["verdict.json"]
    for name in ("a", "a-2", "a-3"):
        folder = take_folder(None, usual, files)
        assert folder.name == name
        (folder / "verdict.json").write_text(name)
    assert take_folder(None, usual, files) == take_folder(None, usual, files), "one that stayed empty is taken again"
    with pytest.raises(BadInput, match=r"a-2/verdict.json exists, and is not overwritten: .* --overwrite"):
        take_folder(usual.with_name("a-2"), usual, files)
    assert take_folder(usual.with_name("a-2"), usual, files, overwrite=True).name == "a-2"
    assert take_folder(None, usual, files, overwrite=True) == usual
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file is not a folder"):
        take_folder(None, tmp_path / "file" / "a", files)
