"""No truth leaks at run time: the laboratory, its world and its judge raise when the controller's side touches them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import cellwright
from cellwright.cells import load_cell
from cellwright.core.errors import JobFailed
from cellwright.lab import Lab
from cellwright.lab.sources import with_source
from cellwright.orders import KitDesign, Order
from cellwright.trials import RunCfg, TrialStatus, run_order
from cellwright.trials.controllers import TRIAL_CONTROLLERS
from cellwright.trials.kitting_controller import KittingController

from .truth_guard import Touched, guarded

ONE_GEAR = Order.of("one gear", {KitDesign.of("kit_m", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 1}): 1})
SOURCE = Path(cellwright.__file__).parent
CONTROLLER_FILES = (
    "kitting_controller", "controller_ports", "controllers", "announced", "calibrated_ports", "registration/places",
    "registration/sightings", "registration/procedure", "registration/fitting", "frame_requests",
)  # fmt: skip
SIMULATION = {"sim", "lab", "judge", "sensors", "control", "interfaces"}


def laboratory():
    cell = load_cell("aprs").model_copy(update={"fidelity": "kinematic", "settle_s": 0.0})
    return Lab(cell, seed=3)


def test_a_kit_is_built_while_lab_world_and_judge_are_out_of_reach():
    with laboratory() as lab, guarded() as looked:
        report = run_order(lab, [ONE_GEAR], RunCfg(("fanuc",)))
    assert report.status is TrialStatus.DONE, report.reason
    assert looked[0] > 10_000, "the guard was there all the time"


@pytest.mark.slow
def test_a_kit_is_built_from_pixels_while_lab_world_and_judge_are_out_of_reach():
    """Recognition has the messages of a picture and the drawings: not the scene, not its seed."""
    pytest.importorskip("cv2")
    cell = with_source(load_cell("aprs").model_copy(update={"fidelity": "kinematic", "settle_s": 0.0}), "camera")
    with Lab(cell, seed=3) as lab, guarded() as looked:
        report = run_order(lab, [ONE_GEAR], RunCfg(("fanuc",)))
    assert report.status is TrialStatus.DONE, report.reason
    assert looked[0] > 1000, "the guard was there all the time"


def leaky(source):
    """A function whose module is one of the controller's packages."""
    scope = {"__name__": "cellwright.perception.leaky"}
    exec(source, scope)
    return scope["leak"]


@pytest.mark.parametrize(
    "source",
    [
        "def leak(lab, frame): frame.positions[:] = [lab.world.pose_of(s).position for s in lab.world.objects][0]",
        "def leak(lab, frame): object.__getattribute__(lab, 'world').data.qpos[:3]",
        "def leak(lab, frame): lab.seed",
    ],
)
def test_a_controller_that_puts_the_truth_in_place_of_what_was_seen_is_caught(source, monkeypatch):
    leak, see = leaky(source), KittingController._see
    with laboratory() as lab:
        monkeypatch.setattr(KittingController, "_see", lambda self, frame: (leak(lab, frame), see(self, frame)))
        with guarded(), pytest.raises(Touched, match=r"perception\.leaky\.leak, line 1 touches (Lab|World)\."):
            run_order(lab, [ONE_GEAR], RunCfg(("fanuc",)))


def test_frames_that_are_changed_on_the_way_to_the_controller_are_caught(monkeypatch):
    """As a wiring would that has the laboratory at hand."""
    from cellwright.trials import lab_ports

    source = "def _watch(bus, topic, take):\n    def heard(_topic, frame):\n        take(corrected(frame))\n"
    source += "    bus.subscribe(topic, heard, subscriber='controller')\n    return lambda: None"
    with laboratory() as lab:
        scope = vars(lab_ports) | {"corrected": lambda frame: (lab.world.pose_of("medium_gear_1"), frame)[1]}
        exec(source, scope)
        monkeypatch.setattr(lab_ports, "_watch", scope["_watch"])
        with guarded(), pytest.raises(Touched, match=r"lab_ports\.heard"):
            run_order(lab, [ONE_GEAR], RunCfg(("fanuc",)))


def test_a_controller_inside_a_trial_gets_no_way_to_the_truth():
    """Neither by the names of its ports nor by those of its orders."""
    from cellwright.trials.announced import AnnouncedOrder
    from cellwright.trials.controller_ports import ControllerPorts

    assert set(ControllerPorts.__dataclass_fields__) == {
        "clock", "drawings", "robots", "detectors", "cameras", "projectors", "topics", "database", "report", "poll_s",
    }  # fmt: skip
    assert set(AnnouncedOrder.__dataclass_fields__) == {"name", "wanted", "kits", "announced_s", "is_submitted"}


def imports_of(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith("cellwright.")}


@pytest.mark.parametrize("file", CONTROLLER_FILES)
def test_the_files_of_the_controller_import_nothing_that_simulates(file):
    wrong = imports_of(SOURCE / "trials" / f"{file}.py") & SIMULATION
    assert not wrong, f"trials/{file}.py imports {sorted(wrong)}"


def test_registered_controllers_live_in_files_that_import_nothing_that_simulates():
    for name in TRIAL_CONTROLLERS:
        path = Path(sys.modules[TRIAL_CONTROLLERS.get(name).__module__].__file__)
        if SOURCE in path.parents:
            assert not imports_of(path) & SIMULATION, f"{name}: {path}"


def test_the_word_of_a_controller_that_failed_is_no_success():
    async def gives_up(_ports, _orders):
        raise JobFailed("no gear is left")

    with laboratory() as lab:
        from cellwright.trials import Trial, TrialCfg
        from cellwright.trials.orders import OrderBook
        from cellwright.trials.report import Ending

        cfg = TrialCfg(trial="mine", orders=[{"order": "kit_m2l1"}])
        trial = Trial(lab, cfg, OrderBook.of(cfg.orders, lab.cell))
        end = lab.perform(trial.run(trial.inside(gives_up)))
        report = trial.report(end, "mine", wall_s=0.0)
    assert end == (Ending.FAILED, "no gear is left")
    assert (report.done, report.false_done) == (False, False)
