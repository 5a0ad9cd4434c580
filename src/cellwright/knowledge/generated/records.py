"""Tables and access classes of the world model.

Generated from the ontology by `make regenerate`; edit the ontology instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Boolean, Column, Double, Integer, MetaData, String, Table, Text, UniqueConstraint
from sqlalchemy.ext.associationproxy import AssociationProxy, association_proxy
from sqlalchemy.orm import DeclarativeBase, Mapped, composite, foreign, mapped_column, relationship, remote

from cellwright.knowledge.columns import NAMING, below, non_negative, one_of, part_of, reference, root
from cellwright.knowledge.named import Named

__all__ = [
    "SCHEMA_VERSION",
    "Action",
    "ActionFailure",
    "Activity",
    "AngleUnit",
    "AnyOrder",
    "BoxVolume",
    "BoxyShape",
    "CentreOrder",
    "Change",
    "Choice",
    "Comparison",
    "Concurrency",
    "Covariance",
    "CylindricalShape",
    "DataThing",
    "EndEffector",
    "EndEffectorChangingStation",
    "EndEffectorHolder",
    "Evaluation",
    "ExternalShape",
    "Fact",
    "FailureCause",
    "FailureEffect",
    "FailureMode",
    "Function",
    "FunctionCondition",
    "FunctionEffect",
    "Grasp",
    "GripperEffector",
    "Human",
    "InternalShape",
    "Kit",
    "KitDesign",
    "KitTray",
    "KittingWorkstation",
    "LargeBoxWithEmptyKitTrays",
    "LargeBoxWithKits",
    "LargeContainer",
    "LengthUnit",
    "Marking",
    "Measure",
    "MechanicalComponent",
    "MultiCupEffector",
    "NoSkuObject",
    "OrderingConstruct",
    "OtherGripper",
    "OtherGripperGrasp",
    "ParallelGripper",
    "ParallelGripperGrasp",
    "ParameterRole",
    "ParameterType",
    "Part",
    "PartRefAndPose",
    "PartsBin",
    "PartsTray",
    "PartsTrayDesign",
    "PartsVessel",
    "PhysicalLocation",
    "Plan",
    "Point",
    "Polygon2D",
    "PoseLocation",
    "PoseLocationIn",
    "PoseLocationOn",
    "PoseOnlyLocation",
    "PoseTolerance",
    "Predicate",
    "Rcc8",
    "Record",
    "Region",
    "RelativeLocation",
    "RelativeLocationIn",
    "RelativeLocationOn",
    "Remediation",
    "Repetition",
    "Robot",
    "Sensor",
    "Sequence",
    "ShapeDesign",
    "SingleCupEffector",
    "SkuObject",
    "Slot",
    "SolidObject",
    "State",
    "StateRelation",
    "Step",
    "StockKeepingUnit",
    "ThreeFingerGrasp",
    "ThreeFingerGripper",
    "TrayDesign",
    "TwoJawGrasp",
    "TwoJawGripper",
    "VacuumEffector",
    "VacuumSingleCupGrasp",
    "Vector",
    "WeightUnit",
    "WorkTable",
]

SCHEMA_VERSION = "0e138cabadf95bd2"
AngleUnit = Literal["degree", "radian"]
CentreOrder = Literal["plus", "minus"]
Change = Literal["increase", "decrease"]
Comparison = Literal["less", "equal", "greater"]
Evaluation = Literal["spatial", "database"]
LengthUnit = Literal["meter", "millimeter", "inch"]
Measure = Literal[
    "partsInVessel",
    "vesselCapacity",
    "partsInKit",
    "partsWanted",
    "allPartsInKit",
    "allPartsWanted",
    "traysInBox",
    "kitsInBox",
    "boxCapacity",
]
ParameterRole = Literal["reference", "target"]
Rcc8 = Literal["DC", "EC", "PO", "TPP", "NTPP", "EQ", "TPPi", "NTPPi"]
Region = Literal["body", "inside", "handle"]
WeightUnit = Literal["kilogram", "gram", "milligram", "ounce", "pound"]


@dataclass(frozen=True)
class Covariance:
    """A symmetric 3 x 3 matrix."""

    xx: float
    xy: float
    xz: float
    yy: float
    yz: float
    zz: float


@dataclass(frozen=True)
class Point:
    """A position in metres."""

    x: float
    y: float
    z: float


@dataclass(frozen=True)
class Vector:
    """A direction of length one."""

    x: float
    y: float
    z: float


class Record(DeclarativeBase):
    """Base of everything that is stored; its metadata holds every table."""

    metadata = MetaData(naming_convention=NAMING)


action_negative_effect = Table(
    "action_negative_effect",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("action"), nullable=False),
    Column("target_id", part_of("predicate"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
action_numeric_effect = Table(
    "action_numeric_effect",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("action"), nullable=False),
    Column("target_id", part_of("function_effect"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
action_numeric_precondition = Table(
    "action_numeric_precondition",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("action"), nullable=False),
    Column("target_id", part_of("function_condition"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
action_positive_effect = Table(
    "action_positive_effect",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("action"), nullable=False),
    Column("target_id", part_of("predicate"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
action_precondition = Table(
    "action_precondition",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("action"), nullable=False),
    Column("target_id", part_of("predicate"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
action_failure_failed_predicate = Table(
    "action_failure_failed_predicate",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("action_failure"), nullable=False),
    Column("target_id", part_of("predicate"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
action_failure_failure_mode = Table(
    "action_failure_failure_mode",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("action_failure"), nullable=False),
    Column("target_id", part_of("failure_mode"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
ordering_construct_step = Table(
    "ordering_construct_step",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("ordering_construct"), nullable=False),
    Column("target_id", part_of("step"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
    UniqueConstraint("target_id"),
)
solid_object_marking = Table(
    "solid_object_marking",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("solid_object"), nullable=False),
    Column("target_id", part_of("marking"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
solid_object_secondary_location = Table(
    "solid_object_secondary_location",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("solid_object"), nullable=False),
    Column("target_id", part_of("physical_location"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
end_effector_changing_station_end_effector_holder = Table(
    "end_effector_changing_station_end_effector_holder",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("end_effector_changing_station"), nullable=False),
    Column("target_id", part_of("end_effector_holder"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
    UniqueConstraint("target_id"),
)
failure_mode_symptom = Table(
    "failure_mode_symptom",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("failure_mode"), nullable=False),
    Column("target_id", part_of("predicate"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
kit_part = Table(
    "kit_part",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kit"), nullable=False),
    Column("target_id", part_of("part"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
kit_slot = Table(
    "kit_slot",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kit"), nullable=False),
    Column("target_id", part_of("slot"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
tray_design_part_ref_and_pose = Table(
    "tray_design_part_ref_and_pose",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("tray_design"), nullable=False),
    Column("target_id", part_of("part_ref_and_pose"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
    UniqueConstraint("target_id"),
)
kit_tray_slot = Table(
    "kit_tray_slot",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kit_tray"), nullable=False),
    Column("target_id", part_of("slot"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
kitting_workstation_changing_station = Table(
    "kitting_workstation_changing_station",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kitting_workstation"), nullable=False),
    Column("target_id", part_of("end_effector_changing_station"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
kitting_workstation_other_obstacle = Table(
    "kitting_workstation_other_obstacle",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kitting_workstation"), nullable=False),
    Column("target_id", part_of("box_volume"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
kitting_workstation_robot = Table(
    "kitting_workstation_robot",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kitting_workstation"), nullable=False),
    Column("target_id", part_of("robot"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
    UniqueConstraint("target_id"),
)
kitting_workstation_station_design = Table(
    "kitting_workstation_station_design",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kitting_workstation"), nullable=False),
    Column("target_id", part_of("tray_design"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
kitting_workstation_station_object = Table(
    "kitting_workstation_station_object",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kitting_workstation"), nullable=False),
    Column("target_id", part_of("solid_object"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
kitting_workstation_station_sku = Table(
    "kitting_workstation_station_sku",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("kitting_workstation"), nullable=False),
    Column("target_id", part_of("stock_keeping_unit"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
large_box_with_empty_kit_trays_empty_kit_tray = Table(
    "large_box_with_empty_kit_trays_empty_kit_tray",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("large_box_with_empty_kit_trays"), nullable=False),
    Column("target_id", part_of("kit_tray"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
    UniqueConstraint("target_id"),
)
large_box_with_kits_kit = Table(
    "large_box_with_kits_kit",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("large_box_with_kits"), nullable=False),
    Column("target_id", part_of("kit"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
    UniqueConstraint("target_id"),
)
parts_vessel_part = Table(
    "parts_vessel_part",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("parts_vessel"), nullable=False),
    Column("target_id", part_of("part"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
parts_vessel_slot = Table(
    "parts_vessel_slot",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("parts_vessel"), nullable=False),
    Column("target_id", part_of("slot"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
predicate_holds_when = Table(
    "predicate_holds_when",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("predicate"), nullable=False),
    Column("target_id", part_of("state_relation"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
robot_work_volume = Table(
    "robot_work_volume",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("robot"), nullable=False),
    Column("target_id", part_of("box_volume"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
state_fact = Table(
    "state_fact",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("state"), nullable=False),
    Column("target_id", part_of("fact"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
state_relation_all_of = Table(
    "state_relation_all_of",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("state_relation"), nullable=False),
    Column("target_id", part_of("state_relation"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
state_relation_any_of = Table(
    "state_relation_any_of",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("state_relation"), nullable=False),
    Column("target_id", part_of("state_relation"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
stock_keeping_unit_grasp = Table(
    "stock_keeping_unit_grasp",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("stock_keeping_unit"), nullable=False),
    Column("target_id", part_of("grasp"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
stock_keeping_unit_usable_end_effector = Table(
    "stock_keeping_unit_usable_end_effector",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("stock_keeping_unit"), nullable=False),
    Column("target_id", part_of("end_effector"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
)
work_table_object_on_table = Table(
    "work_table_object_on_table",
    Record.metadata,
    Column("id", Integer, primary_key=True),
    Column("owner_id", part_of("work_table"), nullable=False),
    Column("target_id", part_of("solid_object"), index=True, nullable=False),
    UniqueConstraint("owner_id", "target_id"),
    UniqueConstraint("target_id"),
)


class DataThing(Named, Record):
    """Anything that is information about the cell rather than a body in it."""

    __tablename__ = "data_thing"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(64), index=True)
    name: Mapped[str] = mapped_column(String(255), index=True)
    __table_args__ = (UniqueConstraint("name", "kind"),)
    __mapper_args__ = root("DataThing")


class Activity(DataThing):
    """Something to be done: one action, or several in some order."""

    __tablename__ = "activity"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Activity", id == DataThing.id)
    activity_description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""


class Action(Activity):
    """A step that a planner may choose."""

    __tablename__ = "action"
    id: Mapped[int] = mapped_column(part_of("activity"), primary_key=True)
    __mapper_args__ = below("Action", id == Activity.id)
    corresponds_to_id: Mapped[int | None] = mapped_column(reference("action"), index=True)
    corresponds_to: Mapped[Action | None] = relationship(
        primaryjoin=lambda: foreign(Action.corresponds_to_id) == remote(Action.id), post_update=True
    )
    """The action of the vocabulary of 2016 that does the same, and takes as long."""
    negative_effect: Mapped[list[Predicate]] = relationship(
        secondary=action_negative_effect,
        primaryjoin=lambda: Action.id == action_negative_effect.c.owner_id,
        secondaryjoin=lambda: Predicate.id == action_negative_effect.c.target_id,
        order_by=action_negative_effect.c.id,
    )
    """False afterwards."""
    numeric_effect: Mapped[list[FunctionEffect]] = relationship(
        secondary=action_numeric_effect,
        primaryjoin=lambda: Action.id == action_numeric_effect.c.owner_id,
        secondaryjoin=lambda: FunctionEffect.id == action_numeric_effect.c.target_id,
        order_by=action_numeric_effect.c.id,
    )
    """A number that it changes."""
    numeric_precondition: Mapped[list[FunctionCondition]] = relationship(
        secondary=action_numeric_precondition,
        primaryjoin=lambda: Action.id == action_numeric_precondition.c.owner_id,
        secondaryjoin=lambda: FunctionCondition.id == action_numeric_precondition.c.target_id,
        order_by=action_numeric_precondition.c.id,
    )
    """Must hold before."""
    planning_name: Mapped[str | None] = mapped_column(String(255))
    """Its name in planning files, where an action of another vocabulary is called so here."""
    positive_effect: Mapped[list[Predicate]] = relationship(
        secondary=action_positive_effect,
        primaryjoin=lambda: Action.id == action_positive_effect.c.owner_id,
        secondaryjoin=lambda: Predicate.id == action_positive_effect.c.target_id,
        order_by=action_positive_effect.c.id,
    )
    """True afterwards."""
    precondition: Mapped[list[Predicate]] = relationship(
        secondary=action_precondition,
        primaryjoin=lambda: Action.id == action_precondition.c.owner_id,
        secondaryjoin=lambda: Predicate.id == action_precondition.c.target_id,
        order_by=action_precondition.c.id,
    )
    """Must be true before."""
    signature: Mapped[str | None] = mapped_column(Text)
    """The names of its parameter types in order, with a blank between them."""
    vocabulary: Mapped[str | None] = mapped_column(String(255))
    """The published vocabulary that it belongs to, by year; 2016 when absent."""
    work_place_id: Mapped[int | None] = mapped_column(reference("parameter_type"), index=True)
    work_place: Mapped[ParameterType | None] = relationship(
        primaryjoin=lambda: foreign(Action.work_place_id) == remote(ParameterType.id), post_update=True
    )
    """The parameter to which the robot goes; it must reach it, and nobody else may be there."""


class ActionFailure(DataThing):
    """An action whose predicates are not what they should be."""

    __tablename__ = "action_failure"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("ActionFailure", id == DataThing.id)
    failed_action_id: Mapped[int | None] = mapped_column(reference("action"), index=True)
    failed_action: Mapped[Action | None] = relationship(
        primaryjoin=lambda: foreign(ActionFailure.failed_action_id) == remote(Action.id), post_update=True
    )
    """The action."""
    failed_predicate: Mapped[list[Predicate]] = relationship(
        secondary=action_failure_failed_predicate,
        primaryjoin=lambda: ActionFailure.id == action_failure_failed_predicate.c.owner_id,
        secondaryjoin=lambda: Predicate.id == action_failure_failed_predicate.c.target_id,
        order_by=action_failure_failed_predicate.c.id,
    )
    """A predicate that shows the failure."""
    failure_mode: Mapped[list[FailureMode]] = relationship(
        secondary=action_failure_failure_mode,
        primaryjoin=lambda: ActionFailure.id == action_failure_failure_mode.c.owner_id,
        secondaryjoin=lambda: FailureMode.id == action_failure_failure_mode.c.target_id,
        order_by=action_failure_failure_mode.c.id,
    )
    """What may have happened."""


class OrderingConstruct(Activity):
    """Says in which order activities are done."""

    __tablename__ = "ordering_construct"
    id: Mapped[int] = mapped_column(part_of("activity"), primary_key=True)
    __mapper_args__ = below("OrderingConstruct", id == Activity.id)
    step: Mapped[list[Step]] = relationship(
        secondary=ordering_construct_step,
        primaryjoin=lambda: OrderingConstruct.id == ordering_construct_step.c.owner_id,
        secondaryjoin=lambda: Step.id == ordering_construct_step.c.target_id,
        order_by=ordering_construct_step.c.id,
    )
    """One of its activities."""


class AnyOrder(OrderingConstruct):
    """One after the other, in any order."""

    __tablename__ = "any_order"
    id: Mapped[int] = mapped_column(part_of("ordering_construct"), primary_key=True)
    __mapper_args__ = below("AnyOrder", id == OrderingConstruct.id)


class BoxVolume(DataThing):
    """A box along the axes of the cell."""

    __tablename__ = "box_volume"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("BoxVolume", id == DataThing.id)
    maximum_point_x: Mapped[float | None] = mapped_column(Double)
    maximum_point_y: Mapped[float | None] = mapped_column(Double)
    maximum_point_z: Mapped[float | None] = mapped_column(Double)
    maximum_point: Mapped[Point | None] = composite("maximum_point_x", "maximum_point_y", "maximum_point_z")
    """The corner with the largest coordinates."""
    minimum_point_x: Mapped[float | None] = mapped_column(Double)
    minimum_point_y: Mapped[float | None] = mapped_column(Double)
    minimum_point_z: Mapped[float | None] = mapped_column(Double)
    minimum_point: Mapped[Point | None] = composite("minimum_point_x", "minimum_point_y", "minimum_point_z")
    """The corner with the smallest coordinates."""


class ShapeDesign(DataThing):
    """The shape of a kind of object."""

    __tablename__ = "shape_design"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("ShapeDesign", id == DataThing.id)
    description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""
    grasp_pose_id: Mapped[int | None] = mapped_column(reference("pose_location"), index=True)
    grasp_pose: Mapped[PoseLocation | None] = relationship(
        primaryjoin=lambda: foreign(ShapeDesign.grasp_pose_id) == remote(PoseLocation.id), post_update=True
    )
    """The tool's pose on the object when it holds."""


