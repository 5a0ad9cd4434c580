"""Everything a person can get wrong is one line on stderr that says what, where and what is allowed; exit 2."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "aprz"], "unknown cell 'aprz'; did you mean 'aprs'? (available: aprs"),
        (["run", ""], "unknown cell ''"),
        (["run", "no/such.yaml"], "cell file no/such.yaml does not exist"),
        (["run", "epucks"], "cell 'epucks' has robots on wheels only"),
        (["cell", "show", "nothing.yml"], "cell file nothing.yml does not exist"),
        (["cell", "check", "apr"], "did you mean 'aprs'?"),
        (["cell", "picture", "x"], "unknown cell 'x'"),
        (["cell", "export", "x", "--out", "o.xml"], "unknown cell 'x'"),
        (["model", "show", "medium_geer"], "unknown model 'medium_geer'; did you mean 'medium_gear'?"),
        (["run", "--seed", "-1"], "seed is -1, allowed 0 to 9223372036854775807"),
        (["run", "--seed", "99999999999999999999"], "seed is 99999999999999999999, allowed 0 to"),
        (["cell", "show", "aprs", "--seed", "-1"], "seed is -1"),
        (["cell", "check", "aprs", "--seed", "-1"], "seed is -1"),
        (["run", "--robots", "fanuk"], "unknown robot 'fanuk'; did you mean 'fanuc'? (available: fanuc, motoman)"),
        (["run", "--order", "kit_m2l"], "unknown kit 'kit_m2l'; did you mean 'kit_m2l1'?"),
        (["run", "--recovery", "ful"], "unknown recovery 'ful'; did you mean 'full'?"),
        (["run", "--fault", "drop"], "say once when it happens"),
        (["run", "--fault", "spin:at=1"], "weak_gripper); a kind of fault of your own comes by the cell's `plugins`"),
        (["run", "--planner", "mine"], "sequencer); a planner of your own comes by the cell's `plugins`"),
        (
            ["plan", "aprs", "--order", "kit_m2l1", "--planner", "mine"],
            "sequencer); a planner of your own comes by the cell's `plugins`",
        ),
        (["run", "--fidelity", "exact"], "unknown fidelity 'exact' (available: kinematic, physics)"),
        (["run", "--record", "same", "--picture", "same"], "log and picture cannot both be written to same"),
        (["run", "--record", "."], "cannot write .: Is a directory"),
        (["log", "show", "no.mcap"], "cannot read log no.mcap: No such file"),
    ],
)
def test_bad_arguments(refused, arguments, words):
    assert words in refused(*arguments)
    assert not Path("out").exists() or not list(Path("out").iterdir())


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["run"], "--record"),
        (["run"], "--picture"),
        (["cell", "picture", "aprs"], "--out"),
        (["cell", "export", "aprs"], "--out"),
        (["model", "show", "small_gear"], "--picture"),
    ],
)
def test_output_that_cannot_be_written(refused, tmp_path, command, option):
    (tmp_path / "file").touch()
    line = refused(*command, option, "file/x")
    assert "cannot write file/x: file is not a folder" in line
    assert "cannot write file/a/x: " in refused(*command, option, "file/a/x")
    (tmp_path / "folder").mkdir()
    assert "cannot write folder: Is a directory" in refused(*command, option, "folder")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name: [broken", "bad.yaml: line 1, column 14: not valid YAML"),
        (b"\x00\x01\xff\xfe binary", "cannot read bad.yaml: not a UTF-8 text file"),
        (b"", "bad.yaml: should be a mapping, got nothing"),
        (b"- a\n- b\n", "bad.yaml: should be a mapping, got a list"),
        (b"just text", "bad.yaml: should be a mapping"),
        (b"name: mine\n", "bad.yaml, line 1: title: required, but missing"),
        (b"name: Mine!\ntitle: t\n", "bad.yaml, line 1: name: "),
        (b"name: m\ntitle: t\nrobot: {}\n", "unknown key 'robot'; did you mean 'robots'?"),
        (
            b"name: m\ntitle: t\ntimestep_s: 5\n",
            "bad.yaml, line 3: timestep_s: should be less than or equal to 0.01, got '5",
        ),
        (b"name: m\ntitle: t\n", "the cell has no robot; add one under robots"),
    ],
)
def test_cell_file_that_makes_no_sense(refused, tmp_path, content, words):
    (tmp_path / "bad.yaml").write_bytes(content)
    assert words in refused("run", "bad.yaml")


def test_planning_for_a_cell_without_robots_says_what_to_do(refused, tmp_path):
    (tmp_path / "bare.yaml").write_text("name: m\ntitle: t\n")
    wanted = "there is no robot to plan for; add one, in a cell file under robots"
    assert wanted in refused("plan", "bare.yaml", "--order", "kit_m2l1")
    assert "the cell has no robot; add one under robots" in refused("plan", "bare.yaml", "--order", "a2b1c1")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("model: lr_mate_200id", "model: lr_mate_200", "robots.fanuc.model: unknown robot model 'lr_mate_200'"),
        ("aprs_fanuc_gripper", "aprs_fanuc_griper", "did you mean 'aprs_fanuc_gripper'?"),
        (
            "model: fence",
            "model: fense",
            "fixtures.fence.model: unknown furniture model 'fense'; did you mean 'fence'?",
        ),
        ("count: 8, trays: [fanuc_medium_tray,", "count: 9, trays: [fanuc_medium_tray,", "only 8 free slots fit"),
        ("[fanuc_large_tray, ", "[fanuc_large_trai, ", "did you mean 'fanuc_large_tray'?"),
        ("home_deg: [0, 0, 0, 0, -90, 0]", "home_deg: [0, 0, 0, 0, -90]", "lr_mate_200id has 6 joints, got 5 angles"),
        ("home_deg: [0, 0, 0, 0, -90, 0]", "home_deg: [0, 0, 0, 0, -180, 0]", "joint_5 at -180 deg is outside -125"),
        (
            "[0.16, -1.000, 0.916]",
            "[0.20, -1.010, 0.916]",
            "trays.fanuc_kit_m2l1.pose: 'fanuc_kit_m2l1' and 'fanuc_medium_tray' overlap",
        ),
        (
            "[0.16, -1.000, 0.916]",
            "[x, -1.000, 0.916]",
            "trays.fanuc_medium_tray.pose.xyz_m.0: should be a number, got 'x'",
        ),
        (
            "type: wrench, robot: fanuc, rate_hz: 50",
            "type: wrench, robot: fanuc, rate_hz: -5",
            "sensors.4: rate_hz: should be greater",
        ),
        ("type: wrench, robot: fanuc", "type: wrench, robot: nobody", "unknown robot 'nobody'"),
        ("camera: camera_fanuc", "camera: camera_fanuk", "did you mean 'camera_fanuc'?"),
        (
            "type: wrench, robot: motoman",
            "type: wrench, robot: fanuc",
            "sensors.5: another sensor, sensors.4, is the same; give this one a name of its own",
        ),
    ],
)
def test_cell_file_with_one_mistake(refused, cell_file, old, new, words):
    line = refused("run", cell_file((old, new)))
    assert words in line
    assert "mine.yaml" in line


def test_cell_file_that_is_a_folder(refused, tmp_path):
    (tmp_path / "cell.yaml").mkdir()
    assert "cannot read cell.yaml: Is a directory" in refused("cell", "show", "cell.yaml")


@pytest.mark.parametrize("command", [["show"], ["replay"], ["plot"], ["compare", "log.mcap"]])
@pytest.mark.parametrize(("content", "words"), [(b"", "is empty"), (b"not a log at all", "is not a log")])
def test_file_that_is_not_a_log(refused, tmp_path, command, content, words):
    (tmp_path / "log.mcap").write_bytes(content)
    assert words in refused("log", *command, "log.mcap")


@pytest.mark.slow
def test_log_that_was_cut_off_is_shown_as_far_as_it_goes(cellwright, tmp_path):
    cellwright("run", "--fidelity", "kinematic", "--no-picture", "--record", "log.mcap")
    whole = Path("log.mcap").read_bytes()
    Path("cut.mcap").write_bytes(whole[: len(whole) // 2])
    ended = cellwright("log", "show", "cut.mcap", "--json")
    assert ended.code == 0
    assert ended.json["complete"] is False
    assert 0 < ended.json["count"] < cellwright("log", "show", "log.mcap", "--json").json["count"]
    assert "cut off" in cellwright("log", "show", "cut.mcap").err
