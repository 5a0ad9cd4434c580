"""Completion in a real shell, by the script that the command prints."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

TRY = """
source {script}
COMP_WORDS=(cellwright {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=(); _cellwright
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def script_for(shell, folder):
    from cellwright.cli.app import make_app
    from cellwright.cli.completion import completion_script

    file = folder / f"completion.{shell}"
    file.write_text(completion_script(shell, make_app()))
    return file


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_for("bash", tmp_path_factory.mktemp("shell"))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("ru", ["run"]),
        ("run --ord", ["--order"]),
        ("run --order kit_m2l1_", ["kit_m2l1_plug"]),
        ("run --robots f", ["fanuc"]),
        ("run aprs --ord", ["--order"]),
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


@pytest.mark.peer
@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish_completes_words(tmp_path):
    script = script_for("fish", tmp_path)
    (tmp_path / "kept.mcap").touch()
    asked = {
        "ru": ["run"], "run --ord": ["--order"], "run aprs --ord": ["--order"], "cell che": ["check"],
        "run --recovery ": ["full", "none", "retry"], "log show k": ["kept.mcap"],
    }  # fmt: skip
    lines = [f"echo '= {words}'; complete -C 'cellwright {words}'" for words in asked]
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; {'; '.join(lines)}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    parts = [part.splitlines() for part in done.stdout.split("= ")[1:]]
    assert {part[0]: [line.split("\t")[0] for line in part[1:]] for part in parts} == asked


@pytest.mark.peer
@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
@pytest.mark.parametrize(
    ("words", "found"),
    [("ru", "run"), ("run aprs --ord", "--order"), ("cell che", "check"), ("log show k", "kept.mcap")],
)
def test_zsh_completes_words_at_its_prompt(tmp_path, words, found):
    script = script_for("zsh", tmp_path)
    for name in ("kept.mcap", "kept.txt"):
        (tmp_path / name).touch()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.environ |= {"TERM": "dumb", "COLUMNS": "200", "ZDOTDIR": str(tmp_path)}
        os.execvp("zsh", ["zsh", "-f", "-i"])
    said = ""

    def until(text):
        nonlocal said
        end_s = time.monotonic() + 60
        while text not in said:
            assert select.select([terminal], [], [], max(0.0, end_s - time.monotonic()))[0], said
            said += os.read(terminal, 65536).decode(errors="replace")

    try:
        os.write(terminal, f"PS1='> '; source {script}; bindkey '^I' complete-word; print RE''ADY\n".encode())
        until("READY")
        said = ""
        os.write(terminal, f"cellwright {words}\t".encode())
        until(f"cellwright {words.rpartition(' ')[0]} {found}".replace("  ", " "))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def test_it_is_installed_where_the_shell_looks(cellwright, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert cellwright("--install-completion").code == 0
    text = Path(tmp_path / ".config/fish/completions/cellwright.fish").read_text()
    assert "-n '__fish_seen_subcommand_from run' -l order -r -F -a 'a2b1c1" in text


def test_another_shell_is_refused(refused, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "shell 'tcsh'" in refused("--show-completion")