class InternalShape(ShapeDesign):
    """A shape described by a few numbers."""

    __tablename__ = "internal_shape"
    id: Mapped[int] = mapped_column(part_of("shape_design"), primary_key=True)
    __mapper_args__ = below("InternalShape", id == ShapeDesign.id)


class BoxyShape(InternalShape):
    """A box, open or closed."""

    __tablename__ = "boxy_shape"
    id: Mapped[int] = mapped_column(part_of("internal_shape"), primary_key=True)
    __mapper_args__ = below("BoxyShape", id == InternalShape.id)
    has_top: Mapped[bool | None] = mapped_column(Boolean)
    """Closed above."""
    shape_height: Mapped[float | None] = mapped_column(Double, non_negative("shape_height"))
    """Along z, metres."""
    shape_length: Mapped[float | None] = mapped_column(Double, non_negative("shape_length"))
    """Along x, metres."""
    shape_width: Mapped[float | None] = mapped_column(Double, non_negative("shape_width"))
    """Along y, metres."""


class Choice(OrderingConstruct):
    """One of them."""

    __tablename__ = "choice"
    id: Mapped[int] = mapped_column(part_of("ordering_construct"), primary_key=True)
    __mapper_args__ = below("Choice", id == OrderingConstruct.id)


class Concurrency(OrderingConstruct):
    """At the same time; ends when all have ended."""

    __tablename__ = "concurrency"
    id: Mapped[int] = mapped_column(part_of("ordering_construct"), primary_key=True)
    __mapper_args__ = below("Concurrency", id == OrderingConstruct.id)


