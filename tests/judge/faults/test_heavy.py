"""What is heavier changes nothing but masses."""

from __future__ import annotations

import numpy as np

from cellwright.judge import Judge, parse_fault
from cellwright.lab import Lab


def test_the_lock_of_a_tool_changer_stays_as_it_is():
    """A lock that was set anew as the cell is drawn would throw the tool at its arm."""
    with Lab.from_cell("kitting", seed=1) as lab:
        locks = lab.world.model.eq_data
        locks[lab.world.model.equality("motoman/changer_lock").id, :11] = [0, 0, 0, 0, 0, 0.022, 1, 0, 0, 0, 1]
        tray = lab.world.objects["medium_tray"]
        fault = parse_fault("heavy:tray=*,at=0.02,factor=2,for_s=0.1")
        judge = Judge(lab.world, lab.stepper, lab.bus, lab.sensors, [fault])
        before, masses = locks.copy(), []
        for _ in range(2):
            lab.advance(0.1)
            np.testing.assert_array_equal(locks, before)
            masses.append(float(lab.world.model.body_mass[tray.body]))
    assert judge.faults.events
    np.testing.assert_allclose(masses, [2 * tray.figures.mass_kg, tray.figures.mass_kg])
