"""Traces: what is in them is what the log says; logs that are damaged, old or foreign give one line."""

import json

import numpy as np
import pytest
from tests.viewing.decoded import decoded_keys

from cellwright.core.errors import CellwrightError
from cellwright.core.messages import Verdict
from cellwright.lab import Lab
from cellwright.record import read_log
from cellwright.viewing.about import failure_s
from cellwright.viewing.keys import encode_poses
from cellwright.viewing.packet import unpack
from cellwright.viewing.trace import trace_blocks

NEAR_M = 1.01e-4


def poses_at(blocks, time_s):
    """Returns name -> pose at a moment, as the page shows it."""
    header, _ = unpack(blocks["scene"])
    times, poses = decoded_keys(*unpack(blocks["keys"]), header)
    return {
        header["bodies"][body]["name"]: np.array([np.interp(time_s, times, column) for column in rows.T])
        for body, rows in poses.items()
    }


def worst_error_m(blocks, log):
    """Returns how far a thing is in a trace from where the log's truth has it, over all messages."""
    worst = 0.0
    header, _ = unpack(blocks["scene"])
    times, poses = decoded_keys(*unpack(blocks["keys"]), header)
    rows = {header["bodies"][body]["name"]: columns for body, columns in poses.items()}
    still = {body["name"]: body["pose"] for body in header["bodies"]}
    for _, _, message in log.entries(["/truth/poses"]):
        for name, position in zip(message.names, message.positions, strict=True):
            columns = rows.get(name)
            shown = still[name][:3]
            if columns is not None:
                shown = [np.interp(message.time_s, times, columns[:, axis]) for axis in range(3)]
            worst = max(worst, float(np.abs(np.array(shown) - position).max()))
    return worst


def test_mobile_robots_are_where_the_log_has_them(epuck_log):
    assert worst_error_m(trace_blocks(epuck_log), read_log(epuck_log)) < NEAR_M


def test_nothing_creeps_before_it_moves(epuck_log):
    blocks = trace_blocks(epuck_log)
    before, moved = (poses_at(blocks, time_s)["ePuck0"] for time_s in (0.4, 1.1))
    first = poses_at(blocks, 0.0)["ePuck0"]
    assert np.abs(before - first).max() < 1e-9
    assert np.abs(moved[:3] - first[:3]).max() > 0.01


def test_leds_change_their_colours_when_the_log_says_so(epuck_log):
    blocks = trace_blocks(epuck_log)
    materials = {one["name"]: one for one in unpack(blocks["scene"])[0]["materials"] if "name" in one}
    rows = json.loads(blocks["run"])["colours"]
    (lit,) = [row for row in rows if row["colours"]]
    assert lit["time_s"] == pytest.approx(0.5, abs=0.06)
    assert [*lit["colours"]] == ["ePuck1/led2"]
    *colour, glow = lit["colours"]["ePuck1/led2"]
    assert materials["ePuck1/led2"]["emission"] == 0.0 < glow
    assert colour != materials["ePuck1/led2"]["rgba"][:3]


def test_the_same_log_gives_the_same_bytes(epuck_log):
    assert trace_blocks(epuck_log) == trace_blocks(epuck_log)


def test_a_log_without_a_note_tells_what_it_lacks(epuck_log):
    run = json.loads(trace_blocks(epuck_log)["run"])
    assert run["about"]["status"] == "ended"
    assert run["about"]["failure_s"] is None
    assert any("does not tell how the run ended" in note for note in run["about"]["notes"])


def test_a_log_without_a_note_has_the_score_of_its_last_verdict(tmp_path):
    file = tmp_path / "log.mcap"
    with Lab.from_cell("epucks", seed=3) as lab:
        recorder = lab.record(file)
        lab.bus.declare("/judge/verdict", Verdict)
        lab.advance(0.5)
        for number, score in enumerate((1.0, 0.61)):
            verdict = Verdict(500_000_000, number, "judge", items=("kit",), passed=(False,), reasons=("",), score=score)
            lab.bus.publish("/judge/verdict", verdict)
        recorder.close()
    assert json.loads(trace_blocks(file)["run"])["about"]["score"] == 0.61


def test_a_log_cut_in_half_is_shown_as_far_as_it_goes(epuck_log, tmp_path):
    whole = epuck_log.read_bytes()
    half = tmp_path / "half.mcap"
    for share in (0.9, 0.8):
        half.write_bytes(whole[: int(len(whole) * share)])
        if read_log(half).topics:
            break
    about = json.loads(trace_blocks(half)["run"])["about"]
    assert any("incomplete" in note for note in about["notes"])


def test_a_log_that_is_still_being_written_is_shown_as_far_as_it_goes(tmp_path):
    file = tmp_path / "log.mcap"
    with Lab.from_cell("epucks", seed=3) as lab:
        recorder = lab.record(file)
        lab.mobiles["ePuck0"].drive(6.0, 4.0)
        while not read_log(file).topics if file.stat().st_size > 100 else True:
            lab.advance(0.5)
        blocks = trace_blocks(file)
        recorder.close()
    about = json.loads(blocks["run"])["about"]
    assert 0 < about["end_s"] <= read_log(file).span_ns[1] / 1e9
    assert any("incomplete" in note for note in about["notes"])
    assert not any("incomplete" in note for note in json.loads(trace_blocks(file)["run"])["about"]["notes"])


