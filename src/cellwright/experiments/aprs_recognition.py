"""Recognition in pictures from above: random layouts of the agility laboratory, three sizes of noise, two paints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from cellwright.cells import load_cell
from cellwright.core.extras import need_extra
from cellwright.core.results import MeasurementConditions
from cellwright.drawings import Drawings
from cellwright.drawings.recognition import recognition_model
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BoxPlot, ImagePlot
from cellwright.experiments.pool import run_jobs
from cellwright.experiments.recognition_scenes import RecognitionScene
from cellwright.experiments.recognition_score import RecognitionScore, score_scene
from cellwright.perception.recognition import OverheadRecogniser, annotated

__all__ = ["RecognitionJob", "aprs_recognition", "recognise_scene"]

NOISES = (0.003, 0.007, 0.03, 0.09, 0.3)
LAYOUTS, QUICK_LAYOUTS = 50, 2
PAINTS = {"coloured": False, "uniform": True}
GENERATORS = {"": False, "other.": True}
GOALS = {0.003: 0.99, 0.007: 0.99, 0.03: 0.99, 0.09: 0.99, 0.3: 0.95}
SHOWN = "coloured.s0.3"


@dataclass(frozen=True)
class RecognitionJob:
    """One layout, painted one way."""

    number: int
    seed: int
    uniform: bool
    other: bool
    noises: tuple[float, ...] = NOISES


@lru_cache(maxsize=1)
def _recogniser() -> OverheadRecogniser:
    """Returns the recogniser of the laboratory's drawings, which know nothing of layouts and paints of scenes."""
    return OverheadRecogniser(recognition_model(Drawings.of(load_cell("aprs"))))


def recognise_scene(job: RecognitionJob) -> dict[float, RecognitionScore]:
    """Returns noise -> score of one layout."""
    scene = RecognitionScene(job.number, job.seed, uniform=job.uniform, other=job.other)
    label = f"layout {job.number}{' (other)' if job.other else ''}, {'uniform' if job.uniform else 'coloured'}"
    return {
        sd: score_scene(_recogniser().recognise(scene.picture(sd)), scene.truth, f"{label}, {sd:g}")
        for sd in job.noises
    }


def aprs_recognition(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures recall, precision and errors of places and rotations."""
    need_extra("recognition in pictures", "vision", "cv2")
    count = QUICK_LAYOUTS if conditions.quick else LAYOUTS
    metrics: dict[str, float] = {}
    targets: dict[str, Mapping[str, float]] = {}
    errors: dict[str, list[float]] = {}
    wrong: list[str] = []
    for prefix, other in GENERATORS.items():
        for paint, uniform in PAINTS.items():
            jobs = [RecognitionJob(number, conditions.seed, uniform, other) for number in range(count)]
            done = run_jobs("layouts", recognise_scene, jobs, workers, conditions.progress)
            for sd in NOISES:
                total = RecognitionScore.total(scores[sd] for scores in done)
                name = f"{prefix}{paint}.s{sd:g}"
                metrics |= total.metrics(name)
                targets |= {f"{name}.{key}": {"min": GOALS[sd]} for key in ("recall", "precision")}
                errors[name] = total.errors_mm
                wrong += total.wrong
            conditions.say(f"{prefix}{paint}: {count} layouts")
    scene = RecognitionScene(0, conditions.seed, uniform=False, other=False)
    picture = scene.picture(NOISES[-1])
    return ExperimentFindings(
        metrics,
        targets,
        tables={"wrong": DataTable(("what",), [(line,) for line in wrong])},
        plots=[
            BoxPlot(
                "places", "Error of recognised places.", {name: some or [0.0] for name, some in errors.items()}, "mm"
            ),
            ImagePlot(
                "picture", f"One layout, noise {NOISES[-1]:g}.", annotated(picture, _recogniser().recognise(picture))
            ),
        ],
        notes=[
            f"{count} random layouts of trays and gears, on the cart and on the shared table in turn, seen by the "
            "camera above at 2048 x 2048 pixels; gears in slots and beside trays, in their own colours and all of "
            "one colour. The recogniser has the drawings of the cell and the picture. Objects count where at least "
            "80 % of them is visible; a detection is true within 10 mm of an object of its class. Cameras are "
            "where they are drawn.",
            "`other` is a second generator, of which only some failures were looked at: lights turned, "
            "tinted, brighter and darker, arms moved, "
            "fewer trays and more loose gears; where gears have one colour, it is one of five in every layout, grey "
            "and nearly black among them.",
            "Rotations are those of trays, against the next one that looks alike; gears have no mark.",
        ],
    )


EXPERIMENTS.add(
    "aprs-recognition", Experiment("APRS: parts and trays recognised in pictures from above", aprs_recognition)
)
