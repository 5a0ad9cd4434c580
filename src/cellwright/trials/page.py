"""A report on disk: as JSON and as a page, with a picture of how it ended, beside the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path

from cellwright import __version__
from cellwright.core.errors import CellwrightError, OutputError
from cellwright.core.files import write_whole
from cellwright.core.json_text import json_text
from cellwright.core.page import Page, PageFigure, PageSection
from cellwright.core.page_parts import Html, beside, bullets, folded, image, paragraphs, table, yes_no
from cellwright.execution import OrderReport
from cellwright.judge import KitVerdict
from cellwright.sim import World
from cellwright.sim.picture import take_picture
from cellwright.trials.report import FaultRecord, OrderVerdict, Report

__all__ = ["FILES", "UnsavedReport", "draw_end", "report_json", "report_page", "save_report", "write_report"]

FILES = {"verdict": "verdict.json", "page": "verdict.html", "picture": "cell.png", "log": "log.mcap"}


class UnsavedReport(OutputError):
    """A report that cannot be written, as on a full disk: the run is over, and its verdict is here.

    Attributes:
        report: The report.
    """

    def __init__(self, path: str | Path, reason: str, report: Report) -> None:
        super().__init__(path, reason)
        self.report = report


def save_report(
    report: Report,
    world: World,
    folder: Path,
    say: Callable[[str], None] = lambda _text: None,
    command: str = "",
    links: Mapping[str, str] | None = None,
) -> None:
    """Writes all but the log, which is there already."""
    picture = folder / FILES["picture"]
    write_report(report, folder, picture if draw_end(world, picture, say) else None, command, links)


def draw_end(world: World, path: Path, say: Callable[[str], None]) -> str | None:
    """Draws the world as it is and returns the renderer; a picture that fails must not take the report along."""
    try:
        return take_picture(world, path)
    except CellwrightError as error:
        say(f"there is no picture: {error}")
        return None


def write_report(
    report: Report,
    folder: Path,
    picture: Path | None = None,
    command: str = "",
    links: Mapping[str, str] | None = None,
) -> None:
    """Writes the report as JSON and as a page, which shows the picture if there is one.

    Args:
        report: The report.
        folder: Where to.
        picture: A PNG file of how it ended.
        command: How to repeat it.
        links: Text -> file beside the page, such as a trace.

    Raises:
        UnsavedReport: They cannot be written; what was there stays.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / FILES["verdict"], report_json(report).encode())
        page = report_page(report, picture, command, links)
        write_whole(folder / FILES["page"], page.encode())
    except OSError as error:
        raise UnsavedReport(error.filename or folder, error.strerror or str(error), report) from None


def report_json(report: Report) -> str:
    """Returns the report; what is not a number is null."""
    return json_text(report.as_dict()) + "\n"


def report_page(
    report: Report, picture: Path | None = None, command: str = "", links: Mapping[str, str] | None = None
) -> str:
    """Returns the report for people: one file that needs nothing from elsewhere."""
    verdict = "Done" if report.done else "Not done"
    if report.false_done:
        verdict += ", although it was claimed" if not report.done else ", but it was claimed too early"
    name = ", ".join(order.order for order in report.orders) if report.is_run else report.trial
    ending = report.ending.value if report.detail in report.reason else report.ending_text
    ended = f"After {_took_s(report):.1f} s: {ending}."
    events = bullets(map(str, (*report.hits, *report.drops)), "No collision, and nothing was dropped.")
    shown = image(picture.read_bytes(), "The cell at the end.") if picture else ""
    return Page(
        kind="run" if report.is_run else "trial",
        heading=f"{'Run of' if report.is_run else 'Trial'} `{name}`",
        origin=f"Cell `{report.cell}`, seed {report.seed}, controller `{report.controller}`",
        verdict=verdict,
        tone="good" if report.done and not report.false_done else "bad",
        reason=(f"{report.reason[:1].upper()}{report.reason[1:]}.", ended),
        figures=_figures(report),
        links=links or {},
        sections=(
            PageSection("Orders", beside("\n".join(map(_order, report.orders)), shown)),
            PageSection("What the controller says", _account(report.account) if report.account else ""),
            PageSection("What went wrong on purpose", _faults(report)),
            PageSection("What was seen to happen", events),
            PageSection("Score", _score(report)),
            PageSection("Notes", bullets(report.notes)),
        ),
        versions={"cellwright": __version__, **report.versions},
        command=command,
    ).html()


