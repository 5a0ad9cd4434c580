"""Predicates from sensing: spatial relations (RCC8) of sensed poses, as the ontology defines them."""

from cellwright.execution.predicates.evaluator import (
    Evaluator,
    Flag,
    Flags,
    effects_of,
    flags_after,
    initial_flags,
    preconditions_of,
)
from cellwright.execution.predicates.rcc8 import Interval, Rcc8, possible_rcc8, rcc8
from cellwright.execution.predicates.relations import SeatRelation
from cellwright.execution.predicates.sensed import PredicateSettings, SensedState
from cellwright.execution.predicates.truth import Evaluation, Truth
from cellwright.execution.predicates.vocabulary import vocabulary

__all__ = [
    "Evaluation",
    "Evaluator",
    "Flag",
    "Flags",
    "Interval",
    "PredicateSettings",
    "Rcc8",
    "SeatRelation",
    "SensedState",
    "Truth",
    "effects_of",
    "flags_after",
    "initial_flags",
    "possible_rcc8",
    "preconditions_of",
    "rcc8",
    "vocabulary",
]
