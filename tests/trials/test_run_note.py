"""The note on a run: what is in it is the same wherever the run was made."""

from cellwright.trials.run_note import run_command


def test_files_below_the_working_folder_are_named_as_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"cell": tmp_path / "mine.yaml", "order": "kit_m2l1", "calibration": tmp_path / "out/calibration.json"}
    assert run_command(asked) == "cellwright run mine.yaml --order kit_m2l1 --calibration out/calibration.json"
    other = run_command({"calibration": tmp_path.parent / "other.json"})
    assert other == f"cellwright run --calibration {tmp_path.parent / 'other.json'}"
