"""The account of targets: from when to when each was external, and what a reader must be told besides."""

from __future__ import annotations

from cellwright.hybrid.targets_account import TargetsAccount


def told(*events, is_shadowed=False):
    account = TargetsAccount()
    for time_s, target, change, reason in events:
        account.hear(time_s, target, "a:1", change, reason, is_shadowed=is_shadowed)
    return account


def test_what_was_never_external_is_not_told_of():
    assert told((1.0, "arm", "refused", "no"), (2.0, "arm", "simulated", "")).notes(["arm"]) == []


def test_a_switch_back_ends_it_and_another_begins_it_anew():
    account = told((1.0, "eye", "external", ""), (2.0, "eye", "simulated", ""), (3.0, "eye", "external", ""))
    assert account.notes(["arm"]) == ["eye was at a:1 from 1.0 s to 2.0 s, at a:1 from 3.0 s to the end"]


def test_one_that_was_lost_is_told_so_until_it_is_found():
    lost = (1.0, "arm", "external", ""), (4.0, "arm", "lost", "it is gone")
    account = told(*lost, (4.1, "arm", "lost", "arm WAS NOT STOPPED: no answer"))
    first, second = account.notes(["arm"])
    assert first.startswith("arm was at a:1 from 1.0 s to 4.0 s, when it was lost; what it did there is judged by its")
    assert second == "arm WAS NOT STOPPED: no answer"
    assert account.trouble == {"arm": "arm WAS NOT STOPPED: no answer"}
    found = told(*lost, (5.0, "arm", "found", "there"))
    assert "from 1.0 s to the end" in found.notes(["arm"])[0]
    assert found.trouble == {}


def test_the_verdict_on_a_shadow_is_not_on_its_robot():
    (line,) = told((1.0, "arm", "external", ""), is_shadowed=True).notes(["arm"])
    assert line.endswith("; the verdict is on the simulated cell, where its shadow worked by itself")