class CylindricalShape(InternalShape):
    """An upright cylinder, open or closed."""

    __tablename__ = "cylindrical_shape"
    id: Mapped[int] = mapped_column(part_of("internal_shape"), primary_key=True)
    __mapper_args__ = below("CylindricalShape", id == InternalShape.id)
    has_top: Mapped[bool | None] = mapped_column(Boolean)
    """Closed above."""
    shape_diameter: Mapped[float | None] = mapped_column(Double, non_negative("shape_diameter"))
    """Metres."""
    shape_height: Mapped[float | None] = mapped_column(Double, non_negative("shape_height"))
    """Along z, metres."""


class SolidObject(Named, Record):
    """Anything with mass and extent.

    Its frame has the origin in the middle of the bottom, z up, x along the longer edge.
    """

    __tablename__ = "solid_object"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(64), index=True)
    name: Mapped[str] = mapped_column(String(255), index=True)
    __table_args__ = (UniqueConstraint("name"),)
    __mapper_args__ = root("SolidObject")
    marking: Mapped[list[Marking]] = relationship(
        secondary=solid_object_marking,
        primaryjoin=lambda: SolidObject.id == solid_object_marking.c.owner_id,
        secondaryjoin=lambda: Marking.id == solid_object_marking.c.target_id,
        order_by=solid_object_marking.c.id,
    )
    """Marks by which the object is recognised."""
    primary_location_id: Mapped[int | None] = mapped_column(reference("physical_location"), index=True)
    primary_location: Mapped[PhysicalLocation | None] = relationship(
        primaryjoin=lambda: foreign(SolidObject.primary_location_id) == remote(PhysicalLocation.id), post_update=True
    )
    """Where the object is; the links of the transform tree."""
    secondary_location: Mapped[list[PhysicalLocation]] = relationship(
        secondary=solid_object_secondary_location,
        primaryjoin=lambda: SolidObject.id == solid_object_secondary_location.c.owner_id,
        secondaryjoin=lambda: PhysicalLocation.id == solid_object_secondary_location.c.target_id,
        order_by=solid_object_secondary_location.c.id,
    )
    """Further statements about where it is, beside the transform tree."""


class NoSkuObject(SolidObject):
    """An object described by itself, not by a stock keeping unit."""

    __tablename__ = "no_sku_object"
    id: Mapped[int] = mapped_column(part_of("solid_object"), primary_key=True)
    __mapper_args__ = below("NoSkuObject", id == SolidObject.id)
    external_shape_id: Mapped[int | None] = mapped_column(reference("external_shape"), index=True)
    external_shape: Mapped[ExternalShape | None] = relationship(
        primaryjoin=lambda: foreign(NoSkuObject.external_shape_id) == remote(ExternalShape.id), post_update=True
    )
    """Its shape, in a file."""
    internal_shape_id: Mapped[int | None] = mapped_column(reference("internal_shape"), index=True)
    internal_shape: Mapped[InternalShape | None] = relationship(
        primaryjoin=lambda: foreign(NoSkuObject.internal_shape_id) == remote(InternalShape.id), post_update=True
    )
    """Its shape, described here."""


class EndEffector(NoSkuObject):
    """A tool on a robot's flange, or waiting for one."""

    __tablename__ = "end_effector"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("EndEffector", id == NoSkuObject.id)
    description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""
    held_object_id: Mapped[int | None] = mapped_column(reference("solid_object"), index=True)
    held_object: Mapped[SolidObject | None] = relationship(
        primaryjoin=lambda: foreign(EndEffector.held_object_id) == remote(SolidObject.id), post_update=True
    )
    """What it holds now; nothing when absent."""
    maximum_load_weight: Mapped[float | None] = mapped_column(Double, non_negative("maximum_load_weight"))
    """The heaviest load in kilograms."""
    weight: Mapped[float | None] = mapped_column(Double, non_negative("weight"))
    """Mass in kilograms."""


class EndEffectorChangingStation(NoSkuObject):
    """A base with holders."""

    __tablename__ = "end_effector_changing_station"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("EndEffectorChangingStation", id == NoSkuObject.id)
    base_id: Mapped[int | None] = mapped_column(reference("mechanical_component"), index=True)
    base: Mapped[MechanicalComponent | None] = relationship(
        primaryjoin=lambda: foreign(EndEffectorChangingStation.base_id) == remote(MechanicalComponent.id),
        post_update=True,
    )
    """What carries the holders."""
    end_effector_holder: Mapped[list[EndEffectorHolder]] = relationship(
        secondary=end_effector_changing_station_end_effector_holder,
        primaryjoin=lambda: (
            EndEffectorChangingStation.id == end_effector_changing_station_end_effector_holder.c.owner_id
        ),
        secondaryjoin=lambda: EndEffectorHolder.id == end_effector_changing_station_end_effector_holder.c.target_id,
        order_by=end_effector_changing_station_end_effector_holder.c.id,
    )
    """A holder of the station."""


class EndEffectorHolder(NoSkuObject):
    """Keeps one end effector while no robot has it."""

    __tablename__ = "end_effector_holder"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("EndEffectorHolder", id == NoSkuObject.id)
    end_effector_id: Mapped[int | None] = mapped_column(reference("end_effector"), index=True)
    end_effector: Mapped[EndEffector | None] = relationship(
        primaryjoin=lambda: foreign(EndEffectorHolder.end_effector_id) == remote(EndEffector.id), post_update=True
    )
    """The end effector that is there now."""
    end_effector_slot: Mapped[str | None] = mapped_column(String(255))
    """The position of the holder in its station, as the robot's program names it."""


class ExternalShape(ShapeDesign):
    """A shape kept in a file."""

    __tablename__ = "external_shape"
    id: Mapped[int] = mapped_column(part_of("shape_design"), primary_key=True)
    __mapper_args__ = below("ExternalShape", id == ShapeDesign.id)
    model_file_name: Mapped[str | None] = mapped_column(Text)
    """The file, with its path where needed."""
    model_format_name: Mapped[str | None] = mapped_column(String(255))
    """The format of the file."""
    model_name: Mapped[str | None] = mapped_column(String(255))
    """Which model of the file."""


class Fact(DataThing):
    """A predicate about particular objects, true or false."""

    __tablename__ = "fact"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Fact", id == DataThing.id)
    fact_predicate_id: Mapped[int | None] = mapped_column(reference("predicate"), index=True)
    fact_predicate: Mapped[Predicate | None] = relationship(
        primaryjoin=lambda: foreign(Fact.fact_predicate_id) == remote(Predicate.id), post_update=True
    )
    """What is said."""
    is_true: Mapped[bool | None] = mapped_column(Boolean)
    """Whether it is so."""
    reference_name: Mapped[str | None] = mapped_column(String(255))
    """Name of the first object."""
    target_name: Mapped[str | None] = mapped_column(String(255))
    """Name of the second object."""


class FailureCause(DataThing):
    """Why it happens."""

    __tablename__ = "failure_cause"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("FailureCause", id == DataThing.id)
    failure_description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""


class FailureEffect(DataThing):
    """What the failure leads to."""

    __tablename__ = "failure_effect"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("FailureEffect", id == DataThing.id)
    failure_description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""
    severity: Mapped[int | None] = mapped_column(Integer, non_negative("severity"))
    """0 harmless, 10 stops the cell."""


class FailureMode(DataThing):
    """A way in which an action fails."""

    __tablename__ = "failure_mode"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("FailureMode", id == DataThing.id)
    failure_cause_id: Mapped[int | None] = mapped_column(reference("failure_cause"), index=True)
    failure_cause: Mapped[FailureCause | None] = relationship(
        primaryjoin=lambda: foreign(FailureMode.failure_cause_id) == remote(FailureCause.id), post_update=True
    )
    """Why it happens."""
    failure_description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""
    failure_effect_id: Mapped[int | None] = mapped_column(reference("failure_effect"), index=True)
    failure_effect: Mapped[FailureEffect | None] = relationship(
        primaryjoin=lambda: foreign(FailureMode.failure_effect_id) == remote(FailureEffect.id), post_update=True
    )
    """What it leads to."""
    occurrence: Mapped[int | None] = mapped_column(Integer, non_negative("occurrence"))
    """How often it was seen."""
    remediation_id: Mapped[int | None] = mapped_column(reference("remediation"), index=True)
    remediation: Mapped[Remediation | None] = relationship(
        primaryjoin=lambda: foreign(FailureMode.remediation_id) == remote(Remediation.id), post_update=True
    )
    """What to do."""
    symptom: Mapped[list[Predicate]] = relationship(
        secondary=failure_mode_symptom,
        primaryjoin=lambda: FailureMode.id == failure_mode_symptom.c.owner_id,
        secondaryjoin=lambda: Predicate.id == failure_mode_symptom.c.target_id,
        order_by=failure_mode_symptom.c.id,
    )
    """True when it was this mode."""


class Function(DataThing):
    """A number that belongs to one or two objects."""

    __tablename__ = "function"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Function", id == DataThing.id)
    measure: Mapped[Measure | None] = mapped_column(one_of("measure", Measure))
    """What it counts."""
    reference_parameter_id: Mapped[int | None] = mapped_column(reference("parameter_type"), index=True)
    reference_parameter: Mapped[ParameterType | None] = relationship(
        primaryjoin=lambda: foreign(Function.reference_parameter_id) == remote(ParameterType.id), post_update=True
    )
    """Type of the first object."""
    target_parameter_id: Mapped[int | None] = mapped_column(reference("parameter_type"), index=True)
    target_parameter: Mapped[ParameterType | None] = relationship(
        primaryjoin=lambda: foreign(Function.target_parameter_id) == remote(ParameterType.id), post_update=True
    )
    """Type of the second object, if there is one."""


