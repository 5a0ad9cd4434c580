"""The payload of an arm within the efforts that its file gives: guessed masses and a guessed payload yield to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue.model_settings import JointSettings, ModelSettings
from cellwright.models.importing.build import frame_of
from cellwright.models.importing.chain import Chain
from cellwright.models.importing.drives import described_effort, loads
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.source import ParsedDescription

__all__ = ["PAYLOAD_SHARE", "PayloadEstimate", "estimate_payload"]

Array = npt.NDArray[np.float64]
PAYLOAD_SHARE = 0.15
LEAST_PAYLOAD_SHARE = 0.002
LEAST_MASS_SHARE = 0.01
SPARE = 1.1  # effort over weight: with less, nothing is left to move with
HALVINGS = 10


class PayloadEstimate:
    """An arm's payload, and the load on its joints by it and by the arm.

    Attributes:
        payload_kg: As it was given, or guessed.
        inertia_kgm2: Largest inertia at each joint over random poses.
        weight_nm: Largest weight torque at each joint.
    """

    def __init__(self, payload_kg: float, joint_loads: tuple[Array, Array]) -> None:
        self.payload_kg = payload_kg
        self.inertia_kgm2, self.weight_nm = joint_loads


def estimate_payload(source: ParsedDescription, chain: Chain, settings: ModelSettings, notes: Notes) -> PayloadEstimate:
    """Returns the load of an arm that its efforts carry, as far as anything about it is guessed.

    Masses that were guessed are made smaller in the source itself, so that all that is made of it has them.
    """
    arm = _LoadedArm(source, chain, settings)
    scale, payload = 1.0, settings.payload_kg or arm.usual_payload(1.0)
    carried, weak = arm.is_carried(scale, payload), arm.weakest(scale, payload)
    if not carried and arm.guessed:
        lighter = _largest(lambda s: arm.is_carried(s, settings.payload_kg or arm.usual_payload(s)), LEAST_MASS_SHARE)
        if lighter is not None:
            scale = lighter
            payload = settings.payload_kg or arm.usual_payload(scale)
            notes.changed("masses", f"guessed ones are multiplied by {scale:.3g}: {weak}")
            arm.lighten(scale)
            carried = True
    if not settings.payload_kg and not carried:
        whole = payload
        less = _largest(lambda share: arm.is_carried(1.0, share * whole), LEAST_PAYLOAD_SHARE / PAYLOAD_SHARE)
        payload = float(f"{whole * (less or LEAST_PAYLOAD_SHARE / PAYLOAD_SHARE):.2g}")
        notes.guessed("payload", f"{payload:g} kg, not {PAYLOAD_SHARE:.0%} of the moving mass ({whole:g} kg): {weak}")
    elif not settings.payload_kg:
        notes.guessed("payload", f"{payload:g} kg: {PAYLOAD_SHARE:.0%} of the moving mass")
    loads = arm.joint_loads(scale, payload)
    for number in np.flatnonzero((arm.efforts_nm > 0) & (arm.efforts_nm < loads[1])):
        what = f"is kept, but does not carry what hangs on it ({loads[1][number]:.3g} N m)"
        notes.guessed(f"joint {chain.joints[number]}", f"its effort of {arm.efforts_nm[number]:g} N m {what}")
    return PayloadEstimate(payload, loads)


def _largest(fits: Callable[[float], bool], least: float) -> float | None:
    """Returns the largest share, up to 1 and of two digits, that fits; None where not even the least does."""
    if not fits(least):
        return None
    low, high = least, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    rounded = np.floor(low * 100) / 100
    return float(rounded if rounded >= least and fits(float(rounded)) else low)


class _LoadedArm:
    """The arm with its payload, 5 cm before the flange and 5 cm beside its axis; both may be made lighter."""

    def __init__(self, source: ParsedDescription, chain: Chain, settings: ModelSettings) -> None:
        self._source = source
        self._joints = chain.joints
        plain = source.spec.copy().compile()
        efforts = [
            (settings.joints.get(n, JointSettings()).effort_nm or described_effort(plain, n)) for n in chain.joints
        ]
        self.efforts_nm = np.array(efforts)
        moving = [plain.body(body).name for body, owner in chain.owners(plain).items() if owner]
        known = settings.mass_kg is not None
        self.guessed = [name for name in moving if name in source.guessed_masses and not known]
        own = source.spec.copy()
        tip = plain.body(chain.tip_body).name
        load = own.body(tip).add_body(name="cellwright payload", **frame_of(chain.tip_pose))
        load.explicitinertial = True
        load.mass, load.ipos, load.inertia = 1.0, [0.05, 0.0, 0.05], [1e-3] * 3
        self._model = own.compile()
        self._load = self._model.body("cellwright payload").id
        self._moving = [self._model.body(name).id for name in moving]
        self._lighter = [self._model.body(name).id for name in self.guessed]
        self._masses = self._model.body_mass.copy()
        self._inertias = self._model.body_inertia.copy()

    def usual_payload(self, scale: float) -> float:
        """Returns the usual payload: a share of the moving mass."""
        self._set(scale, 0.0)
        return max(float(f"{PAYLOAD_SHARE * self._model.body_mass[self._moving].sum():.2g}"), 1e-6)

    def joint_loads(self, scale: float, payload_kg: float) -> tuple[Array, Array]:
        """Returns inertia and weight torque at each joint."""
        self._set(scale, payload_kg)
        return loads(self._model, self._joints)

    def is_carried(self, scale: float, payload_kg: float) -> bool:
        """Returns whether every effort that is given carries it."""
        _, weight = self.joint_loads(scale, payload_kg)
        return bool(np.all((self.efforts_nm <= 0) | (self.efforts_nm >= SPARE * weight)))

    def weakest(self, scale: float, payload_kg: float) -> str:
        """Returns the joint that is farthest from carrying it, as text."""
        _, weight = self.joint_loads(scale, payload_kg)
        number = int(np.argmax(np.where(self.efforts_nm > 0, weight / np.maximum(self.efforts_nm, 1e-9), 0.0)))
        return f"the effort of '{self._joints[number]}', {self.efforts_nm[number]:g} N m, carries no more"

    def lighten(self, scale: float) -> None:
        """Makes guessed masses smaller in the source."""
        for name in self.guessed:
            body = self._source.spec.body(name)
            body.mass, body.fullinertia = body.mass * scale, np.array(body.fullinertia) * scale

    def _set(self, scale: float, payload_kg: float) -> None:
        model: Any = self._model
        model.body_mass[:], model.body_inertia[:] = self._masses, self._inertias
        model.body_mass[self._lighter] *= scale
        model.body_inertia[self._lighter] *= scale
        model.body_mass[self._load] = payload_kg
        model.body_inertia[self._load] *= max(payload_kg, 1e-9)
        mujoco.mj_setConst(model, mujoco.MjData(model))
