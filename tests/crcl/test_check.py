"""The checker's words: every problem with its line, its place and what is allowed."""

from __future__ import annotations

import pytest

from cellwright.crcl import DocumentProblem, check

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
MOVE = f"""<?xml version="1.0"?>
<CRCLCommandInstance {XSI}>
  <CRCLCommand xsi:type="MoveToType">
    <CommandID>2</CommandID>
    <MoveStraight>false</MoveStraight>
    <EndPosition>
      <Point><X>2.5</X> <Y>1</Y> <Z>1</Z></Point>
      <XAxis><I>1</I> <J>0</J> <K>0</K></XAxis>
      <ZAxis><I>0</I> <J>0</J> <K>-1</K></ZAxis>
    </EndPosition>
  </CRCLCommand>
</CRCLCommandInstance>
"""
COMMAND = "CRCLCommandInstance/CRCLCommand"
NUMBER = "a number, INF, -INF or NaN"
NO_PLACE = "is no place for the type"


def test_valid():
    assert check(MOVE) == check(MOVE.encode()) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "place", "what", "allowed"),
    [
        ("<Y>1</Y>", "", 7, "/EndPosition/Point", "lacks Y", "one"),
        ("<Y>1<", "<Y>1,5<", 7, "/EndPosition/Point/Y", "'1,5' is not xs:double", NUMBER),
        (
            "<X>2.5</X> <Y>1</Y>",
            "<Y>1</Y> <X>2</X>",
            7,
            "/EndPosition/Point/X",
            "stands after Y",
            "the order Name, X, Y, Z",
        ),
        ("<Y>1</Y>", "<Y>1</Y><Y>2</Y>", 7, "/EndPosition/Point/Y[2]", "is there more than once", "one"),
        ("<Y>1", "<Y><b/>1", 7, "/EndPosition/Point/Y/b", "does not belong into Y", NUMBER),
        (
            "<Point>",
            "<Point>here ",
            7,
            "/EndPosition/Point",
            "has the text 'here' between its elements",
            "elements only",
        ),
        ("<Point>", "<Point unit='mm'>", 7, "/EndPosition/Point", "has the attribute unit", "xsi:type"),
        ("<Y>", "<Y xsi:nil='false'>", 7, "/EndPosition/Point/Y", "has the attribute xsi:nil", "xsi:type"),
        ("<Point>", "<Point xsi:type='VectorType'>", 7, "/EndPosition/Point", f"{NO_PLACE} VectorType", "PointType"),
        ("<EndPosition>", "<EndPosition xsi:type='X'>", 6, "/EndPosition", f"{NO_PLACE} X", "PoseType, PoseAndSetType"),
        ("<Y>", "<Y xsi:type='Bogus'>", 7, "/EndPosition/Point/Y", f"{NO_PLACE} Bogus", "xs:double"),
        (
            *("<Y>1<", "<Y xsi:type='FractionType'>2<", 7, "/EndPosition/Point/Y"),
            *("'2' is not FractionType", "a number from 0 to 1"),
        ),
        (
            *("<MoveStraight>", "<Movestraight/><MoveStraight>", 5, "/Movestraight"),
            "does not belong into MoveToType; did you mean MoveStraight?",
            "Name, CommandID, Guard, MoveStraight, EndPosition",
        ),
    ],
)
def test_one_problem(old, new, line, place, what, allowed):
    assert check(MOVE.replace(old, new, 1)) == [DocumentProblem(line, what, COMMAND + place, allowed)]


def test_other_documents():
    allowed = "CRCLCommandInstance, CRCLStatus, CRCLProgram"
    assert check("\n".join(["<CRCLCommand>", "</CRCLCommand>"])) == [
        DocumentProblem(1, "the document is CRCLCommand", "CRCLCommand", allowed)
    ]


def test_xsi_type_is_needed_for_abstract_types():
    (problem,) = check(MOVE.replace(' xsi:type="MoveToType"', ""))
    assert (problem.line, problem.what, problem.where) == (3, "needs an xsi:type", COMMAND)
    assert "MoveToType" in problem.allowed
    assert "MiddleCommandType" not in problem.allowed


@pytest.mark.parametrize(
    "new",
    [
        "<Y xsi:type='FractionType'>1<",
        "<Y xmlns:s='http://www.w3.org/2001/XMLSchema' xsi:type='s:double'>1<",
        "<Y xsi:schemaLocation='a b'>1<",
        "<Y><!-- why --><?so what?>1<",
        "<Y><![CDATA[1]]><",
    ],
)
def test_what_is_unusual_and_valid(new):
    assert check(MOVE.replace("<Y>1<", new)) == []


def test_all_problems_are_found_in_the_order_of_lines():
    text = MOVE.replace("<Y>1</Y>", "").replace(">2<", ">two<").replace("<K>-1", "<K>down")
    assert [problem.line for problem in check(text)] == [4, 7, 9]
    assert str(check(text)[1]) == f"{COMMAND}/EndPosition/Point: lacks Y (allowed: one)"


def test_a_few_waypoints_too_few():
    move = MOVE.replace("MoveToType", "MoveThroughToType").replace("EndPosition", "Waypoint")
    text = move.replace("</Waypoint>", "</Waypoint><NumPositions>1</NumPositions>")
    assert check(text) == [DocumentProblem(3, "has 1 Waypoint", COMMAND, "2 or more")]


@pytest.mark.parametrize("text", ["\n" + MOVE, "\0" + MOVE, MOVE + "\0", MOVE + MOVE])
def test_what_a_stream_may_hold_a_file_may_not(text):
    (problem,) = check(text)
    assert problem.what.startswith("is not well-formed XML")