class FunctionCondition(DataThing):
    """A comparison of a function with a number or another function."""

    __tablename__ = "function_condition"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("FunctionCondition", id == DataThing.id)
    bound: Mapped[float | None] = mapped_column(Double)
    """With this number."""
    bound_function_id: Mapped[int | None] = mapped_column(reference("function"), index=True)
    bound_function: Mapped[Function | None] = relationship(
        primaryjoin=lambda: foreign(FunctionCondition.bound_function_id) == remote(Function.id), post_update=True
    )
    """Or with this function."""
    comparison: Mapped[Comparison | None] = mapped_column(one_of("comparison", Comparison))
    """How it compares."""
    function_id: Mapped[int | None] = mapped_column(reference("function"), index=True)
    function: Mapped[Function | None] = relationship(
        primaryjoin=lambda: foreign(FunctionCondition.function_id) == remote(Function.id), post_update=True
    )
    """The number in question."""


class FunctionEffect(DataThing):
    """A change of a function by a fixed amount."""

    __tablename__ = "function_effect"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("FunctionEffect", id == DataThing.id)
    amount: Mapped[float | None] = mapped_column(Double, non_negative("amount"))
    """By how much."""
    change: Mapped[Change | None] = mapped_column(one_of("change", Change))
    """Up or down."""
    function_id: Mapped[int | None] = mapped_column(reference("function"), index=True)
    function: Mapped[Function | None] = relationship(
        primaryjoin=lambda: foreign(FunctionEffect.function_id) == remote(Function.id), post_update=True
    )
    """The number in question."""


class Grasp(DataThing):
    """A way to hold a kind of object with a kind of tool."""

    __tablename__ = "grasp"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Grasp", id == DataThing.id)
    grasp_end_effector_id: Mapped[int | None] = mapped_column(reference("end_effector"), index=True)
    grasp_end_effector: Mapped[EndEffector | None] = relationship(
        primaryjoin=lambda: foreign(Grasp.grasp_end_effector_id) == remote(EndEffector.id), post_update=True
    )
    """The end effector it is for."""
    grasp_pose_id: Mapped[int | None] = mapped_column(reference("pose_location"), index=True)
    grasp_pose: Mapped[PoseLocation | None] = relationship(
        primaryjoin=lambda: foreign(Grasp.grasp_pose_id) == remote(PoseLocation.id), post_update=True
    )
    """The tool's pose on the object when it holds."""
    maximum_force: Mapped[float | None] = mapped_column(Double, non_negative("maximum_force"))
    """Newton; more would harm the part."""
    minimum_force: Mapped[float | None] = mapped_column(Double, non_negative("minimum_force"))
    """Newton; less would lose it."""


class GripperEffector(EndEffector):
    """Holds by closing fingers."""

    __tablename__ = "gripper_effector"
    id: Mapped[int] = mapped_column(part_of("end_effector"), primary_key=True)
    __mapper_args__ = below("GripperEffector", id == EndEffector.id)
    max_grip_width: Mapped[float | None] = mapped_column(Double, non_negative("max_grip_width"))
    """The widest opening in metres."""


class Human(NoSkuObject):
    """A person in or near the cell."""

    __tablename__ = "human"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("Human", id == NoSkuObject.id)


class Kit(NoSkuObject):
    """A tray with the parts of one design, finished or under way."""

    __tablename__ = "kit"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("Kit", id == NoSkuObject.id)
    finished: Mapped[bool | None] = mapped_column(Boolean)
    """Every slot holds the part of its design."""
    kit_design_id: Mapped[int | None] = mapped_column(reference("kit_design"), index=True)
    kit_design: Mapped[KitDesign | None] = relationship(
        primaryjoin=lambda: foreign(Kit.kit_design_id) == remote(KitDesign.id), post_update=True
    )
    """The design of the kit, or of all kits in the box."""
    kit_tray_id: Mapped[int | None] = mapped_column(reference("kit_tray"), index=True)
    kit_tray: Mapped[KitTray | None] = relationship(
        primaryjoin=lambda: foreign(Kit.kit_tray_id) == remote(KitTray.id), post_update=True
    )
    """The tray it is built on."""
    part: Mapped[list[Part]] = relationship(
        secondary=kit_part,
        primaryjoin=lambda: Kit.id == kit_part.c.owner_id,
        secondaryjoin=lambda: Part.id == kit_part.c.target_id,
        order_by=kit_part.c.id,
    )
    """A part that is in it."""
    slot: Mapped[list[Slot]] = relationship(
        secondary=kit_slot,
        primaryjoin=lambda: Kit.id == kit_slot.c.owner_id,
        secondaryjoin=lambda: Slot.id == kit_slot.c.target_id,
        order_by=kit_slot.c.id,
    )
    """A place for one part."""
    stationary: Mapped[bool | None] = mapped_column(Boolean)
    """Its tray stays where it is: the kit is finished when it is full, nobody carries it away."""


class TrayDesign(DataThing):
    """Which part goes where on a tray."""

    __tablename__ = "tray_design"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("TrayDesign", id == DataThing.id)
    part_ref_and_pose: Mapped[list[PartRefAndPose]] = relationship(
        secondary=tray_design_part_ref_and_pose,
        primaryjoin=lambda: TrayDesign.id == tray_design_part_ref_and_pose.c.owner_id,
        secondaryjoin=lambda: PartRefAndPose.id == tray_design_part_ref_and_pose.c.target_id,
        order_by=tray_design_part_ref_and_pose.c.id,
    )
    """A place of the design."""
    tray_sku_id: Mapped[int | None] = mapped_column(reference("stock_keeping_unit"), index=True)
    tray_sku: Mapped[StockKeepingUnit | None] = relationship(
        primaryjoin=lambda: foreign(TrayDesign.tray_sku_id) == remote(StockKeepingUnit.id), post_update=True
    )
    """The kind of tray."""


class KitDesign(TrayDesign):
    """What a finished kit holds."""

    __tablename__ = "kit_design"
    id: Mapped[int] = mapped_column(part_of("tray_design"), primary_key=True)
    __mapper_args__ = below("KitDesign", id == TrayDesign.id)


class SkuObject(SolidObject):
    """An object that is one of many alike, described by its stock keeping unit."""

    __tablename__ = "sku_object"
    id: Mapped[int] = mapped_column(part_of("solid_object"), primary_key=True)
    __mapper_args__ = below("SkuObject", id == SolidObject.id)
    sku_id: Mapped[int] = mapped_column(reference("stock_keeping_unit", required=True), index=True)
    sku: Mapped[StockKeepingUnit] = relationship(
        primaryjoin=lambda: foreign(SkuObject.sku_id) == remote(StockKeepingUnit.id)
    )
    """What kind of thing it is."""


class KitTray(SkuObject):
    """A tray on which a kit is built."""

    __tablename__ = "kit_tray"
    id: Mapped[int] = mapped_column(part_of("sku_object"), primary_key=True)
    __mapper_args__ = below("KitTray", id == SkuObject.id)
    serial_number: Mapped[str | None] = mapped_column(String(255))
    """Tells this one from others of the same kind."""
    slot: Mapped[list[Slot]] = relationship(
        secondary=kit_tray_slot,
        primaryjoin=lambda: KitTray.id == kit_tray_slot.c.owner_id,
        secondaryjoin=lambda: Slot.id == kit_tray_slot.c.target_id,
        order_by=kit_tray_slot.c.id,
    )
    """A place for one part."""
    tray_design_id: Mapped[int | None] = mapped_column(reference("tray_design"), index=True)
    tray_design: Mapped[TrayDesign | None] = relationship(
        primaryjoin=lambda: foreign(KitTray.tray_design_id) == remote(TrayDesign.id), post_update=True
    )
    """The layout of its slots."""