def _took_s(report: Report) -> float:
    return report.time_s - report.start_s


def _figures(report: Report) -> list[PageFigure]:
    """Returns the numbers that matter. Those of one run are counts and times, which have no interval."""
    kits, complete = len(report.kits), sum(kit.done for kit in report.kits)
    figures = [
        PageFigure("score", f"{100 * report.score:.0f}", "of 100"),
        PageFigure("kits complete", str(complete), f"of {kits}"),
        PageFigure("simulated time", f"{_took_s(report):.1f} s", f"in {report.wall_s:.1f} s of real time"),
    ]
    if account := report.account:
        note = f"retries: {account.retries}, plans: {account.plans}"
        figures.append(PageFigure("actions", str(len(account.actions)), note))
    figures.append(PageFigure("collisions", str(len(report.hits))))
    figures.append(PageFigure("drops", str(len(report.drops))))
    if begun := sum(not fault.is_end for fault in report.faults):
        figures.append(PageFigure("faults", str(begun), "on purpose"))
    return figures


def _score(report: Report) -> str:
    rows = [
        (item.name, Html(item.points_text, "yes" if item.passed else "no"), f"{item.most:g}", item.reason)
        for item in report.scored.items
    ]
    return table(("item", "points", "of", "reason"), rows, numbers=("points", "of"))


def _order(order: OrderVerdict) -> str:
    announced = "never announced" if order.announced_s is None else f"announced at {order.announced_s:.1f} s"
    claimed = "never submitted" if order.submitted_s is None else f"submitted at {order.submitted_s:.1f} s"
    false = ' <span class="no">It was not complete when it was submitted.</span>' if order.false_done else ""
    word = '<span class="yes">complete</span>' if order.done else '<span class="no">not complete</span>'
    head = f"<h3>{escape(order.order)}: {word}</h3><p>Priority {order.priority}, {announced}, {claimed}.{false}</p>"
    missed = "<p>There was no tray left for a kit of it.</p>"
    kits = "".join(missed if kit.tray in order.without_tray else _kit(kit) for kit in order.kits)
    if not order.false_done:
        return head + kits
    return head + kits + folded("When it was submitted", "".join(map(_kit, order.claimed)))


def _kit(kit: KitVerdict) -> str:
    rows = [(item.name, yes_no(item.passed), item.reason) for item in kit.items]
    title = f"<p>Kit <code>{escape(kit.design)}</code> on <code>{escape(kit.tray)}</code></p>"
    return title + table(("item", "ok", "why"), rows)


def _account(account: OrderReport) -> str:
    """Returns what Cellwright's own controller says, and its actions."""
    rows = [
        (
            f"{action.start_s:.2f}",
            f"{action.end_s - action.start_s:.2f}",
            action.robot,
            action.action.strip("()"),
            yes_no(action.phase == "end"),
            action.reason,
        )
        for action in account.actions
    ]
    tried = f"actions: {len(account.actions)}, retries: {account.retries}, plans: {account.plans}"
    said = paragraphs([f"{account.status.value}: {account.reason}"])
    return said + folded(tried, table(("at [s]", "took [s]", "robot", "action", "ok", "why"), rows))


def _faults(report: Report) -> str:
    never = bullets(f"Its moment never came: {fault}" for fault in report.not_applied)
    if not report.faults:
        return never or "<p>Nothing.</p>"
    return table(("at [s]", "fault", "what was done", "recoverable?"), map(_fault, report.faults)) + never


def _fault(fault: FaultRecord) -> tuple[object, ...]:
    oracle: object = ""
    if fault.recovery is not None:
        oracle = Html(f"{yes_no(fault.recovery.recoverable).text}: {escape(fault.recovery.reason)}")
    elif not fault.is_end:
        oracle = "not asked: the trial ended before things were at rest"
    what = f"{fault.subject}: {fault.detail}" if fault.subject else fault.detail
    return f"{fault.time_s:.2f}", fault.fault, what, oracle
