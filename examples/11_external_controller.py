"""An external controller: a program that knows nothing of Cellwright builds a kit and is judged.

Shows:

- a trial as YAML: cell, orders, what goes wrong, how long it may take
- `cellwright trial`: opens its servers, prints their addresses, and waits for a controller
- `controllers/by_sockets.py`: sockets and text, in a process of its own; it sees by the vision socket, moves by CRCL
- the verdict: what it claimed, what is true, what was done to it, and whether that could be recovered from
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

CONTROLLER = Path(__file__).parent / "controllers" / "by_sockets.py"
TRIAL = """
trial: a_gear_is_taken_away
cell: aprs
seed: 3
pace: 4                   # four simulated seconds per second
time_limit_s: 120
orders:
  - {order: kit_m2l1, tray: fanuc_kit_m2l1}
faults:
  - remove:part=*medium*,before=grasp:2     # while the hand comes for it
"""


def run(folder):
    """Runs the trial and returns the verdict on the controller."""
    file = folder / "trial.yaml"
    file.write_text(TRIAL)
    command = [sys.executable, "-m", "cellwright", "trial", str(file), "--any-port", "--json", "--out", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as trial:
        addresses = json.loads(next(line for line in trial.stderr if line.startswith("{")))
        controller = [sys.executable, str(CONTROLLER), addresses["crcl"]["fanuc"], addresses["vision"]["fanuc"]]
        with subprocess.Popen(controller, stderr=subprocess.DEVNULL):
            verdict = json.loads(trial.communicate()[0])
    return verdict


with tempfile.TemporaryDirectory() as name:
    verdict = run(Path(name))
    files = sorted(path.name for path in Path(name).iterdir())

order = verdict["orders"][0]
print(f"claimed: {order['claimed']}, done: {order['done']}, {verdict['ending_text']}")
for item in order["kits"][0]["items"]:
    print(f"  {item['name']}: {item['reason']}")
for fault in verdict["faults"]:
    print(f"fault: {fault['fault']} {fault['subject']}; recoverable: {fault['recovery']['recoverable']}")
print("kept:", ", ".join(files))