class KittingWorkstation(NoSkuObject):
    """The whole cell; the root of the transform tree."""

    __tablename__ = "kitting_workstation"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("KittingWorkstation", id == NoSkuObject.id)
    angle_unit: Mapped[AngleUnit | None] = mapped_column(one_of("angle_unit", AngleUnit))
    """The unit of angle in files that are exchanged; stored values are radians."""
    changing_station: Mapped[list[EndEffectorChangingStation]] = relationship(
        secondary=kitting_workstation_changing_station,
        primaryjoin=lambda: KittingWorkstation.id == kitting_workstation_changing_station.c.owner_id,
        secondaryjoin=lambda: EndEffectorChangingStation.id == kitting_workstation_changing_station.c.target_id,
        order_by=kitting_workstation_changing_station.c.id,
    )
    """A tool changing station of the cell; there may be none."""
    length_unit: Mapped[LengthUnit | None] = mapped_column(one_of("length_unit", LengthUnit))
    """The unit of length in files that are exchanged; stored values are metres."""
    other_obstacle: Mapped[list[BoxVolume]] = relationship(
        secondary=kitting_workstation_other_obstacle,
        primaryjoin=lambda: KittingWorkstation.id == kitting_workstation_other_obstacle.c.owner_id,
        secondaryjoin=lambda: BoxVolume.id == kitting_workstation_other_obstacle.c.target_id,
        order_by=kitting_workstation_other_obstacle.c.id,
    )
    """Space that must stay free."""
    robot: Mapped[list[Robot]] = relationship(
        secondary=kitting_workstation_robot,
        primaryjoin=lambda: KittingWorkstation.id == kitting_workstation_robot.c.owner_id,
        secondaryjoin=lambda: Robot.id == kitting_workstation_robot.c.target_id,
        order_by=kitting_workstation_robot.c.id,
    )
    """A robot of the cell."""
    station_design: Mapped[list[TrayDesign]] = relationship(
        secondary=kitting_workstation_station_design,
        primaryjoin=lambda: KittingWorkstation.id == kitting_workstation_station_design.c.owner_id,
        secondaryjoin=lambda: TrayDesign.id == kitting_workstation_station_design.c.target_id,
        order_by=kitting_workstation_station_design.c.id,
    )
    """A design that the cell can build."""
    station_object: Mapped[list[SolidObject]] = relationship(
        secondary=kitting_workstation_station_object,
        primaryjoin=lambda: KittingWorkstation.id == kitting_workstation_station_object.c.owner_id,
        secondaryjoin=lambda: SolidObject.id == kitting_workstation_station_object.c.target_id,
        order_by=kitting_workstation_station_object.c.id,
    )
    """Any object of the cell."""
    station_sku: Mapped[list[StockKeepingUnit]] = relationship(
        secondary=kitting_workstation_station_sku,
        primaryjoin=lambda: KittingWorkstation.id == kitting_workstation_station_sku.c.owner_id,
        secondaryjoin=lambda: StockKeepingUnit.id == kitting_workstation_station_sku.c.target_id,
        order_by=kitting_workstation_station_sku.c.id,
    )
    """A kind of object that the cell knows."""
    weight_unit: Mapped[WeightUnit | None] = mapped_column(one_of("weight_unit", WeightUnit))
    """The unit of weight in files that are exchanged; stored values are kilograms."""


class LargeBoxWithEmptyKitTrays(NoSkuObject):
    """The supply of trays."""

    __tablename__ = "large_box_with_empty_kit_trays"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("LargeBoxWithEmptyKitTrays", id == NoSkuObject.id)
    empty_kit_tray: Mapped[list[KitTray]] = relationship(
        secondary=large_box_with_empty_kit_trays_empty_kit_tray,
        primaryjoin=lambda: LargeBoxWithEmptyKitTrays.id == large_box_with_empty_kit_trays_empty_kit_tray.c.owner_id,
        secondaryjoin=lambda: KitTray.id == large_box_with_empty_kit_trays_empty_kit_tray.c.target_id,
        order_by=large_box_with_empty_kit_trays_empty_kit_tray.c.id,
    )
    """A tray in the box."""
    large_container_id: Mapped[int | None] = mapped_column(reference("large_container"), index=True)
    large_container: Mapped[LargeContainer | None] = relationship(
        primaryjoin=lambda: foreign(LargeBoxWithEmptyKitTrays.large_container_id) == remote(LargeContainer.id),
        post_update=True,
    )
    """The box itself."""


class LargeBoxWithKits(NoSkuObject):
    """Where finished kits go."""

    __tablename__ = "large_box_with_kits"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("LargeBoxWithKits", id == NoSkuObject.id)
    capacity: Mapped[int | None] = mapped_column(Integer, non_negative("capacity"))
    """How many kits fit."""
    kit: Mapped[list[Kit]] = relationship(
        secondary=large_box_with_kits_kit,
        primaryjoin=lambda: LargeBoxWithKits.id == large_box_with_kits_kit.c.owner_id,
        secondaryjoin=lambda: Kit.id == large_box_with_kits_kit.c.target_id,
        order_by=large_box_with_kits_kit.c.id,
    )
    """A kit in the box."""
    kit_design_id: Mapped[int | None] = mapped_column(reference("kit_design"), index=True)
    kit_design: Mapped[KitDesign | None] = relationship(
        primaryjoin=lambda: foreign(LargeBoxWithKits.kit_design_id) == remote(KitDesign.id), post_update=True
    )
    """The design of the kit, or of all kits in the box."""
    large_container_id: Mapped[int | None] = mapped_column(reference("large_container"), index=True)
    large_container: Mapped[LargeContainer | None] = relationship(
        primaryjoin=lambda: foreign(LargeBoxWithKits.large_container_id) == remote(LargeContainer.id), post_update=True
    )
    """The box itself."""


class LargeContainer(SkuObject):
    """A box large enough for trays or kits."""

    __tablename__ = "large_container"
    id: Mapped[int] = mapped_column(part_of("sku_object"), primary_key=True)
    __mapper_args__ = below("LargeContainer", id == SkuObject.id)
    serial_number: Mapped[str | None] = mapped_column(String(255))
    """Tells this one from others of the same kind."""


class Marking(DataThing):
    """A code, a colour or a label on an object."""

    __tablename__ = "marking"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Marking", id == DataThing.id)
    marking_kind: Mapped[str | None] = mapped_column(String(255))
    """Barcode, colour, text and so on."""
    marking_text: Mapped[str | None] = mapped_column(Text)
    """What it says."""


class MechanicalComponent(NoSkuObject):
    """A fixed piece of another object, such as a base plate."""

    __tablename__ = "mechanical_component"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("MechanicalComponent", id == NoSkuObject.id)


class VacuumEffector(EndEffector):
    """Holds by suction."""

    __tablename__ = "vacuum_effector"
    id: Mapped[int] = mapped_column(part_of("end_effector"), primary_key=True)
    __mapper_args__ = below("VacuumEffector", id == EndEffector.id)
    cup_diameter: Mapped[float | None] = mapped_column(Double, non_negative("cup_diameter"))
    """Diameter of a cup in metres."""
    effector_length: Mapped[float | None] = mapped_column(Double, non_negative("effector_length"))
    """From flange to cup in metres."""


class MultiCupEffector(VacuumEffector):
    """Several cups on a circle."""

    __tablename__ = "multi_cup_effector"
    id: Mapped[int] = mapped_column(part_of("vacuum_effector"), primary_key=True)
    __mapper_args__ = below("MultiCupEffector", id == VacuumEffector.id)
    array_number: Mapped[int | None] = mapped_column(Integer, non_negative("array_number"))
    """How many cups."""
    array_radius: Mapped[float | None] = mapped_column(Double, non_negative("array_radius"))
    """Radius of the circle of cups in metres."""


class OtherGripper(GripperEffector):
    """Any other kind of fingers."""

    __tablename__ = "other_gripper"
    id: Mapped[int] = mapped_column(part_of("gripper_effector"), primary_key=True)
    __mapper_args__ = below("OtherGripper", id == GripperEffector.id)


class OtherGripperGrasp(Grasp):
    """Held by other fingers."""

    __tablename__ = "other_gripper_grasp"
    id: Mapped[int] = mapped_column(part_of("grasp"), primary_key=True)
    __mapper_args__ = below("OtherGripperGrasp", id == Grasp.id)
    open_pose_id: Mapped[int | None] = mapped_column(reference("pose_location"), index=True)
    open_pose: Mapped[PoseLocation | None] = relationship(
        primaryjoin=lambda: foreign(OtherGripperGrasp.open_pose_id) == remote(PoseLocation.id), post_update=True
    )
    """The tool's pose before it closes."""


class ParallelGripper(GripperEffector):
    """Two fingers that stay parallel."""

    __tablename__ = "parallel_gripper"
    id: Mapped[int] = mapped_column(part_of("gripper_effector"), primary_key=True)
    __mapper_args__ = below("ParallelGripper", id == GripperEffector.id)


class ParallelGripperGrasp(Grasp):
    """Held between parallel fingers."""

    __tablename__ = "parallel_gripper_grasp"
    id: Mapped[int] = mapped_column(part_of("grasp"), primary_key=True)
    __mapper_args__ = below("ParallelGripperGrasp", id == Grasp.id)
    approach_separation: Mapped[float | None] = mapped_column(Double, non_negative("approach_separation"))
    """Distance of the fingers on the way, metres."""
    grasp_separation: Mapped[float | None] = mapped_column(Double, non_negative("grasp_separation"))
    """Distance of the fingers when holding, metres."""


class ParameterType(DataThing):
    """A kind of object that predicates and actions speak of."""

    __tablename__ = "parameter_type"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("ParameterType", id == DataThing.id)
    class_name: Mapped[str | None] = mapped_column(String(255))
    """The class of the kitting ontology that it stands for."""


class Part(SkuObject):
    """A thing that goes into kits."""

    __tablename__ = "part"
    id: Mapped[int] = mapped_column(part_of("sku_object"), primary_key=True)
    __mapper_args__ = below("Part", id == SkuObject.id)
    serial_number: Mapped[str | None] = mapped_column(String(255))
    """Tells this one from others of the same kind."""


