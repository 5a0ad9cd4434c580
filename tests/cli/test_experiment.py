"""`cellwright experiment`."""

import json


def test_list(cellwright):
    names = [entry["name"] for entry in cellwright("experiment", "list", "--json").json["experiments"]]
    assert {"rovi-interpolation", "rovi-reachability"} <= set(names)


def test_run_saves_the_result_that_it_prints(cellwright, tmp_path):
    ended = cellwright("experiment", "run", "rovi-interpolation", "--seed", 3, "--json")
    assert ended.code == 0
    saved = json.loads((tmp_path / "out" / "rovi-interpolation" / "result.json").read_text())
    assert saved == ended.json
    assert (saved["seed"], saved["failed"]) == (3, [])
    assert (tmp_path / "out" / "rovi-interpolation" / "report.html").exists()


def test_run_prints_ours_beside_the_papers(cellwright):
    ended = cellwright("experiment", "run", "rovi-interpolation", "--out", "there")
    row = next(line.split() for line in ended.out.splitlines() if line.startswith("demo.linear_s"))
    assert row[1:3] == ["31.142", "31.142"]
    assert row[-1] == "yes"


def test_compare(cellwright):
    for seed, folder in ((1, "a"), (2, "b")):
        cellwright("experiment", "run", "rovi-interpolation", "--seed", seed, "--out", folder)
    compared = cellwright("experiment", "compare", "a", "b/result.json", "--json").json
    assert compared["circumstances"] == {"seed": ["1", "2"]}
    assert {change["difference"] for change in compared["changes"].values()} == {0.0}
    assert "seed: 1 and 2" in cellwright("experiment", "compare", "a", "b").out


def test_bad_input(refused, tmp_path):
    assert "did you mean 'rovi-interpolation'?" in refused("experiment", "run", "rovi-interpolaton")
    assert "cannot read result no: No such file" in refused("experiment", "compare", "no", "no")
    (tmp_path / "file").write_text("{}")
    assert "is not a result" in refused("experiment", "compare", "file", "file")
    line = refused("experiment", "run", "rovi-interpolation", "--out", "file")
    assert "cannot write file/result.json: file is not a folder" in line
