"""The pytest plugin, as a user's own pytest runs it: what is said, what is kept, what is removed."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cellwright.record import read_log
from cellwright.testing import CellError, CellUnderTest, expect
from cellwright.viewing.trace import trace_blocks

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "pytest"

GOOD = """
import pytest
from cellwright.core.errors import BadInput
from cellwright.testing import expect

def test_good(cell):
    cell.start("aprs", seed=2, pace=5)
    with pytest.raises(BadInput, match="unknown robot 'ur5' with a crcl interface .available: fanuc, motoman"):
        cell.crcl_address("ur5")
    assert cell.crcl_address("fanuc") != cell.vision_address("fanuc")
    with pytest.raises(BadInput, match="unknown part 'bolt'"):
        cell.remove("bolt")
    with pytest.raises(BadInput, match="run is for a controller inside"):
        cell.run()
    expect(cell).kit("kit_m2l1").not_to_be_complete()
    expect(cell).part("sku_part_medium_gear").to_be_in("fanuc_medium_tray/slot_1")
    with pytest.raises(BadInput, match="by_mm"):
        cell.push("medium_gear_1", by_mm=(0, 30, 5))
    with pytest.raises(BadInput, match="during: should be transfer:N"):
        cell.drop("medium_gear_1", during=2)
    with pytest.raises(BadInput, match="the time to wait is nan s, allowed 0 to 86400 s"):
        expect(cell).kit("kit_m2l1").to_be_complete(within_s=float("nan"))
    with pytest.raises(BadInput, match="should be a number of seconds, got '3'"):
        cell.wait("3")
    with pytest.raises(AssertionError, match="picture: .*test_good-py-test_good.test-failed-1.png"):
        expect(cell).kit("kit_m2l1").to_be_complete()
    cell.push("medium_gear_1", by_mm=(0, 30))
    cell.wait(1.5)
    expect(cell).part("medium_gear_1").not_to_be_in("fanuc_medium_tray/slot_1")
    assert 1.5 <= cell.time_s < 10.0
    assert [fault["fault"] for fault in cell.verdict()["faults"]] == ["push"]
    expect(cell).no_collision()

@pytest.mark.parametrize("_any_name", ["a b/</script>\u00e4"])
def test_refused(cell, _any_name):
    with pytest.raises(BadInput, match="unknown trial controller 'me' .available: external"):
        cell.start("aprs", controller="me")
    with pytest.raises(BadInput, match="cell.start: pace: should be greater than or equal to 0.01"):
        cell.start("aprs", pace=0)
    cell.start("aprs", faults="remove:part=large_gear_1,at=0")  # a mistake can be put right
    assert cell.time_s < 1.0
"""

BAD = """
import pytest
from cellwright.core.errors import BadInput
from cellwright.testing import expect

def test_bad(cell):
    cell.start("aprs", faults=["remove:part=large_gear_1,at=0"])
    with pytest.raises(BadInput, match="unknown kit 'kit_m2l'; did you mean 'kit_m2l1'"):
        expect(cell).kit("kit_m2l").to_be_complete()
    with pytest.raises(BadInput, match="unknown slot 'fanuc_kit_m2l1/slot_9'"):
        expect(cell).part("medium_gear_1").to_be_in("fanuc_kit_m2l1/slot_9")
    with pytest.raises(AssertionError, match="fanuc_kit_m2l1 is not complete at"):
        expect(cell).kit("fanuc_kit_m2l1").to_be_complete()
    expect(cell).kit("fanuc_kit_m2l1").to_be_complete(within_s=1000)
"""

GAP = """import cellwright as cw


@cw.SENSORS.register("gap")
class Gap(cw.Sensor[cw.SensorCfg]):
    Cfg, message_type = cw.SensorCfg, cw.messages.Range

    def sample(self):
        if self.world.clock.time_s > 0.5:
            FAILS
        return cw.messages.Range(*self.header(), frame="world", range_m=0.1, max_range_m=3.0)
"""

NO_PROGRAM = """
def test_none(cell):
    cell.start("aprs", time_limit_s=3)
    cell.run_controller(["no_such_program"])
"""

OWN_FAULT = """
def test_own_fault(cell):
    cell.start("ship.yaml", faults=["tilt:at=0.2,for_s=0.2"])
    cell.fault("tilt", deg=5, for_s=0.3)
    cell.fault("tilt", deg=1, after="place 3")
    cell.wait(1.5)
    told = sorted(fault["detail"] for fault in cell.verdict()["faults"])
    assert told == ["over", "over", "the floor leans by 3 deg for 0.2 s", "the floor leans by 5 deg for 0.3 s"]
