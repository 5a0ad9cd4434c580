"""Real and virtual in one cell: one arm and its camera external, the other simulated; swapped; and a shadow.

Shows:

- a second process that plays the real cell: `cellwright serve` with a seed and errors of its own. It could as well be
  a real one: all that is known of it are the addresses of CRCL servers and vision sockets
- `targets`: which robots and detectors are somewhere else; the others are simulated. The laboratory has a pace
- the twin: the simulated arm follows the external one, so that it is seen, and things move where it moves them
- shadow mode: the simulated arm does the same beside the external one, and `compare_twins` tells how they differ

Besides the names of `cellwright` it imports `compare_twins` from `cellwright.record`.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cellwright as cw
from cellwright.record import compare_twins

PACE = "2"  # both hurry; beside a cell that is really there it is 1
REAL = [sys.executable, "-m", "cellwright", "serve", "aprs@calibrated", "--seed=99", "--any-port", "--json", "--pace"]


def build(robot, *, shadow=False):
    """Builds a kit with one robot and its camera external, in a real cell of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([*REAL, PACE], stdout=subprocess.PIPE, text=True) as process,
        cw.Lab.from_cell("aprs", seed=1, pace=float(PACE)) as lab,
    ):
        try:
            real = json.loads(process.stdout.readline())
            log = Path(folder) / "log.mcap"
            recorder = lab.record(log)
            report = lab.run(
                order="kit_m2l1",
                robots=[robot],
                targets={
                    "robots": {robot: {"at": real["crcl"][robot], "shadow": shadow}},
                    "detectors": {f"detector_{robot}": real["vision"][robot]},
                },
            )
            recorder.close()
            return report, compare_twins(cw.read_log(log))[0]
        finally:
            process.terminate()


for robot in ("fanuc", "motoman"):
    report, twin = build(robot)
    print(f"{robot} external: {report.status}; its twin was {1000 * twin.lag_s_p95:.0f} ms late")
report, twin = build("fanuc", shadow=True)
print(
    f"fanuc with a shadow: {report.status}; {twin.commands} commands, {100 * twin.outcome_agreement:.0f} % ended alike"
)
