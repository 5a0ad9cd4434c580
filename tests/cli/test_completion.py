"""Completion in a real shell, by the script that the command prints."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TRY = """
source {script}
COMP_WORDS=(cellwright {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=(); _cellwright
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    from cellwright.cli.app import make_app
    from cellwright.cli.completion import completion_script

    file = tmp_path_factory.mktemp("shell") / "completion.sh"
    file.write_text(completion_script("bash", make_app()))
    return file


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ru", ["run"]),
        ("run --ord", ["--order"]),
        ("run --order kit_m2l1_", ["kit_m2l1_plug"]),
        ("run --robots f", ["fanuc"]),
        ("run --recovery ''", ["full", "none", "retry"]),
        ("cell check rov", ["rovi"]),
        ("cell che", ["check"]),
        ("log show k", ["kept.mcap"]),
        ("trial m", ["mine.yaml"]),
    ],
)
def test_words_are_completed(script, tmp_path, words, found):
    for name in ("kept.mcap", "kept.txt", "mine.yaml", "mine.txt"):
        (tmp_path / name).touch()
    done = subprocess.run(
        ["bash", "-c", TRY.format(script=script, words=words)], cwd=tmp_path, capture_output=True, text=True, timeout=20
    )
    assert (done.stdout.split(), done.stderr) == (found, "")


def test_it_is_installed_where_the_shell_looks(cellwright, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert cellwright("--install-completion").code == 0
    text = Path(tmp_path / ".config/fish/completions/cellwright.fish").read_text()
    assert "-n '__fish_seen_subcommand_from run' -l order -r -a 'a2b1c1" in text


def test_another_shell_is_refused(refused, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "shell 'tcsh'" in refused("--show-completion")
