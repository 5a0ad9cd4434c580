"""No grasp on a measurement of low quality: what is poor is looked at again, and then given up with the reason."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.pose import Pose
from cellwright.execution.careful_look import CarefulLook
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement

HERE = Pose.from_xyz_rpy([0.4, 1.05, 0.75])


def found(sd_m: float = 0.001) -> PoseMeasurement:
    return PoseMeasurement(
        status=MeasurementStatus.FOUND, pose_in_world=HERE, variances=np.full(6, sd_m**2), quality=0.9
    )


def poor(status: MeasurementStatus = MeasurementStatus.POOR) -> PoseMeasurement:
    return PoseMeasurement(status=status, reason="12 % of it was seen", pose_in_world=HERE, variances=np.full(6, 1e-8))


class Told:
    """Measurements one after the other."""

    def __init__(self, *told: PoseMeasurement) -> None:
        self.told = list(told)

    async def measure(self) -> PoseMeasurement:
        return self.told.pop(0)


def look(*told: PoseMeasurement, clearance_m: float = 0.011, **more) -> CarefulLook:
    return CarefulLook(Told(*told), "the bottle", clearance_m, **more)


def test_what_is_found_well_is_taken_at_once():
    careful = look(found(), poor())
    assert asyncio.run(careful()).pose_in_world is HERE
    assert len(careful.measurements) == 1


def test_what_is_poor_is_looked_at_again():
    careful = look(poor(), found())
    assert asyncio.run(careful()).pose_in_world is HERE
    assert [one.status for one in careful.measurements] == [MeasurementStatus.POOR, MeasurementStatus.FOUND]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (MeasurementStatus.POOR, FailureKind.DOUBT),
        (MeasurementStatus.NOT_SEEN, FailureKind.NOT_THERE),
        (MeasurementStatus.BAD_PICTURE, FailureKind.UNSEEN),
        (MeasurementStatus.BAD_PAIR, FailureKind.UNSEEN),
    ],
)
def test_what_stays_bad_is_given_up_with_the_reason_though_it_has_a_pose(status, kind):
    with pytest.raises(StepFailed, match=f"not taken after 3 looks: {status}: 12 % of it was seen") as caught:
        asyncio.run(look(poor(status), poor(status), poor(status))())
    assert caught.value.kind is kind


@given(sd_m=st.floats(1e-5, 0.05), clearance_m=st.floats(0.001, 0.02))
def test_three_deviations_must_fit_between_the_part_and_the_open_fingers(sd_m, clearance_m):
    careful = look(found(sd_m), clearance_m=clearance_m, looks=1)
    if 3 * sd_m <= clearance_m:
        assert asyncio.run(careful()).pose_in_world is HERE
    else:
        with pytest.raises(StepFailed, match="the open fingers leave"):
            asyncio.run(careful())


def test_a_place_where_it_cannot_stand_is_looked_at_again_and_then_refused():
    places = ["there is the can", "beside the table"]

    def nowhere(_pose: Pose) -> Pose:
        raise StepFailed(FailureKind.NOT_THERE, places.pop(0))

    with pytest.raises(StepFailed, match="not taken after 2 looks: beside the table") as caught:
        asyncio.run(look(found(), found(), standing=nowhere, looks=2)())
    assert caught.value.kind is FailureKind.NOT_THERE


def test_what_needs_its_turn_is_not_taken_while_that_is_unknown():
    known, unknown = found(), found()
    unknown = replace(unknown, variances=np.array([*unknown.variances[:5], np.inf]))
    careful = look(unknown, known, needs_turn=True)
    assert asyncio.run(careful()).pose_in_world is HERE
    assert len(careful.measurements) == 2
    with pytest.raises(StepFailed, match="its turn was not measured"):
        asyncio.run(look(unknown, unknown, unknown, needs_turn=True)())
    assert asyncio.run(look(unknown)()).pose_in_world is HERE, "what is round has no turn"
    one_of_two = replace(unknown, other_turns_rad=(np.pi,))
    assert asyncio.run(look(one_of_two, needs_turn=True)()).other_turns_rad == (np.pi,), "it is taken for both"