class PartRefAndPose(DataThing):
    """One place of a design: the kind of part and its pose on the tray."""

    __tablename__ = "part_ref_and_pose"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("PartRefAndPose", id == DataThing.id)
    part_ref_sku_id: Mapped[int] = mapped_column(reference("stock_keeping_unit", required=True), index=True)
    part_ref_sku: Mapped[StockKeepingUnit] = relationship(
        primaryjoin=lambda: foreign(PartRefAndPose.part_ref_sku_id) == remote(StockKeepingUnit.id)
    )
    """The kind of part that belongs there."""
    point_x: Mapped[float | None] = mapped_column(Double)
    point_y: Mapped[float | None] = mapped_column(Double)
    point_z: Mapped[float | None] = mapped_column(Double)
    point: Mapped[Point | None] = composite("point_x", "point_y", "point_z")
    """The position."""
    pose_tolerance_id: Mapped[int | None] = mapped_column(reference("pose_tolerance"), index=True)
    pose_tolerance: Mapped[PoseTolerance | None] = relationship(
        primaryjoin=lambda: foreign(PartRefAndPose.pose_tolerance_id) == remote(PoseTolerance.id), post_update=True
    )
    """How exactly the part must lie."""
    x_axis_x: Mapped[float | None] = mapped_column(Double)
    x_axis_y: Mapped[float | None] = mapped_column(Double)
    x_axis_z: Mapped[float | None] = mapped_column(Double)
    x_axis: Mapped[Vector | None] = composite("x_axis_x", "x_axis_y", "x_axis_z")
    """Direction of its x axis."""
    z_axis_x: Mapped[float | None] = mapped_column(Double)
    z_axis_y: Mapped[float | None] = mapped_column(Double)
    z_axis_z: Mapped[float | None] = mapped_column(Double)
    z_axis: Mapped[Vector | None] = composite("z_axis_x", "z_axis_y", "z_axis_z")
    """Direction of its z axis."""


class PartsVessel(SkuObject):
    """What parts are supplied in."""

    __tablename__ = "parts_vessel"
    id: Mapped[int] = mapped_column(part_of("sku_object"), primary_key=True)
    __mapper_args__ = below("PartsVessel", id == SkuObject.id)
    part: Mapped[list[Part]] = relationship(
        secondary=parts_vessel_part,
        primaryjoin=lambda: PartsVessel.id == parts_vessel_part.c.owner_id,
        secondaryjoin=lambda: Part.id == parts_vessel_part.c.target_id,
        order_by=parts_vessel_part.c.id,
    )
    """A part that is in it."""
    part_quantity: Mapped[int | None] = mapped_column(Integer, non_negative("part_quantity"))
    """How many parts it is believed to hold."""
    part_sku_id: Mapped[int | None] = mapped_column(reference("stock_keeping_unit"), index=True)
    part_sku: Mapped[StockKeepingUnit | None] = relationship(
        primaryjoin=lambda: foreign(PartsVessel.part_sku_id) == remote(StockKeepingUnit.id), post_update=True
    )
    """The kind of part the vessel is meant for."""
    serial_number: Mapped[str | None] = mapped_column(String(255))
    """Tells this one from others of the same kind."""
    slot: Mapped[list[Slot]] = relationship(
        secondary=parts_vessel_slot,
        primaryjoin=lambda: PartsVessel.id == parts_vessel_slot.c.owner_id,
        secondaryjoin=lambda: Slot.id == parts_vessel_slot.c.target_id,
        order_by=parts_vessel_slot.c.id,
    )
    """A place for one part."""
    tray_design_id: Mapped[int | None] = mapped_column(reference("tray_design"), index=True)
    tray_design: Mapped[TrayDesign | None] = relationship(
        primaryjoin=lambda: foreign(PartsVessel.tray_design_id) == remote(TrayDesign.id), post_update=True
    )
    """The layout of its slots."""


class PartsBin(PartsVessel):
    """A vessel in which parts lie as they fell."""

    __tablename__ = "parts_bin"
    id: Mapped[int] = mapped_column(part_of("parts_vessel"), primary_key=True)
    __mapper_args__ = below("PartsBin", id == PartsVessel.id)


class PartsTray(PartsVessel):
    """A vessel with a place for every part."""

    __tablename__ = "parts_tray"
    id: Mapped[int] = mapped_column(part_of("parts_vessel"), primary_key=True)
    __mapper_args__ = below("PartsTray", id == PartsVessel.id)
    finished: Mapped[bool | None] = mapped_column(Boolean)
    """Every slot holds the part of its design."""


class PartsTrayDesign(TrayDesign):
    """Where a parts tray holds its parts."""

    __tablename__ = "parts_tray_design"
    id: Mapped[int] = mapped_column(part_of("tray_design"), primary_key=True)
    __mapper_args__ = below("PartsTrayDesign", id == TrayDesign.id)


class PhysicalLocation(DataThing):
    """Where an object is, in relation to another."""

    __tablename__ = "physical_location"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("PhysicalLocation", id == DataThing.id)
    evidence: Mapped[str | None] = mapped_column(String(255))
    """Which sensor, drawing or action says so."""
    ref_object_id: Mapped[int | None] = mapped_column(reference("solid_object"), index=True)
    ref_object: Mapped[SolidObject | None] = relationship(
        primaryjoin=lambda: foreign(PhysicalLocation.ref_object_id) == remote(SolidObject.id), post_update=True
    )
    """The other object."""
    timestamp: Mapped[float | None] = mapped_column(Double)
    """When this was so, in seconds of the cell's clock; gives the age of a belief."""


class Plan(DataThing):
    """Activities that lead from one state to another."""

    __tablename__ = "plan"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Plan", id == DataThing.id)
    activity_id: Mapped[int | None] = mapped_column(reference("activity"), index=True)
    activity: Mapped[Activity | None] = relationship(
        primaryjoin=lambda: foreign(Plan.activity_id) == remote(Activity.id), post_update=True
    )
    """What is done."""
    goal_state_id: Mapped[int | None] = mapped_column(reference("state"), index=True)
    goal_state: Mapped[State | None] = relationship(
        primaryjoin=lambda: foreign(Plan.goal_state_id) == remote(State.id), post_update=True
    )
    """Where it should end."""
    initial_state_id: Mapped[int | None] = mapped_column(reference("state"), index=True)
    initial_state: Mapped[State | None] = relationship(
        primaryjoin=lambda: foreign(Plan.initial_state_id) == remote(State.id), post_update=True
    )
    """Where it starts."""


class Polygon2D(InternalShape):
    """A flat outline, its corners in order."""

    __tablename__ = "polygon2_d"
    id: Mapped[int] = mapped_column(part_of("internal_shape"), primary_key=True)
    __mapper_args__ = below("Polygon2D", id == InternalShape.id)
    corner_rows: Mapped[list[Polygon2DCorner]] = relationship(
        order_by="Polygon2DCorner.id", cascade="all, delete-orphan", passive_deletes=True
    )
    corner: AssociationProxy[list[Point]] = association_proxy(
        "corner_rows", "value", creator=lambda value: Polygon2DCorner(value=value)
    )
    """A corner of the outline."""


class PoseLocation(PhysicalLocation):
    """A pose in the frame of the other object, with its uncertainty."""

    __tablename__ = "pose_location"
    id: Mapped[int] = mapped_column(part_of("physical_location"), primary_key=True)
    __mapper_args__ = below("PoseLocation", id == PhysicalLocation.id)
    orientation_covariance_xx: Mapped[float | None] = mapped_column(Double)
    orientation_covariance_xy: Mapped[float | None] = mapped_column(Double)
    orientation_covariance_xz: Mapped[float | None] = mapped_column(Double)
    orientation_covariance_yy: Mapped[float | None] = mapped_column(Double)
    orientation_covariance_yz: Mapped[float | None] = mapped_column(Double)
    orientation_covariance_zz: Mapped[float | None] = mapped_column(Double)
    orientation_covariance: Mapped[Covariance | None] = composite(
        "orientation_covariance_xx",
        "orientation_covariance_xy",
        "orientation_covariance_xz",
        "orientation_covariance_yy",
        "orientation_covariance_yz",
        "orientation_covariance_zz",
    )
    """Square radians, in the frame of the other object."""
    orientation_standard_deviation: Mapped[float | None] = mapped_column(
        Double, non_negative("orientation_standard_deviation")
    )
    """Radians, the same about every axis."""
    point_x: Mapped[float | None] = mapped_column(Double)
    point_y: Mapped[float | None] = mapped_column(Double)
    point_z: Mapped[float | None] = mapped_column(Double)
    point: Mapped[Point | None] = composite("point_x", "point_y", "point_z")
    """The position."""
    position_covariance_xx: Mapped[float | None] = mapped_column(Double)
    position_covariance_xy: Mapped[float | None] = mapped_column(Double)
    position_covariance_xz: Mapped[float | None] = mapped_column(Double)
    position_covariance_yy: Mapped[float | None] = mapped_column(Double)
    position_covariance_yz: Mapped[float | None] = mapped_column(Double)
    position_covariance_zz: Mapped[float | None] = mapped_column(Double)
    position_covariance: Mapped[Covariance | None] = composite(
        "position_covariance_xx",
        "position_covariance_xy",
        "position_covariance_xz",
        "position_covariance_yy",
        "position_covariance_yz",
        "position_covariance_zz",
    )
    """Square metres, in the frame of the other object."""
    position_standard_deviation: Mapped[float | None] = mapped_column(
        Double, non_negative("position_standard_deviation")
    )
    """Metres, the same along every axis."""
    x_axis_x: Mapped[float | None] = mapped_column(Double)
    x_axis_y: Mapped[float | None] = mapped_column(Double)
    x_axis_z: Mapped[float | None] = mapped_column(Double)
    x_axis: Mapped[Vector | None] = composite("x_axis_x", "x_axis_y", "x_axis_z")
    """Direction of its x axis."""
    z_axis_x: Mapped[float | None] = mapped_column(Double)
    z_axis_y: Mapped[float | None] = mapped_column(Double)
    z_axis_z: Mapped[float | None] = mapped_column(Double)
    z_axis: Mapped[Vector | None] = composite("z_axis_x", "z_axis_y", "z_axis_z")
    """Direction of its z axis."""


