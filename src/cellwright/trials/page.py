"""A report on disk: as JSON and as a page, with a picture of how it ended, beside the log."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path

from cellwright.core.errors import CellwrightError, OutputError
from cellwright.core.json_text import json_text
from cellwright.core.page import fill_page
from cellwright.execution import OrderReport
from cellwright.judge import KitVerdict
from cellwright.sim import World
from cellwright.sim.picture import take_picture
from cellwright.trials.report import FaultRecord, OrderVerdict, Report

__all__ = ["FILES", "draw_end", "report_json", "report_page", "save_report", "write_report"]

FILES = {"verdict": "verdict.json", "page": "verdict.html", "picture": "cell.png", "log": "log.mcap"}


def save_report(report: Report, world: World, folder: Path, say: Callable[[str], None] = lambda _text: None) -> None:
    """Writes all but the log, which is there already."""
    picture = folder / FILES["picture"]
    write_report(report, folder, picture if draw_end(world, picture, say) else None)


def draw_end(world: World, path: Path, say: Callable[[str], None]) -> str | None:
    """Draws the world as it is and returns the renderer; a picture that fails must not take the report along."""
    try:
        return take_picture(world, path)
    except CellwrightError as error:
        say(f"there is no picture: {error}")
        return None


def write_report(report: Report, folder: Path, picture: Path | None = None) -> None:
    """Writes the report as JSON and as a page, which shows the picture if there is one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILES["verdict"]).write_text(report_json(report), encoding="utf-8")
        (folder / FILES["page"]).write_text(report_page(report, picture), encoding="utf-8")
    except OSError as error:
        raise OutputError(error.filename or folder, error.strerror or str(error)) from None


def report_json(report: Report) -> str:
    """Returns the report; what is not a number is null."""
    return json_text(report.as_dict()) + "\n"


def report_page(report: Report, picture: Path | None = None) -> str:
    """Returns the report for people: one file, no scripts, nothing from elsewhere."""
    word = "Done" if report.done else "Not done"
    if report.false_done:
        word += ", although it was claimed" if not report.done else ", but it was claimed too early"
    return fill_page(
        "cellwright.trials",
        "report_page.html",
        kind="Run of" if report.is_run else "Trial",
        name=escape(", ".join(order.order for order in report.orders) if report.is_run else report.trial),
        cell=escape(report.cell),
        seed=report.seed,
        controller=escape(report.controller),
        versions=escape(", ".join(f"{package} {version}" for package, version in report.versions.items())),
        ok="yes" if report.done and not report.false_done else "no",
        word=word,
        ending=escape(report.ending_text[:1].upper() + report.ending_text[1:]),
        time_s=f"{report.time_s - report.start_s:.1f}",
        wall_s=f"{report.wall_s:.1f}",
        score=f"{100 * report.score:.0f}",
        orders="\n".join(map(_order, report.orders)),
        account=_account(report.account) if report.account else "",
        faults=_faults(report),
        events=_list([*map(str, report.hits), *map(str, report.drops)], "No collision, and nothing was dropped."),
        items="\n".join(
            _row(item.name, item.points_text, f"{item.most:g}", item.reason, ok=item.passed)
            for item in report.scored.items
        ),
        picture=_picture(picture),
        notes=f"<h2>Notes</h2>{_list(report.notes)}" if report.notes else "",
    )


def _order(order: OrderVerdict) -> str:
    announced = "never announced" if order.announced_s is None else f"announced at {order.announced_s:.1f} s"
    claimed = "never submitted" if order.submitted_s is None else f"submitted at {order.submitted_s:.1f} s"
    false = '<span class="no">It was not complete when it was submitted.</span>' if order.false_done else ""
    word = '<span class="yes">complete</span>' if order.done else '<span class="no">not complete</span>'
    head = f"<h3>{escape(order.order)}: {word}</h3><p>Priority {order.priority}, {announced}, {claimed}. {false}</p>"
    missed = "<p>There was no tray left for a kit of it.</p>"
    kits = "".join(missed if kit.tray in order.without_tray else _kit(kit) for kit in order.kits)
    if not order.false_done:
        return head + kits
    then = "".join(map(_kit, order.claimed))
    return f"{head}{kits}<details><summary>When it was submitted</summary>{then}</details>"


def _kit(kit: KitVerdict) -> str:
    rows = "\n".join(
        f"<tr><td>{escape(item.name)}</td><td>{_word(item.passed)}</td><td>{escape(item.reason)}</td></tr>"
        for item in kit.items
    )
    title = f"<p>Kit <code>{escape(kit.design)}</code> on <code>{escape(kit.tray)}</code></p>"
    return f"{title}<table><tr><th>item</th><th>ok</th><th>why</th></tr>\n{rows}</table>"


def _account(account: OrderReport) -> str:
    """Returns what Cellwright's own controller says, and its actions."""
    rows = "\n".join(
        f'<tr><td class="number">{action.start_s:.2f}</td><td class="number">{action.end_s - action.start_s:.2f}</td>'
        f"<td>{escape(action.robot)}</td><td>{escape(action.action.strip('()'))}</td>"
        f"<td>{_word(action.phase == 'end')}</td><td>{escape(action.reason)}</td></tr>"
        for action in account.actions
    )
    head = '<tr><th class="number">at [s]</th><th class="number">took [s]</th><th>robot</th><th>action</th><th>ok</th>'
    tried = f"actions: {len(account.actions)}, retries: {account.retries}, plans: {account.plans}"
    return (
        f"<h2>What the controller says</h2><p>{escape(account.status.value)}: {escape(account.reason)}</p>"
        f"<details><summary>{tried}</summary><table>{head}<th>why</th></tr>\n{rows}</table></details>"
    )


def _faults(report: Report) -> str:
    never = _list([f"Its moment never came: {fault}" for fault in report.not_applied], "")
    if not report.faults:
        return never or "<p>Nothing.</p>"
    rows = "\n".join(map(_fault, report.faults))
    head = '<tr><th class="number">time [s]</th><th>fault</th><th>what was done</th><th>recoverable?</th></tr>'
    return f"<table>{head}\n{rows}</table>{never}"


def _fault(fault: FaultRecord) -> str:
    oracle = ""
    if fault.recovery is not None:
        oracle = f"{_word(fault.recovery.recoverable)}: {escape(fault.recovery.reason)}"
    elif not fault.is_end:
        oracle = "not asked: the trial ended before things were at rest"
    what = escape(f"{fault.subject}: {fault.detail}" if fault.subject else fault.detail)
    return (
        f'<tr><td class="number">{fault.time_s:.2f}</td><td>{escape(fault.fault)}</td>'
        f"<td>{what}</td><td>{oracle}</td></tr>"
    )


def _row(name: str, points: str, most: str, reason: str, *, ok: bool) -> str:
    numbers = f'<td class="number {"yes" if ok else "no"}">{points}</td><td class="number">{most}</td>'
    return f"<tr><td>{escape(name)}</td>{numbers}<td>{escape(reason)}</td></tr>"


def _word(ok: bool) -> str:
    return f'<span class="{"yes" if ok else "no"}">{"yes" if ok else "no"}</span>'


def _list(lines: Iterable[str], nothing: str = "") -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else f"<p>{nothing}</p>" if nothing else ""


def _picture(path: Path | None) -> str:
    if path is None:
        return ""
    data = base64.b64encode(path.read_bytes()).decode()
    words = "The cell at the end"
    return f'<figure><img alt="{words}" src="data:image/png;base64,{data}"><figcaption>{words}.</figcaption></figure>'
