"""What needs an optional package asks for it before it does anything: one line, exit 2, nothing written."""

import sys

import pytest

XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/></robot>'
CELL = "name: m\ntitle: M\nmodels: {mine: r.xacro}\nrobots: {a: {model: mine, base: {xyz_m: [0, 0, 0]}}}\n"
MARIADB, POSTGRESQL = "mysql://u:secret@127.0.0.1:1/x", "postgresql://u:secret@127.0.0.1:1/x"


@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        ("pymysql", "mariadb", ["run", "--database", MARIADB]),
        ("pymysql", "mariadb", ["run", "nowhere.yaml", "--database", MARIADB.replace("mysql", "mariadb")]),
        ("pymysql", "mariadb", ["run", "--resume", "--database", MARIADB]),
        ("psycopg", "postgresql", ["run", "--database", POSTGRESQL]),
        ("pymysql", "mariadb", ["db", "init", "--url", MARIADB, "--cell", "aprs"]),
        ("psycopg", "postgresql", ["db", "init", "--url", POSTGRESQL, "--cell", "aprs"]),
        ("pymysql", "mariadb", ["db", "show", "--url", MARIADB]),
        ("psycopg", "postgresql", ["db", "history", "fanuc", "--url", POSTGRESQL]),
        ("rdflib", "planning", ["db", "init", "--url", "new.db", "--instances", "a.owl"]),
        ("matplotlib", "plots", ["plan", "aprs", "--order", "kit_m2l1", "--gantt", "chart.png"]),
        ("matplotlib", "plots", ["log", "plot", "nowhere.mcap"]),
        ("up_fast_downward", "planners", ["plan", "aprs", "--order", "kit_m2l1", "--planner", "fast-downward"]),
        ("up_enhsp", "planners", ["plan", "aprs", "--order", "kit_m2l1", "--planner", "enhsp"]),
        ("xacrodoc", "xacro", ["model", "import", "r.xacro"]),
        ("xacrodoc", "xacro", ["model", "check", "r.xacro"]),
        ("xacrodoc", "xacro", ["cell", "check", "cell.yaml"]),
        ("xacrodoc", "xacro", ["cell", "show", "cell.yaml"]),
        ("xacrodoc", "xacro", ["run", "cell.yaml"]),
        ("numba", "motion", ["bench", "motion", "--quick"]),
        ("ompl", "motion", ["bench", "motion", "--quick"]),
        ("numba", "motion", ["experiment", "run", "control-tracking"]),
        ("numba", "motion", ["experiment", "run", "rovi-rrt"]),
        ("ompl", "motion", ["experiment", "run", "rovi-rrt"]),
        ("toppra", "motion", ["experiment", "run", "rovi-rrt"]),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else value,
)
def test_the_extra_is_asked_for_first(cellwright, tmp_path, monkeypatch, module, extra, command):
    (tmp_path / "r.xacro").write_text(XACRO)
    (tmp_path / "cell.yaml").write_text(CELL)
    (tmp_path / "a.owl").write_text("<rdf/>")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setitem(sys.modules, module, None)  # an import of it fails, as where it is not installed
    ended = cellwright(*command)
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert line.endswith(f"needs an optional package: pip install 'cellwright[{extra}]'")
    assert "secret" not in line
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("module", "bench", "words"),
    [
        ("numba", "grasp", "pip install 'cellwright[motion]'): no bottles"),
        ("pybullet", "physics", "pip install 'cellwright[bench]'): the comparison with it is left out"),
        ("pymysql", "planning", "MariaDB needs an optional package (pip install 'cellwright[mariadb]'): left out"),
        ("up_enhsp", "planning", "enhsp needs an optional package (pip install 'cellwright[planners]'): left out"),
    ],
)
def test_a_bench_that_can_do_without_says_so_first(monkeypatch, module, bench, words):
    from cellwright.bench import BENCHES, MeasurementConditions

    class Enough(Exception):
        pass

    said = []

    def say(text):
        said.append(text)
        if words in text:
            raise Enough
        assert "needs an optional package" in text, "it began to work"

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Enough):
        BENCHES.get(bench)(MeasurementConditions(quick=True, say=say))
