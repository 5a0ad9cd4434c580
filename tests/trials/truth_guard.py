"""Makes a laboratory, its world and its judge raise when the controller's side touches them."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from cellwright.judge import Judge
from cellwright.lab import Lab
from cellwright.sim import World

CONTROLLER = (
    "cellwright.perception",
    "cellwright.knowledge",
    "cellwright.planning",
    "cellwright.execution",
    "cellwright.orders",
    "cellwright.drawings",
    "cellwright.motion.grasp",
    "cellwright.crcl.client",
    "cellwright.trials.kitting_controller",
    "cellwright.trials.controller_ports",
    "cellwright.trials.announced",
    "cellwright.trials.calibrated_ports",
    "cellwright.trials.registration.fitting",
    "cellwright.trials.registration.places",
    "cellwright.trials.registration.procedure",
    "cellwright.trials.registration.sightings",
    "cellwright.trials.camera_calibration.fitting",
    "cellwright.trials.camera_calibration.poses",
    "cellwright.trials.camera_calibration.procedure",
    "cellwright.trials.camera_calibration.tags",
)
WIRING = ("cellwright.trials.lab_ports", "heard")  # what hands frames over: between the bus and the controller
SERVERS = (
    "cellwright.interfaces",
    "cellwright.crcl.server",
    "cellwright.crcl.session",
    "cellwright.core.bus",
    "cellwright.trials.trial",  # takes submissions
    "cellwright.trials.camera_calibration.lab_hands",  # holds the board up, and hands out pictures
)


class Touched(AssertionError):
    """The controller's side touched what only the simulation and the judge may."""


def toucher():
    """The frame of the controller's side that reaches for something; None when a server, or nobody, does it for it.

    What a robot's CRCL server reads for a client, what the bus delivers to recorder and judge, and what a trial notes
    of a submission, is their business.
    """
    frame = sys._getframe(2)
    while frame is not None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module.startswith(CONTROLLER) or (module, name) == WIRING:
            return frame
        if module.startswith(SERVERS):
            return None
        frame = frame.f_back
    return None


@contextmanager
def guarded(*classes):
    """Guards all objects of these classes; yields the number of accesses that were looked at."""
    looked = [0]
    for kind in classes or (Lab, World, Judge):

        def guard(self, name, kind=kind):
            looked[0] += 1
            if (frame := toucher()) is not None:
                where = f"{frame.f_globals['__name__']}.{frame.f_code.co_name}, line {frame.f_lineno}"
                raise Touched(f"{where} touches {kind.__name__}.{name}")
            return object.__getattribute__(self, name)

        kind.__getattribute__ = guard
    try:
        yield looked
    finally:
        for kind in classes or (Lab, World, Judge):
            del kind.__getattribute__