"""


PAGE = ROOT / "src/cellwright/viewing/built/viewer.html"
KINDS = ("trace: ", "video: ", "picture: ", "verdict: ", "log: ")


def run_pytest(*arguments, folder, timeout_s=300):
    """A pytest of its own, with the plugin whether or not the package is installed."""
    installed = any(point.value == "cellwright.testing.plugin" for point in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "cellwright.testing.plugin"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), *plugin, *arguments]
    paths = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"PYTHONPATH": paths}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout_s)


@pytest.mark.slow
def test_a_failure_has_reasons_and_evidence(tmp_path):
    (tmp_path / "test_mine.py").write_text(BAD)
    kept = tmp_path / "kept"
    xml = tmp_path / "junit.xml"
    done = run_pytest("--cellwright-output", kept, "--junit-xml", xml, "--cellwright-report", folder=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    why = r"fanuc_kit_m2l1 is not complete at \d+\.\d s \(nobody is connected, and nothing moves any more\):"
    assert re.search(why, done.stdout)
    assert "NO  slot_3: the slot is empty" in done.stdout
    assert "ok  extras: nothing extra" in done.stdout
    assert re.search(r"fault remove large_gear_1 at 0\.\d\d s: taken away .* \(recoverable\)", done.stdout)
    folder = kept / "test_mine-py-test_bad"
    lines = [line.partition(": ")[::2] for line in done.stdout.splitlines() if line.startswith(KINDS)]
    assert [(kind, Path(file).name) for kind, file in lines] == [
        ("picture", "test-failed-1.png"),
        ("picture", "test-failed-2.png"),
        ("verdict", "verdict.json"),
        ("verdict", "verdict.html"),
        ("log", "log.mcap"),
    ]
    assert all((tmp_path / file).stat().st_size > 1000 for _, file in lines)
    assert sorted(kept.iterdir()) == [kept / "report.html", folder]
    told = [(one.get("name"), one.get("value")) for one in ElementTree.parse(xml).iter("property")]
    assert told == [told[0], *((f"cellwright_{kind}", file) for kind, file in lines)]
    assert told[0][0] == "cellwright_time_s"
    assert "testing/cell.py" not in done.stdout, "the trace shows the user's lines, not ours"


@pytest.mark.slow
@pytest.mark.skipif(not PAGE.exists(), reason="the viewer's page is not built")
def test_a_cell_that_is_a_file_has_a_trace_with_its_verdict(tmp_path):
    aprs = (ROOT / "src/cellwright/cells/aprs.yaml").read_text(encoding="utf-8")
    (tmp_path / "ship.yaml").write_text(aprs.replace("name: aprs", "name: ship"), encoding="utf-8")
    (tmp_path / "test_mine.py").write_text('def test_it(cell):\n    cell.start("ship.yaml")\n    cell.wait(0.2)\n')
    done = run_pytest("--cellwright-trace=on", "--cellwright-picture=off", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "test-results/test_mine-py-test_it"
    assert (folder / "trace.html").exists(), done.stdout
    noted = read_log(folder / "log.mcap").metadata
    assert (noted["run.cell"], noted["run.status"]) == ("ship.yaml", "failed")


@pytest.mark.slow
def test_the_trace_of_a_test_that_fails_says_so_whatever_the_judge_says(tmp_path):
    lines = [
        '    cell.start("aprs", seed=7, controller="internal")',
        "    assert cell.run()['done']",
        "    raise ValueError('too slow')",
    ]
    (tmp_path / "test_mine.py").write_text("\n".join(["def test_it(cell):", *lines, ""]))
    done = run_pytest("--cellwright-trace=on", "--cellwright-picture=off", folder=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    log = read_log(tmp_path / "test-results/test_mine-py-test_it/log.mcap")
    assert (log.metadata["run.status"], log.metadata["run.reason"]) == ("failed", "the test failed: too slow")
    assert log.metadata["run.command"] == "pytest test_mine.py::test_it"
    about = json.loads(trace_blocks(log)["run"])["about"]
    assert (about["status"], about["score"]) == ("failed", 1.0)
    assert about["failure_s"] == pytest.approx(log.span_ns[1] / 1e9, abs=0.1)


@pytest.mark.slow
def test_a_session_empties_nothing_that_another_is_writing(tmp_path):
    """Each test waits until the other session has begun, too."""
    wait = "import time\nfrom pathlib import Path\n\ndef test_it(cell):\n    cell.start('aprs')\n"
    wait += "    Path('{own}').touch()\n    while not Path('{other}').exists(): time.sleep(0.05)\n    assert False\n"
    for own, other in (("one", "two"), ("two", "one")):
        (tmp_path / f"test_{own}.py").write_text(wait.format(own=own, other=other))
    with ThreadPoolExecutor(2) as pool:
        done = [*pool.map(lambda name: run_pytest(f"test_{name}.py", folder=tmp_path), ("one", "two"))]
    logs = sorted(tmp_path.glob("test-results*/*/log.mcap"))
    assert [log.parents[1].name for log in logs] == ["test-results", "test-results-2"]
    said = [one.stdout.count("files are in test-results-2: another session has test-results") for one in done]
    assert sorted(said) == [0, 1]


@pytest.mark.slow
def test_a_kind_of_fault_of_the_users_own_is_used_like_any_other(tmp_path):
    guide = (ROOT / "docs/guide/faults.md").read_text(encoding="utf-8").partition("## Your own fault kind")[2]
    (tmp_path / "tilt.py").write_text(re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1], encoding="utf-8")
    aprs = (ROOT / "src/cellwright/cells/aprs.yaml").read_text(encoding="utf-8")
    (tmp_path / "ship.yaml").write_text(aprs + "plugins: [tilt.py]\n", encoding="utf-8")
    (tmp_path / "test_mine.py").write_text(OWN_FAULT)
    done = run_pytest(folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fails", "told"),
    [
        (
            "raise ValueError('first' + chr(10) + 'second line')",
            r"gap.py, line 10: sensor 'gap' fails in .*first second line",
        ),
        ("raise BaseException('first' + chr(10) + 'second line')", "BaseException: first second line"),
        ("import os; os._exit(3)", "it said nothing"),
    ],
)
def test_a_process_that_ended_is_told_with_its_last_words_and_the_file_that_has_all_of_them(tmp_path, fails, told):
    lines = GAP.replace("FAILS", fails)
    (tmp_path / "gap.py").write_text(lines, encoding="utf-8")
    aprs = (ROOT / "src/cellwright/cells/aprs.yaml").read_text(encoding="utf-8").replace("settle_s: 3.0", "settle_s: 0")
    sensor = "\nplugins: [gap.py]\nsensors:\n  - {type: gap, rate_hz: 50}\n"
    (tmp_path / "gap.yaml").write_text(aprs.replace("\nsensors:\n", sensor), encoding="utf-8")
    cell = CellUnderTest(tmp_path / "cell")
    host = tmp_path / "cell" / "host.txt"
    try:
        with pytest.raises(CellError, match=rf"the cell's process has ended: .*{told} \(all of it: {host}\)$"):
            cell.start(tmp_path / "gap.yaml").wait(1.0)
        assert host.exists()
        assert ("Traceback" in host.read_text()) == ("Base" in fails)
    finally:
        cell.close()


@pytest.mark.slow
def test_a_controller_that_is_not_there_is_one_line_and_a_short_limit_is_a_hint(tmp_path):
    (tmp_path / "test_mine.py").write_text(NO_PROGRAM)
    told = run_pytest(folder=tmp_path).stdout
    assert "cannot start the controller no_such_program: No such file or directory" in told
    assert "subprocess.Popen" not in told, "the trace shows the user's lines, not ours"
    assert "3 s may be too short: by the planner's durations, which another controller may beat, filling" in told


@pytest.mark.peer
def test_the_example_repository_and_a_failure_run_in_parallel(tmp_path):
    """Several cells at once, on one machine: each on its own ports; a success leaves nothing, a failure all it has."""
    (tmp_path / "test_good.py").write_text(GOOD)
    (tmp_path / "test_bad.py").write_text(BAD)
    kept = tmp_path / "kept"
    done = run_pytest(
        "-n", "2", "--cellwright-output", kept, str(tmp_path), str(EXAMPLE), folder=tmp_path, timeout_s=600
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 5 passed" in done.stdout, done.stdout
    assert [path.name for path in kept.iterdir()] == ["test_bad-py-test_bad"]


@pytest.mark.peer
def test_a_controller_that_hangs_is_disconnected_at_the_time_limit_and_no_process_is_left(tmp_path):
    cell = CellUnderTest(tmp_path / "cell").start("aprs", pace=5, time_limit_s=2)
    host, port = cell.vision_address("fanuc").split(":")
    process = cell._process
    try:
        with socket.create_connection((host, int(port)), timeout=60) as eyes:
            while eyes.recv(65536):
                pass
        assert 2.0 <= cell.time_s < 4.0
        assert cell.verdict()["ending"] == "time_limit"
        with pytest.raises(AssertionError, match="is not complete"):
            expect(cell).kit("kit_m2l1").to_be_complete(within_s=5)
    finally:
        cell.close()
    assert process.returncode == 0
    assert not (tmp_path / "cell").exists()
    with pytest.raises(CellError, match="does not run"):
        cell.vision_address("fanuc")


@pytest.mark.peer
def test_the_laboratory_ends_with_the_test_process(tmp_path):
    code = (
        "from pathlib import Path\nfrom cellwright.testing import CellUnderTest\nimport time\n"
        f"cell = CellUnderTest(Path({str(tmp_path / 'cell')!r})).start('aprs')\n"
        "print(cell._process.pid, flush=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            return
        time.sleep(0.1)
    pytest.fail("the laboratory still runs")


@pytest.mark.parametrize(
    "ask",
    [
        lambda cell: cell.time_s,
        lambda cell: cell.crcl_address("fanuc"),
        lambda cell: cell.control_address,
        lambda cell: cell.drop(),
        lambda cell: expect(cell).no_collision(),
    ],
)
def test_a_cell_that_was_not_started_says_so(tmp_path, ask):
    with pytest.raises(CellError, match=r'the cell does not run: call cell.start\("aprs", ...\) first'):
        ask(CellUnderTest(tmp_path))


def test_loading_the_plugin_imports_nothing_heavy():
    code = "import sys, cellwright.testing.plugin; print(*sorted({'numpy', 'mujoco', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
