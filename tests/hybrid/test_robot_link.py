"""The link to an external robot: a stop counts as obeyed by what it says afterwards alone."""

from __future__ import annotations

import pytest

import cellwright as cw
from cellwright.cells import RobotTargetCfg
from cellwright.crcl.messages import (
    CommandStateEnum,
    CommandStatus,
    CRCLStatus,
    JointStatus,
    JointStatuses,
)
from cellwright.hybrid.robot_link import RobotLink


class Answers:
    """A client whose robot has turned its second joint on by so much, whenever it is asked."""

    def __init__(self, link, step_rad):
        self._link, self._step_rad, self._angle_rad = link, step_rad, 0.0

    async def status(self):
        self._angle_rad += self._step_rad
        joints = tuple(JointStatus(joint_number=n, joint_position=self._angle_rad * (n == 2)) for n in range(1, 7))
        head = CommandStatus(command_id=1, status_id=1, command_state=CommandStateEnum.CRCL_ERROR)
        self._link._take(CRCLStatus(command_status=head, joint_statuses=JointStatuses(joint_status=joints)), b"")


@pytest.mark.parametrize(("step_rad", "stands"), [(0.0, True), (0.01, False), (1.0, False)])
def test_one_whose_reports_are_not_believed_does_not_stand(changed, step_rad, stands):
    with cw.Lab(changed()) as lab:
        said = []
        link = RobotLink(lab.robot("fanuc"), RobotTargetCfg(at="a:1"), lab.clock, say=said.append)
        link._client = Answers(link, step_rad)

        async def work():
            await link._client.status()
            return await link._stands()

        assert lab.perform(work()) is stands
        told = [line for line in said if "not believed: its joint 2 has jumped by" in line]
        assert len(told) == (1 if step_rad == 1.0 else 0), "doubts are told, and not again and again"
