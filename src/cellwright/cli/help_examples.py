"""Examples below the help of each command: what is typed most often. A test parses every one."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["EXAMPLES", "epilog"]

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": ("run", "run --seed 7 --out out/first", "cell list"),
    "init": ("init my_cell", "init my_cell --controller internal"),
    "examples": ("examples list", "examples copy"),
    "examples list": ("examples list",),
    "examples show": ("examples show own_cell",),
    "examples copy": ("examples copy --out my_examples",),
    "run": ("run --order kit_m2l1 --seed 7 --out out/first", "run --fault drop:during=transfer:2 --recovery none"),
    "trial": ("trial mine.yaml --out out/mine", "trial mine.yaml --controller external"),
    "calibrate": ("calibrate aprs --out aprs.calibration.yaml", "calibrate aprs --robot fanuc --out fanuc.yaml"),
    "cell": ("cell list", "cell check aprs --html check.html"),
    "cell new": ("cell new my_cell --out my_cell.yaml",),
    "cell export": ("cell export aprs --out aprs.urdf",),
    "cell fit": ("cell fit aprs --frames fanuc=frames.csv --out fitted.yaml",),
    "cell list": ("cell list", "cell list --json"),
    "cell show": ("cell show aprs", "cell show aprs --yaml"),
    "cell check": ("cell check aprs", "cell check my_cell.yaml --html check.html"),
    "cell picture": ("cell picture aprs --out aprs.png", "cell picture rovi --width 1920 --height 1080"),
    "model": ("model list", "model show ur5"),
    "model export": ("model export ur5 --out ur5.urdf",),
    "model check": ("model check ur5", "model check my_arm.urdf"),
    "model import": ("model import my_arm.urdf --name my_arm",),
    "model list": ("model list", "model list --json"),
    "model show": ("model show ur5",),
    "move": ("move aprs --robot fanuc --home", "move rovi --to 0.4,0.0,0.3"),
    "look": ("look rovi --camera left --out left.png",),
    "reach": ("reach rovi --object bottle", "reach rovi --object bottle --step 0.2 --turns 31"),
    "plan": ("plan aprs --order kit_m2l1", "plan aprs --order kit_m2l1 --gantt plan.svg"),
    "db": ("db init --url sqlite:///cell.db --cell aprs", "db show --url sqlite:///cell.db"),
    "db init": ("db init --url sqlite:///cell.db --cell aprs",),
    "db show": ("db show --url sqlite:///cell.db",),
    "db history": ("db history medium_gear_1 --url sqlite:///cell.db",),
    "serve": ("serve aprs", "serve aprs --any-port --record out/served.mcap"),
    "ros": ("ros topics epucks", "ros messages epucks --out ros_packages"),
    "ros topics": ("ros topics epucks",),
    "ros messages": ("ros messages epucks --out ros_packages",),
    "control": ("control aprs --order kit_m2l1",),
    "targets": ("targets check aprs targets.yaml", "targets show 127.0.0.1:7070"),
    "targets check": ("targets check aprs targets.yaml",),
    "targets show": ("targets show 127.0.0.1:7070", "targets show 127.0.0.1:7070 --json"),
    "targets switch": (
        "targets switch fanuc simulated --control 127.0.0.1:7070",
        "targets switch fanuc 192.168.1.65:64444 --control 127.0.0.1:7070 --align",
    ),
    "crcl": ("crcl status localhost:64444", "crcl conform localhost:64444 --html conform.html"),
    "crcl check": ("crcl check program.xml",),
    "crcl send": ("crcl send program.xml --to localhost:64444", "crcl send program.xml --to robot:64444 --step"),
    "crcl status": ("crcl status localhost:64444",),
    "crcl record": ("crcl record localhost:64444 --out out/session.mcap",),
    "crcl conform": ("crcl conform localhost:64444 --html conform.html", "crcl conform robot:64444 --no-motion"),
    "log": ("log show out/run.mcap", "log compare out/run.mcap out/run-2.mcap"),
    "log show": ("log show out/run.mcap", "log show out/run.mcap --topic /judge/verdict"),
    "log replay": ("log replay out/run.mcap --speed 4",),
    "log compare": ("log compare out/run.mcap out/run-2.mcap",),
    "log plot": ("log plot out/run.mcap --field '/fanuc/joint_states.position[2]'",),
    "log export": (
        "log export out/run.mcap --out run.bag",
        "log export out/run.mcap --out tables --format csv --topic '/fanuc/*'",
    ),
    "log perceive": ("log perceive run.bag --cell aprs --against out/run.mcap",),
    "log trace": ("log trace out/run.mcap --out run.html",),
    "log video": (
        "log video out/run.mcap --out run.mp4",
        "log video out/run.mcap --out drop.gif --from 8 --fast",
    ),
    "course": ("course list", "course start square", "course score square square.py --seeds 0..4"),
    "course list": ("course list",),
    "course start": ("course start square",),
    "course score": ("course score wall wall.py --seeds 0..4", "course score wall wall.py --record wall.mcap"),
    "course grade": ("course grade submissions --out grades.csv", "course grade submissions --own-seeds --key mango"),
    "experiment": ("experiment list", "experiment run rovi-interpolation --quick"),
    "experiment list": ("experiment list",),
    "experiment run": ("experiment run rovi-interpolation", "experiment run kitting-clean --quick --out out/clean"),
    "experiment compare": ("experiment compare out/clean out/clean-2",),
    "bench": ("bench motion --quick", "bench physics --json --out physics.json"),
    "doctor": ("doctor", "doctor --json"),
}
"""Command -> what is typed after `cellwright`."""


def epilog(command: str) -> str:
    """Returns the lines below the help of a command; of a bench, which are alike, those of all."""
    given = EXAMPLES.get(command)
    if given is None and command.startswith("bench "):
        given = (f"{command} --quick", f"{command} --runs 3 --out {command.split()[1]}.json")
    if not given:
        return ""
    lines = "\n".join(f"  cellwright {words}".rstrip() for words in given)
    return f"\b\n{'Example' if len(given) == 1 else 'Examples'}:\n{lines}"
