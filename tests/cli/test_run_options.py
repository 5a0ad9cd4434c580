"""What goes wrong in a run is checked, and the run announced, before anything heavy is loaded."""

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [["--fault", "drop:during=transfer:1"], ["--recovery", "none"]],
    ids=["fault", "recovery"],
)
def test_what_is_built_is_said_before_the_simulator_is_loaded(options):
    code = (
        "import sys\nimport cellwright.cli.run as command\nfrom cellwright.cli import main\n"
        "command.tell = lambda *_, **__: sys.exit(int('mujoco' in sys.modules))\n"
        f"main(['run', *{options!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_bad_faults_are_told(cellwright):
    ended = cellwright("run", "--fault", "dorp", "--fault", "drop:prat=*", "--recovery", "some")
    assert ended.code == 2
    assert len(ended.err.splitlines()) == 3