@pytest.mark.parametrize("content", [b"", b"no log at all", b"\x89MCAP0\r\n"])
def test_what_is_no_log_is_told_in_one_line(content, tmp_path):
    file = tmp_path / "run.mcap"
    file.write_bytes(content)
    with pytest.raises(CellwrightError) as told:
        trace_blocks(file)
    assert "\n" not in str(told.value)


def test_a_log_of_another_cell_names_the_remedy(epuck_log):
    with pytest.raises(CellwrightError, match="cell") as told:
        trace_blocks(epuck_log, cell="rovi")
    assert "\n" not in str(told.value)


def test_a_cell_whose_file_is_gone_names_the_remedy(tmp_path):
    """The note at the end says which file it was; the shapes are in that, not in the log."""
    with Lab.from_cell("epucks", seed=3) as lab:
        lab.record(tmp_path / "log.mcap")
        lab.note("run", {"cell": str(tmp_path / "own.yaml")})
        lab.advance(0.12)
    with pytest.raises(CellwrightError, match="--cell FILE") as told:
        trace_blocks(tmp_path / "log.mcap")
    assert "\n" not in str(told.value)
    assert trace_blocks(tmp_path / "log.mcap", cell="epucks")


def test_without_the_truth_things_have_no_place(tmp_path):
    with Lab.from_cell("aprs", seed=1) as lab:
        lab.record(tmp_path / "log.mcap")
        lab.advance(0.12)
    blocks = trace_blocks(tmp_path / "log.mcap", truth=False)
    header, _ = unpack(blocks["scene"])
    things = [body for body in header["bodies"] if body["kind"] in ("part", "tray")]
    assert things
    assert all(body["pose"] is None and body["sku"] for body in things)
    moving = {header["bodies"][number]["name"] for number in header["moving"]}
    assert not moving & {body["name"] for body in things}
    assert json.loads(blocks["run"])["about"]["is_truth_shown"] is False


def test_quaternions_never_jump_from_one_sign_to_the_other():
    turns = np.linspace(0, 4 * np.pi, 60)
    poses = np.zeros((60, 1, 7))
    poses[:, 0, 3], poses[:, 0, 6] = np.cos(turns / 2), np.sin(turns / 2)
    poses[::2, 0, 3:] *= -1
    whole = encode_poses(poses, poses[0])
    assert np.abs(np.diff(whole[:, 0, 3:], axis=0)).max() < 32767 / 4


def row(text, phase, start_s, step=None):
    made = {"robot": "arm", "text": text, "phase": phase, "start_s": start_s, "end_s": start_s + 1}
    return made if step is None else {**made, "step": step}


@pytest.mark.parametrize(
    ("actions", "events", "expected_s"),
    [
        ([row("take a", "failed", 1), row("take a", "end", 3)], [], 9.0),
        ([row("take a", "failed", 1), row("take a", "end", 3), row("take b", "failed", 5)], [], 6.0),
        ([row("take a_1", "failed", 1, "take a"), row("take a_2", "end", 3, "take a")], [], 9.0),  # with another part
        ([row("take a", "end", 1)], [{"kind": "hit", "time_s": 4.0}, {"kind": "hit", "time_s": 5.0}], 4.0),
        ([], [{"kind": "drop", "time_s": 2.0}, {"kind": "drop", "time_s": 3.0}], 3.0),
        ([], [], 9.0),
    ],
)
def test_the_moment_that_matters(actions, events, expected_s):
    assert failure_s({"actions": actions, "events": events}, 9.0) == expected_s


@pytest.mark.slow
def test_a_kit_tells_all_by_itself(kit_log):
    log, report = kit_log
    blocks = trace_blocks(log)
    run = json.loads(blocks["run"])
    assert worst_error_m(blocks, read_log(log)) < NEAR_M
    assert run["about"]["status"] == "done"
    assert run["about"]["command"].startswith("cellwright run aprs --order kit_m2l1")
    assert [action["text"] for action in run["actions"] if action["text"].startswith("take-part")]
    whens = {one["when"] for action in run["actions"] for one in action["predicates"]}
    assert whens == {"before", "after"}
    points = sum(item["points"] for item in run["score"])
    assert points == pytest.approx(sum(item.points for item in report.scored.items))
    assert len(blocks["run"]) < 1_000_000


@pytest.mark.slow
def test_a_failed_kit_opens_at_its_failure(failed_kit_log):
    log, report = failed_kit_log
    run = json.loads(trace_blocks(log)["run"])
    failed = [action for action in run["actions"] if action["phase"] == "failed"]
    assert run["about"]["status"] == "failed"
    assert run["about"]["failure_s"] == failed[-1]["end_s"]
    assert {event["kind"] for event in run["events"]} >= {"order", "fault", "verdict"}
    assert [event["text"] for event in run["events"] if event["kind"] == "drop"] == list(map(str, report.drops))
    hidden = trace_blocks(log, truth=False)["run"].decode()
    assert "transfer:2" in trace_blocks(log)["run"].decode()
    assert "transfer:2" not in hidden
    assert json.loads(hidden)["about"]["command"] is None
