from __future__ import annotations

import json
import time
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from cellwright.core import Bus
from cellwright.core.messages import ActionEvent, Image, JointState, WorldTruth, Wrench
from cellwright.record import Recorder
from cellwright.record.writer import LogWriter

cli = pytest.importorskip("cellwright.cli", reason="the main command is not there")


def write_log(path: Path, seed: int = 7, force: float = 0.0, steps: int = 100) -> Path:
    bus = Bus()
    with Recorder(bus, path, metadata={"seed": str(seed), "cell": "aprs"}):
        for step in range(steps):
            time_ns, position = step * 20_000_000, np.array([step / 50, np.nan])
            bus.publish(
                "/fanuc/joint_states",
                JointState(
                    time_ns, step, "fanuc", names=("a", "b"), position=position, velocity=position, effort=position
                ),
            )
            bus.publish(
                "/fanuc/wrench",
                Wrench(time_ns, step, "fanuc", frame="flange", force=np.array([force, 0, -2.0]), torque=np.zeros(3)),
            )
        truth = WorldTruth(
            0,
            0,
            "world",
            names=("gear [nan]",),
            positions=np.ones((1, 3)),
            quaternions=np.ones((1, 4)),
            contact_pairs=(),
            contact_forces=np.zeros(0),
        )
        bus.publish("/truth/poses", truth)
        bus.publish(
            "/camera/image",
            Image(0, 0, "camera", frame="optical", encoding="rgb8", pixels=np.zeros((48, 64, 3), np.uint8)),
        )
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "run.mcap")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]):
    """Runs `cellwright log ...`; returns exit code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["log", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return int(ended.value.code or 0), out, err

    return run


def test_show_for_people(command, log):
    code, out, err = command("show", log)
    assert (code, err) == (0, "")
    for text in (
        "202 messages, 0 s to 1.98 s",
        "seed",
        "aprs",
        "/fanuc/joint_states",
        "50.0",
        "WorldTruth",
    ):
        assert text in out
    assert max(map(len, out.splitlines()[1:])) <= 80  # the first line has the path


def test_sentences_in_a_list_can_be_told_apart(command, tmp_path):
    event = ActionEvent(
        0, 0, "execution", robot="fanuc", action="(take)", phase="end", reason="",
        predicates=("a(b, c)", "d"), values=("true", "false"),
        evidence=("seen 1 s ago", "by the hand"),
    )  # fmt: skip
    bus = Bus()
    with Recorder(bus, tmp_path / "a.mcap"):
        bus.publish("/execution/actions", event)
    _, out, _ = command("show", tmp_path / "a.mcap", "--topic", "/execution/actions")
    assert "seen 1 s ago; by the hand" in out
    assert "true false" in out


def test_show_messages_of_a_topic(command, log):
    code, out, _ = command("show", log, "--topic", "/truth/poses")
    assert code == 0
    assert "gear [nan]" in out, "names are not taken for markup"
    assert "(1 1 1)" in out
    assert "/fanuc/wrench" not in out
    _, out, _ = command("show", log, "--topic", "/fanuc/wrench", "--limit", 3)
    assert out.count("/fanuc/wrench at") == 3
    _, out, _ = command("show", log, "--topic", "/camera/image")
    assert "uint8 48 x 64 x 3" in out


def test_messages_of_a_class_that_is_not_known_here_are_shown(command, tmp_path):
    """As those of a plugin are: its file is not imported to look into a log."""
    store, name = get_typestore(Stores.ROS2_JAZZY), "cellwright_msgs/msg/TrayGap"
    store.register(get_types_from_msg("std_msgs/Header header\nuint32 sequence\nfloat64 gap_m\n", name))
    with (tmp_path / "own.mcap").open("wb") as file:
        writer = LogWriter(file, {})
        schema = writer.add_schema(name, store.generate_msgdef(name, ros_version=2)[0])
        channel = writer.add_channel("/eye/tray_gap", schema, {})
        header = store.types["std_msgs/msg/Header"](store.types["builtin_interfaces/msg/Time"](1, 500), "eye")
        for number in range(5):
            message = bytes(store.serialize_cdr(store.types[name](header, number, 0.125), name))
            writer.add_message(channel, number, 1_000_000_500, 1_000_000_500, message)
        writer.finish()
    for arguments in (["--topic", "/eye/tray_gap", "--limit", 3], ["--limit", 3]):
        code, out, err = command("show", tmp_path / "own.mcap", *arguments)
        assert code == 0, err
        assert [line for line in out.splitlines() if " at " in line] == [
            f"/eye/tray_gap at 1.000 s, number {number} of eye" for number in range(3)
        ]
        assert out.count("gap_m            0.125") == 3
        assert "nanosec" not in out, "the time is told"
    assert command("replay", tmp_path / "own.mcap", "--speed", 0)[0] == 0


def test_show_json_is_one_object(command, log):
    code, out, err = command("show", log, "--json")
    shown = json.loads(out)
    assert (code, err) == (0, "")
    assert shown["complete"] is True
    assert shown["metadata"] == {"seed": "7", "cell": "aprs"}
    assert (shown["count"], shown["start_s"], shown["end_s"]) == (202, 0.0, 1.98)
    assert shown["topics"][0] == {
        "name": "/fanuc/joint_states",
        "type": "sensor_msgs/msg/JointState",
        "count": 100,
        "rate_hz": pytest.approx(50),
        "first_s": 0.0,
        "last_s": 1.98,
    }
    _, out, _ = command("show", log, "--json", "--limit", 2)
    messages = json.loads(out)["messages"]
    assert messages[0]["message"]["position"] == [0.0, None], "not a number is null"
    assert len(messages) == 2


def test_a_log_that_was_cut_is_shown_with_a_warning(command, log):
    log.write_bytes(log.read_bytes()[:-100])
    code, out, err = command("show", log)
    assert code == 0
    assert "202 messages" in out
    assert "not complete" in err
    _, out, _ = command("show", log, "--json")
    assert json.loads(out)["complete"] is False
    assert "cut off" in json.loads(out)["problem"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "nothing.mcap"], "cannot read log nothing.mcap: No such file or directory"),
        (["show", "."], "is a folder without metadata.yaml"),
        (["plot", "."], "Is a directory"),
        (["show", "EMPTY"], "is not a log: the file is empty"),
        (["show", "LOG", "--topic", "/fanuc/wrnch"], "did you mean '/fanuc/wrench'?"),
        (["show", "LOG", "--limit", "-1"], "--limit"),
        (["replay", "LOG", "--speed", "-1"], "replay speed is -1 x, allowed 0 to"),
        (["replay", "LOG", "--speed", "nan"], "replay speed"),
        (["replay", "LOG", "--topic", "/x", "--speed", "0"], "unknown topic '/x'"),
        (["compare", "LOG", "EMPTY"], "is not a log"),
        (["compare", "LOG", "LOG", "--tolerance", "-1"], "tolerance is -1"),
        (["plot", "LOG", "--field", "/fanuc/wrench.forse", "--out", "OUT"], "did you mean 'force'?"),
        (["plot", "LOG", "--out", "/proc/nobody/x.png"], "cannot write /proc/nobody/x.png"),
        (["trace", "LOG", "--out", "LOG", "--overwrite"], "is another file of this command"),
        (["compare", "EQUAL", "LOG", "--html", "LOG", "--overwrite"], "is another file of this command"),
        (["compare", "LOG", "EQUAL", "--html", "LOG", "--overwrite"], "is another file of this command"),
        (["video", "FILM", "--out", "FILM"], "is another file of this command"),
        (["shwo", "LOG"], "shwo"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(command, log, tmp_path, arguments, told):
    (tmp_path / "empty").touch()
    film = tmp_path / "film.webp"
    film.symlink_to(log)
    held = log.read_bytes()
    places = {"LOG": log, "EQUAL": log, "EMPTY": tmp_path / "empty", "OUT": tmp_path / "out.png", "FILM": film}
    code, out, err = command(*(places.get(argument, argument) for argument in arguments))
    assert code == 2
    assert out == ""
    assert told in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "out.png").exists()
    assert log.read_bytes() == held


def test_replay_in_order_of_time(command, log):
    code, out, _ = command("replay", log, "--speed", 0)
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 202
    assert lines[0] == "     0.000  /fanuc/joint_states  names a b, position 0 nan, velocity 0 nan, effort 0 nan"
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)


def test_replay_json_lines_of_a_topic(command, log):
    _, out, _ = command(
        "replay", log, "--speed", 0, "--json-lines", "--topic", "/fanuc/wrench", "--topic", "/camera/image"
    )
    messages = [json.loads(line) for line in out.splitlines()]
    assert len(messages) == 101
    assert messages[0]["message"]["force"] == [0.0, 0.0, -2.0]
    assert messages[1]["message"]["pixels"] == {"dtype": "uint8", "shape": [48, 64, 3]}


def test_replay_takes_its_time(command, log):
    started = time.monotonic()
    command("replay", log, "--speed", 5, "--topic", "/fanuc/wrench")
    assert time.monotonic() - started >= 1.98 / 5


def test_compare_says_where_logs_part(command, log, tmp_path):
    same = write_log(tmp_path / "same.mcap")
    code, out, _ = command("compare", log, same)
    assert (code, out.split(":")[0]) == (0, "equal")
    other = write_log(tmp_path / "other.mcap", seed=8, force=0.25, steps=90)
    code, out, _ = command("compare", log, other)
    assert code == 1
    assert "/fanuc/wrench at 0.000000 s (number 0): force[0] is 0.0 in A and 0.25 in B" in out
    assert "seed" in out
    assert "90" in out
    near = write_log(tmp_path / "near.mcap", force=1e-9)
    assert command("compare", log, near)[0] == 1
    code, out, _ = command("compare", log, near, "--tolerance", 1e-6)
    assert (code, "within 1e-06" in out) == (0, True)


def test_compare_json(command, log, tmp_path):
    other = write_log(tmp_path / "other.mcap", seed=8, force=0.25, steps=90)
    code, out, err = command("compare", log, other, "--json")
    result = json.loads(out)
    assert (code, err) == (1, "")
    assert (result["equal"], result["sameness"]) == (False, "different")
    assert result["first"] == {
        "topic": "/fanuc/wrench",
        "time_ns": 0,
        "number": 0,
        "field": "force",
        "index": [0],
        "a": 0.0,
        "b": 0.25,
    }
    assert {"name": "/fanuc/wrench", "a": 100, "b": 90} in result["topics"]
    assert result["metadata"] == [{"name": "seed", "a": "7", "b": "8"}]
    code, out, _ = command("compare", log, log, "--json")
    assert (code, json.loads(out)["sameness"], json.loads(out)["first"]) == (0, "identical", None)


def noted(path: Path, **note: object) -> Path:
    with Recorder(Bus(), path, metadata={"run." + key: json.dumps(value) for key, value in note.items()}):
        pass
    return path


def test_notes_that_are_json_have_a_line_for_each_entry(command, tmp_path):
    one, two = {"name": "slot_1", "points": 3.0}, {"name": "slot_2", "points": 3.0}
    a = noted(tmp_path / "a.mcap", items=[one, two], options={"recovery": "none"}, events=[])
    b = noted(tmp_path / "b.mcap", items=[one, two | {"points": 0.0}], options={"recovery": "none"}, events=[one])
    _, out, _ = command("show", a)
    assert "{" not in out
    assert "[]" not in out
    assert "name slot_2, points 3" in out
    code, out, _ = command("compare", a, b)
    assert code == 0
    assert "points 0" in out
    assert "slot_2" in out
    assert "recovery" not in out
    told = [line.split() for line in out.splitlines() if "slot_1" in line]
    assert told == [["run.events", "-", "name", "slot_1,", "points", "3"]]


def test_plot(command, log, tmp_path):
    pytest.importorskip("matplotlib", reason="extra 'plots' is not installed")
    picture = tmp_path / "made" / "plot.png"
    code, out, _ = command("plot", log, "--field", "/fanuc/joint_states.position[0]", "--out", picture)
    assert code == 0
    assert "(1 curve)" in out.replace("\n", " ")
    assert BytesIO(picture.read_bytes()).read(4) == b"\x89PNG"
    assert command("plot", log, "--out", tmp_path / "default.png")[0] == 0
    _, out, _ = command("plot", log, "--field", "/fanuc/joint_states.position[0]", "--out", picture, "--json")
    assert json.loads(out)["curves"] == [{"topic": "/fanuc/joint_states", "field": "position", "unit": "rad or m"}]
