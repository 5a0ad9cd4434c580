"""`cellwright cell new`, and cells as YAML and as a schema."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from cellwright.cells import CELLS, load_cell

MODEL = "name: other\ntitle: Other\nmodels: {block: {file: block.stl, units: mm}}\n"


def test_a_new_cell_is_the_old_one_under_another_name(cellwright):
    ended = cellwright("cell", "new", "bench")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "bench.yaml: the cell bench, made from aprs; change it, then\n"
        "  cellwright cell check bench.yaml\n  cellwright cell picture bench.yaml\n  cellwright run bench.yaml\n"
    )
    aprs = load_cell("aprs")
    assert load_cell(Path("bench.yaml")).read_from(aprs.file) == aprs.model_copy(update={"name": "bench"})
    comments = [line for line in aprs.file.read_text(encoding="utf-8").splitlines() if "#" in line]
    text = Path("bench.yaml").read_text(encoding="utf-8")
    assert len(comments) > 5
    assert all(line in text for line in comments)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CELLS))
def test_what_is_to_be_done_next_works(cellwright, name):
    made = cellwright("cell", "new", "mine", "--from", name, "--out", "new folder/mine.yml", "--json").json
    assert made["file"] == "new folder/mine.yml"
    runs = [command for command in made["next"] if command.startswith("cellwright run ")]
    assert runs == (["cellwright run 'new folder/mine.yml'"] if name in ("aprs", "kitting") else [])
    ended = cellwright("cell", "check", "new folder/mine.yml")
    assert ended.code == 0, ended


@pytest.mark.slow
def test_a_new_cell_runs(cellwright):
    cellwright("cell", "new", "mine")
    ended = cellwright("run", "mine.yaml", "--no-picture", "--json")
    assert (ended.code, ended.json["cell"]) == (0, "mine")


def test_a_file_is_only_replaced_when_asked(cellwright, refused):
    Path("mine.yaml").write_text("mine")
    told = refused("cell", "new", "mine", "--from", "epucks")
    assert told == "cellwright: mine.yaml exists, and is not overwritten: choose another name, or add --overwrite\n"
    assert Path("mine.yaml").read_text() == "mine"
    assert cellwright("cell", "new", "mine", "--from", "epucks", "--overwrite").code == 0
    assert load_cell("mine.yaml").name == "mine"
    assert cellwright("cell", "new", "yours", "--from", "mine.yaml", "--out", "mine.yaml", "--overwrite").code == 0
    assert load_cell("mine.yaml").name == "yours"
    assert [path.name for path in Path().iterdir()] == ["mine.yaml"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["mine", "--from", "arps"], "unknown cell 'arps'; did you mean 'aprs'? (available: aprs, epucks, "),
        (["mine", "--from", "no.yaml"], "cell file no.yaml does not exist (cells by name: aprs, "),
        (["Mine"], "a name is a small letter and up to 47 small letters, digits or _, not 'Mine'"),
        (["../mine"], "a name is a small letter and"),
        (["rovi"], "a cell of the name 'rovi' is installed; choose another (taken: aprs, "),
        (["mine", "--from", "rovi@launch"], "give --from rovi, whose file has it, and use FILE@launch"),
        (["mine", "--from", "rovi@lunch"], "unknown variant 'lunch'; did you mean 'launch'?"),
        (["mine", "--out", "mine.txt"], "--out mine.txt: the name of a cell file ends with .yaml or .yml"),
        (["mine", "--out", "other.yaml/mine.yaml"], "cannot write other.yaml/mine.yaml: other.yaml is not a folder"),
        (["mine", "--from", "other.yaml", "--out", "new/mine.yaml"], "names files from its folder: write beside it"),
    ],
)
def test_what_makes_no_cell_is_refused_in_one_line(refused, arguments, told):
    Path("other.yaml").write_text(MODEL)
    message = refused("cell", "new", *arguments)
    assert told in message
    assert message.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["other.yaml"]


def test_a_cell_with_models_of_its_own_is_copied_beside_them(cellwright):
    Path("other.yaml").write_text(MODEL)
    assert cellwright("cell", "new", "mine", "--from", "other.yaml").code == 0
    assert load_cell("mine.yaml").models == load_cell("other.yaml").models


def test_show_as_yaml(cellwright, refused):
    ended = cellwright("cell", "show", "aprs", "--yaml")
    assert (ended.code, ended.err) == (0, "")
    shown = cellwright("cell", "show", "aprs", "--json").json
    assert yaml.safe_load(ended.out).items() <= shown.items()
    assert "give one of them" in refused("cell", "show", "aprs", "--yaml", "--json")
    Path("other.yaml").write_text(MODEL)
    assert "hint: files under models are named from" in cellwright("cell", "show", "other.yaml", "--yaml").err


def test_show_prints_the_schema(cellwright, refused):
    schema = cellwright("cell", "show", "--schema").json
    assert schema["required"] == ["name", "title"]
    assert "Missing argument 'CELL', or --schema" in refused("cell", "show")
