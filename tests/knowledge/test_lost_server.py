"""Runs on real servers that die, freeze or come back; two runs at once; and no word of the password anywhere."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cellwright.core.pose import Pose
from cellwright.knowledge import Database, DatabaseError, WorldModel, records

pytestmark = pytest.mark.peer
SERVERS = ["mariadb", "postgresql"]
LIMIT_S = 240.0
STATED_S = {"kill": 10.0, "freeze": 20.0}
"""How long a server is waited for, as the guide says."""


@pytest.fixture(params=SERVERS)
def server(request):
    return request.getfixturevalue(request.param)


def empty(server, name):
    """A database without any table."""
    server.execute(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
    return server.url(name)


def run(folder, url, *options):
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "cellwright", "run", "--no-picture", "--fidelity", "kinematic", *options]
    if "--resume" in options:
        command = [word for word in command if word not in ("--fidelity", "kinematic")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, "--database", url], cwd=folder, **pipes)


def told(process, word):
    """Reads what a run says until it says that."""
    heard = []
    for line in process.stderr:
        heard.append(line)
        if word in line:
            return heard
    raise AssertionError("".join(heard))


def nothing_secret(folder, *texts):
    for text in texts:
        assert "secret" not in text
    for path in Path(folder).rglob("*"):
        if path.is_file():
            assert b"secret" not in path.read_bytes(), path


@pytest.mark.parametrize("way", ["kill", pytest.param("freeze", marks=pytest.mark.long)])
def test_run_stops_in_one_line_and_goes_on_by_the_address_alone(server, tmp_path, way):
    url = empty(server, "lost")
    begun = run(tmp_path, url, "--record", "logs/first.mcap", "--seed", "5", "--json")
    told(begun, "take-part")
    thaw = server.kill() if way == "kill" else server.freeze()
    start_s = time.monotonic()
    try:
        out, err = begun.communicate(timeout=LIMIT_S)
    finally:
        took_s = time.monotonic() - start_s
        server.start() if thaw is None else thaw()
    last = err.splitlines()[-1]
    assert (begun.returncode, out) == (1, ""), err
    assert "Traceback" not in err
    assert last.startswith("cellwright: database ")
    assert "robots have stopped" in last
    assert sum("cellwright: " in line for line in err.splitlines()) == 1
    assert took_s < STATED_S[way] + 40.0  # the rest is the simulation and the end of the process, on a busy machine
    nothing_secret(tmp_path, err)
    again = run(tmp_path, url, "--resume", "--json")
    out, err = again.communicate(timeout=LIMIT_S)
    report = json.loads(out)
    assert (again.returncode, report["done"], report["order"]["resumed"]) == (0, True, True), report["reason"]
    assert report["start_s"] > 1.0
    assert tmp_path / report["log"] == tmp_path / "logs" / "first-resumed.mcap"
    assert (tmp_path / report["log"]).stat().st_size > 0
    nothing_secret(tmp_path, out, err)


def test_server_that_is_back_in_time_costs_nothing_but_time(server, monkeypatch):
    monkeypatch.setattr("cellwright.knowledge.database.OUTAGE_TIMEOUT_S", 60.0)  # a start may take its time
    database = Database(server.make())
    with database.session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="sku")
        at = records.PoseOnlyLocation(name="tray_at", ref_object=cell)
        session.add(records.PartsTray(name="tray", sku=sku, primary_location=at))
    model = WorldModel(database)
    server.kill()
    back = threading.Timer(0.5, server.start)
    back.start()
    model.observe(["tray"], Pose.from_xyz_rpy((1.0, 0.0, 0.0)).matrix[None], 1.0, "camera")
    back.join()
    assert WorldModel(database).pose_in("tray", "cell").position[0] == 1.0
    database.close()


def test_two_that_begin_at_once_on_an_empty_database_do_not_break_each_other(server):
    url, failed, opened = empty(server, "begun"), [], []

    def begin():
        try:
            opened.append(Database(url))
        except DatabaseError as error:
            failed.append(str(error))

    begun = [threading.Thread(target=begin) for _ in range(4)]
    for thread in begun:
        thread.start()
    for thread in begun:
        thread.join()
    assert failed == []
    for database in opened:
        with database.session() as session:
            assert len(records.Action.all(session)) > 20
        database.close()


@pytest.mark.long
def test_two_runs_at_once_on_one_empty_server(server, tmp_path):
    """In one database the first has it, and the other is told; in two, both work."""
    one = empty(server, "one")
    first, second = run(tmp_path / "a", one), run(tmp_path / "b", one)
    ended = [process.communicate(timeout=LIMIT_S) + (process.returncode,) for process in (first, second)]
    codes = sorted(code for _, _, code in ended)
    assert codes == [0, 2], ended
    refused = next(err for _, err, code in ended if code == 2).splitlines()[-1]
    assert "holds the workstation" in refused
    nothing_secret(tmp_path, refused)
    two = [run(tmp_path / name, empty(server, name)) for name in ("c", "d")]
    assert [(process.communicate(timeout=LIMIT_S), process.returncode)[1] for process in two] == [0, 0]