class PoseLocationIn(PoseLocation):
    """At this pose, inside the other object."""

    __tablename__ = "pose_location_in"
    id: Mapped[int] = mapped_column(part_of("pose_location"), primary_key=True)
    __mapper_args__ = below("PoseLocationIn", id == PoseLocation.id)


class PoseLocationOn(PoseLocation):
    """At this pose, on top of the other object."""

    __tablename__ = "pose_location_on"
    id: Mapped[int] = mapped_column(part_of("pose_location"), primary_key=True)
    __mapper_args__ = below("PoseLocationOn", id == PoseLocation.id)


class PoseOnlyLocation(PoseLocation):
    """At this pose, neither in nor on the other object."""

    __tablename__ = "pose_only_location"
    id: Mapped[int] = mapped_column(part_of("pose_location"), primary_key=True)
    __mapper_args__ = below("PoseOnlyLocation", id == PoseLocation.id)


class PoseTolerance(DataThing):
    """How far a part may be from its pose and still count as placed."""

    __tablename__ = "pose_tolerance"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("PoseTolerance", id == DataThing.id)
    orientation_tolerance: Mapped[float | None] = mapped_column(Double, non_negative("orientation_tolerance"))
    """Radians."""
    position_tolerance: Mapped[float | None] = mapped_column(Double, non_negative("position_tolerance"))
    """Metres."""


class Predicate(DataThing):
    """A statement about one or two objects that is true or false."""

    __tablename__ = "predicate"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Predicate", id == DataThing.id)
    evaluation: Mapped[Evaluation | None] = mapped_column(one_of("evaluation", Evaluation))
    """How its truth is found."""
    expresses_rows: Mapped[list[PredicateExpresses]] = relationship(
        order_by="PredicateExpresses.id", cascade="all, delete-orphan", passive_deletes=True
    )
    expresses: AssociationProxy[list[str]] = association_proxy(
        "expresses_rows", "value", creator=lambda value: PredicateExpresses(value=value)
    )
    """A property of the kitting ontology, as Class-property, whose values it states, so that planning files need not
    state them again.
    """
    holds_when: Mapped[list[StateRelation]] = relationship(
        secondary=predicate_holds_when,
        primaryjoin=lambda: Predicate.id == predicate_holds_when.c.owner_id,
        secondaryjoin=lambda: StateRelation.id == predicate_holds_when.c.target_id,
        order_by=predicate_holds_when.c.id,
    )
    """True when one of these relations holds from the subject to the other object."""
    path: Mapped[str | None] = mapped_column(String(255))
    """How the database says it: properties from the first object to the second, with a slash between them.

    ^ goes a property backwards, ? stays at the object if it has the property, ! if it has not. 'location' is the object
    that the primary location refers to, 'reach' the places inside a work volume, 'kitTraySku' the kind of a kit tray,
    'exists' and '.' stay at the object, 'exists' only if the database has it. False at first when absent.
    """
    reference_parameter_id: Mapped[int | None] = mapped_column(reference("parameter_type"), index=True)
    reference_parameter: Mapped[ParameterType | None] = relationship(
        primaryjoin=lambda: foreign(Predicate.reference_parameter_id) == remote(ParameterType.id), post_update=True
    )
    """Type of the first object."""
    subject: Mapped[ParameterRole | None] = mapped_column(one_of("subject", ParameterRole))
    """Which object the relations start from."""
    target_parameter_id: Mapped[int | None] = mapped_column(reference("parameter_type"), index=True)
    target_parameter: Mapped[ParameterType | None] = relationship(
        primaryjoin=lambda: foreign(Predicate.target_parameter_id) == remote(ParameterType.id), post_update=True
    )
    """Type of the second object, if there is one."""
    unless_any_id: Mapped[int | None] = mapped_column(reference("state_relation"), index=True)
    unless_any: Mapped[StateRelation | None] = relationship(
        primaryjoin=lambda: foreign(Predicate.unless_any_id) == remote(StateRelation.id), post_update=True
    )
    """False when any further object stands in this relation to the subject."""
    unless_any_of_type_id: Mapped[int | None] = mapped_column(reference("parameter_type"), index=True)
    unless_any_of_type: Mapped[ParameterType | None] = relationship(
        primaryjoin=lambda: foreign(Predicate.unless_any_of_type_id) == remote(ParameterType.id), post_update=True
    )
    """The kind of further object that counts; every kind when absent."""


class RelativeLocation(PhysicalLocation):
    """A location without figures."""

    __tablename__ = "relative_location"
    id: Mapped[int] = mapped_column(part_of("physical_location"), primary_key=True)
    __mapper_args__ = below("RelativeLocation", id == PhysicalLocation.id)
    description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""


class RelativeLocationIn(RelativeLocation):
    """Somewhere inside."""

    __tablename__ = "relative_location_in"
    id: Mapped[int] = mapped_column(part_of("relative_location"), primary_key=True)
    __mapper_args__ = below("RelativeLocationIn", id == RelativeLocation.id)


class RelativeLocationOn(RelativeLocation):
    """Somewhere on top."""

    __tablename__ = "relative_location_on"
    id: Mapped[int] = mapped_column(part_of("relative_location"), primary_key=True)
    __mapper_args__ = below("RelativeLocationOn", id == RelativeLocation.id)


class Remediation(DataThing):
    """What to do about it."""

    __tablename__ = "remediation"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Remediation", id == DataThing.id)
    notification: Mapped[str | None] = mapped_column(Text)
    """What people are told."""
    recovery_plan_id: Mapped[int | None] = mapped_column(reference("activity"), index=True)
    recovery_plan: Mapped[Activity | None] = relationship(
        primaryjoin=lambda: foreign(Remediation.recovery_plan_id) == remote(Activity.id), post_update=True
    )
    """What the cell does."""


class Repetition(OrderingConstruct):
    """All of them, several times."""

    __tablename__ = "repetition"
    id: Mapped[int] = mapped_column(part_of("ordering_construct"), primary_key=True)
    __mapper_args__ = below("Repetition", id == OrderingConstruct.id)
    repetitions: Mapped[int | None] = mapped_column(Integer, non_negative("repetitions"))
    """How many times."""


class Robot(NoSkuObject):
    """An arm that carries one end effector at a time."""

    __tablename__ = "robot"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("Robot", id == NoSkuObject.id)
    description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""
    end_effector_id: Mapped[int | None] = mapped_column(reference("end_effector"), index=True)
    end_effector: Mapped[EndEffector | None] = relationship(
        primaryjoin=lambda: foreign(Robot.end_effector_id) == remote(EndEffector.id), post_update=True
    )
    """The end effector that is there now."""
    maximum_load_weight: Mapped[float | None] = mapped_column(Double, non_negative("maximum_load_weight"))
    """The heaviest load in kilograms."""
    work_volume: Mapped[list[BoxVolume]] = relationship(
        secondary=robot_work_volume,
        primaryjoin=lambda: Robot.id == robot_work_volume.c.owner_id,
        secondaryjoin=lambda: BoxVolume.id == robot_work_volume.c.target_id,
        order_by=robot_work_volume.c.id,
    )
    """Space that the robot reaches."""


class Sensor(NoSkuObject):
    """A device that reports where things are."""

    __tablename__ = "sensor"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("Sensor", id == NoSkuObject.id)
    description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""


class Sequence(OrderingConstruct):
    """One after the other, as listed."""

    __tablename__ = "sequence"
    id: Mapped[int] = mapped_column(part_of("ordering_construct"), primary_key=True)
    __mapper_args__ = below("Sequence", id == OrderingConstruct.id)


class SingleCupEffector(VacuumEffector):
    """One suction cup."""

    __tablename__ = "single_cup_effector"
    id: Mapped[int] = mapped_column(part_of("vacuum_effector"), primary_key=True)
    __mapper_args__ = below("SingleCupEffector", id == VacuumEffector.id)


class Slot(DataThing):
    """A place of one particular tray or kit."""

    __tablename__ = "slot"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Slot", id == DataThing.id)
    is_occupied: Mapped[bool | None] = mapped_column(Boolean)
    """Something lies in it, even when nobody knows what."""
    slot_design_id: Mapped[int | None] = mapped_column(reference("part_ref_and_pose"), index=True)
    slot_design: Mapped[PartRefAndPose | None] = relationship(
        primaryjoin=lambda: foreign(Slot.slot_design_id) == remote(PartRefAndPose.id), post_update=True
    )
    """The place of the design that it realises."""
    slot_id: Mapped[str | None] = mapped_column(String(255))
    """The number printed beside it."""
    slot_part_id: Mapped[int | None] = mapped_column(reference("part"), index=True)
    slot_part: Mapped[Part | None] = relationship(
        primaryjoin=lambda: foreign(Slot.slot_part_id) == remote(Part.id), post_update=True
    )
    """The part that lies in it."""


class State(DataThing):
    """What holds at one time: an initial state, a goal, or a stable state on the way."""

    __tablename__ = "state"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("State", id == DataThing.id)
    fact: Mapped[list[Fact]] = relationship(
        secondary=state_fact,
        primaryjoin=lambda: State.id == state_fact.c.owner_id,
        secondaryjoin=lambda: Fact.id == state_fact.c.target_id,
        order_by=state_fact.c.id,
    )
    """Something that holds in the state."""


class StateRelation(DataThing):
    """A spatial relation of two objects.

    Every axis that is named stands in one of the relations listed for it, and all further conditions hold.
    """

    __tablename__ = "state_relation"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("StateRelation", id == DataThing.id)
    all_of: Mapped[list[StateRelation]] = relationship(
        secondary=state_relation_all_of,
        primaryjoin=lambda: StateRelation.id == state_relation_all_of.c.owner_id,
        secondaryjoin=lambda: StateRelation.id == state_relation_all_of.c.target_id,
        order_by=state_relation_all_of.c.id,
    )
    """Every one of these holds, too."""
    any_of: Mapped[list[StateRelation]] = relationship(
        secondary=state_relation_any_of,
        primaryjoin=lambda: StateRelation.id == state_relation_any_of.c.owner_id,
        secondaryjoin=lambda: StateRelation.id == state_relation_any_of.c.target_id,
        order_by=state_relation_any_of.c.id,
    )
    """At least one of these holds, too."""
    first_region: Mapped[Region | None] = mapped_column(one_of("first_region", Region))
    """Which volume of the first object; its body when absent.

    Of several, as the slots of a tray are, one must stand in the relation.
    """
    second_region: Mapped[Region | None] = mapped_column(one_of("second_region", Region))
    """The same for the second object."""
    x_relation_rows: Mapped[list[StateRelationXRelation]] = relationship(
        order_by="StateRelationXRelation.id", cascade="all, delete-orphan", passive_deletes=True
    )
    x_relation: AssociationProxy[list[Rcc8]] = association_proxy(
        "x_relation_rows", "value", creator=lambda value: StateRelationXRelation(value=value)
    )
    """Allowed along x."""
    y_relation_rows: Mapped[list[StateRelationYRelation]] = relationship(
        order_by="StateRelationYRelation.id", cascade="all, delete-orphan", passive_deletes=True
    )
    y_relation: AssociationProxy[list[Rcc8]] = association_proxy(
        "y_relation_rows", "value", creator=lambda value: StateRelationYRelation(value=value)
    )
    """Allowed along y."""
    z_centre: Mapped[CentreOrder | None] = mapped_column(one_of("z_centre", CentreOrder))
    """Order of the centres along z."""
    z_relation_rows: Mapped[list[StateRelationZRelation]] = relationship(
        order_by="StateRelationZRelation.id", cascade="all, delete-orphan", passive_deletes=True
    )
    z_relation: AssociationProxy[list[Rcc8]] = association_proxy(
        "z_relation_rows", "value", creator=lambda value: StateRelationZRelation(value=value)
    )
    """Allowed along z."""


class Step(DataThing):
    """One activity of an ordering construct."""

    __tablename__ = "step"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("Step", id == DataThing.id)
    step_activity_id: Mapped[int | None] = mapped_column(reference("activity"), index=True)
    step_activity: Mapped[Activity | None] = relationship(
        primaryjoin=lambda: foreign(Step.step_activity_id) == remote(Activity.id), post_update=True
    )
    """What is done."""
    step_number: Mapped[int | None] = mapped_column(Integer, non_negative("step_number"))
    """Its place in the order."""


class StockKeepingUnit(DataThing):
    """A kind of object: shape, weight, and how it is held."""

    __tablename__ = "stock_keeping_unit"
    id: Mapped[int] = mapped_column(part_of("data_thing"), primary_key=True)
    __mapper_args__ = below("StockKeepingUnit", id == DataThing.id)
    description: Mapped[str | None] = mapped_column(Text)
    """In words, for people."""
    external_shape_id: Mapped[int | None] = mapped_column(reference("external_shape"), index=True)
    external_shape: Mapped[ExternalShape | None] = relationship(
        primaryjoin=lambda: foreign(StockKeepingUnit.external_shape_id) == remote(ExternalShape.id), post_update=True
    )
    """Its shape, in a file."""
    grasp: Mapped[list[Grasp]] = relationship(
        secondary=stock_keeping_unit_grasp,
        primaryjoin=lambda: StockKeepingUnit.id == stock_keeping_unit_grasp.c.owner_id,
        secondaryjoin=lambda: Grasp.id == stock_keeping_unit_grasp.c.target_id,
        order_by=stock_keeping_unit_grasp.c.id,
    )
    """A way to hold it."""
    internal_shape_id: Mapped[int | None] = mapped_column(reference("internal_shape"), index=True)
    internal_shape: Mapped[InternalShape | None] = relationship(
        primaryjoin=lambda: foreign(StockKeepingUnit.internal_shape_id) == remote(InternalShape.id), post_update=True
    )
    """Its shape, described here."""
    usable_end_effector: Mapped[list[EndEffector]] = relationship(
        secondary=stock_keeping_unit_usable_end_effector,
        primaryjoin=lambda: StockKeepingUnit.id == stock_keeping_unit_usable_end_effector.c.owner_id,
        secondaryjoin=lambda: EndEffector.id == stock_keeping_unit_usable_end_effector.c.target_id,
        order_by=stock_keeping_unit_usable_end_effector.c.id,
    )
    """An end effector that can hold it."""
    weight: Mapped[float | None] = mapped_column(Double, non_negative("weight"))
    """Mass in kilograms."""


class ThreeFingerGrasp(Grasp):
    """Held by three fingers."""

    __tablename__ = "three_finger_grasp"
    id: Mapped[int] = mapped_column(part_of("grasp"), primary_key=True)
    __mapper_args__ = below("ThreeFingerGrasp", id == Grasp.id)
    open_pose_id: Mapped[int | None] = mapped_column(reference("pose_location"), index=True)
    open_pose: Mapped[PoseLocation | None] = relationship(
        primaryjoin=lambda: foreign(ThreeFingerGrasp.open_pose_id) == remote(PoseLocation.id), post_update=True
    )
    """The tool's pose before it closes."""


class ThreeFingerGripper(GripperEffector):
    """Three fingers around a centre."""

    __tablename__ = "three_finger_gripper"
    id: Mapped[int] = mapped_column(part_of("gripper_effector"), primary_key=True)
    __mapper_args__ = below("ThreeFingerGripper", id == GripperEffector.id)


class TwoJawGrasp(Grasp):
    """Held between swinging jaws."""

    __tablename__ = "two_jaw_grasp"
    id: Mapped[int] = mapped_column(part_of("grasp"), primary_key=True)
    __mapper_args__ = below("TwoJawGrasp", id == Grasp.id)
    open_pose_id: Mapped[int | None] = mapped_column(reference("pose_location"), index=True)
    open_pose: Mapped[PoseLocation | None] = relationship(
        primaryjoin=lambda: foreign(TwoJawGrasp.open_pose_id) == remote(PoseLocation.id), post_update=True
    )
    """The tool's pose before it closes."""


class TwoJawGripper(GripperEffector):
    """Two jaws that swing."""

    __tablename__ = "two_jaw_gripper"
    id: Mapped[int] = mapped_column(part_of("gripper_effector"), primary_key=True)
    __mapper_args__ = below("TwoJawGripper", id == GripperEffector.id)


class VacuumSingleCupGrasp(Grasp):
    """Held by one cup."""

    __tablename__ = "vacuum_single_cup_grasp"
    id: Mapped[int] = mapped_column(part_of("grasp"), primary_key=True)
    __mapper_args__ = below("VacuumSingleCupGrasp", id == Grasp.id)


class WorkTable(NoSkuObject):
    """A table on which kits are built."""

    __tablename__ = "work_table"
    id: Mapped[int] = mapped_column(part_of("no_sku_object"), primary_key=True)
    __mapper_args__ = below("WorkTable", id == NoSkuObject.id)
    object_on_table: Mapped[list[SolidObject]] = relationship(
        secondary=work_table_object_on_table,
        primaryjoin=lambda: WorkTable.id == work_table_object_on_table.c.owner_id,
        secondaryjoin=lambda: SolidObject.id == work_table_object_on_table.c.target_id,
        order_by=work_table_object_on_table.c.id,
    )
    """What stands on the table."""


class Polygon2DCorner(Record):
    """One `corner` of a Polygon2D."""

    __tablename__ = "polygon2_d_corner"
    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(part_of("polygon2_d"), index=True)
    value_x: Mapped[float] = mapped_column(Double)
    value_y: Mapped[float] = mapped_column(Double)
    value_z: Mapped[float] = mapped_column(Double)
    value: Mapped[Point] = composite("value_x", "value_y", "value_z")


class PredicateExpresses(Record):
    """One `expresses` of a Predicate."""

    __tablename__ = "predicate_expresses"
    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(part_of("predicate"), index=True)
    value: Mapped[str] = mapped_column(String(255))


class StateRelationXRelation(Record):
    """One `xRelation` of a StateRelation."""

    __tablename__ = "state_relation_x_relation"
    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(part_of("state_relation"), index=True)
    value: Mapped[Rcc8] = mapped_column(one_of("value", Rcc8))


class StateRelationYRelation(Record):
    """One `yRelation` of a StateRelation."""

    __tablename__ = "state_relation_y_relation"
    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(part_of("state_relation"), index=True)
    value: Mapped[Rcc8] = mapped_column(one_of("value", Rcc8))


class StateRelationZRelation(Record):
    """One `zRelation` of a StateRelation."""

    __tablename__ = "state_relation_z_relation"
    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(part_of("state_relation"), index=True)
    value: Mapped[Rcc8] = mapped_column(one_of("value", Rcc8))
