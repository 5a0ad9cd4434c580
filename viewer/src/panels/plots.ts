/** Plots of the run's series; the cursor is the time, and a click goes there. */
import uPlot from "uplot";
import { fill, h } from "../dom.ts";
import { lastBefore } from "../keys.ts";
import type { Series } from "../model.ts";
import type { Run } from "../run.ts";
import { isRunning } from "../words.ts";
import type { Panel } from "./panel.ts";

// Told apart by colour-blind eyes and, with the dashes, in black and white.
const COLOURS = ["#2f7fd6", "#d1651f", "#1f9d8a", "#b0447f", "#7a6bd0", "#8c7a16", "#5a6b78"];
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 2], [1, 2], [12, 4]];
const HEIGHT_PX = 150;
/** The least range of values, by unit: below it a curve is noise, and is drawn flat. */
const LEAST_RANGE: Record<string, number> = { rad: 0.1, m: 0.01, N: 2, "m/s": 0.02 };

export class PlotsPanel implements Panel {
  readonly title = "Plots";
  readonly element = h("div", { class: "plots" });
  private plots: { plot: uPlot; series: Series; count: number; end_s: number }[] = [];
  private run: Run | null = null;
  private time_s = 0;

  constructor(private readonly seek: (time_s: number) => void) {
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  show(run: Run): void {
    const all = plottedOf(run);
    const isSame = this.run === run && this.plots.length === all.length;
    this.run = run;
    if (!isSame) this.redraw();
  }

  /** Makes all plots anew, as another theme or another run needs. */
  redraw(): void {
    for (const { plot } of this.plots) plot.destroy();
    fill(this.element);
    const all = this.run ? plottedOf(this.run) : [];
    this.plots = all.map((series) => ({ plot: this.make(series), series, count: 0, end_s: NaN }));
    if (!all.length) fill(this.element, h("p", { class: "empty" }, this.run && isRunning(this.run) ? "Nothing was measured yet." : "Nothing was measured in this run."));
  }

  follow(run: Run, time_s: number): void {
    this.time_s = time_s;
    for (const one of this.plots) {
      const { plot, series } = one;
      if (one.count !== series.times.length || one.end_s !== run.end_s) {
        const isWhole = !(plot.scales.x?.min !== run.start_s || plot.scales.x.max !== one.end_s) || !one.count;
        [one.count, one.end_s] = [series.times.length, run.end_s];
        plot.setData(dataOf(series, run), isWhole);
      }
      if ((plot.cursor.left ?? -1) < 0) plot.setLegend({ idx: Math.max(0, lastBefore(series.times, time_s)) }, false);
      plot.redraw(false, false);
    }
  }

  /** Returns the times of a plot: all of the run, whenever its series begins and ends, unless it is zoomed. */
  private span(plot: uPlot, min: number, max: number): [number, number] {
    const times = plot.data[0];
    const isWhole = min === times[0] && max === times.at(-1);
    return isWhole && this.run && this.run.end_s > this.run.start_s ? [this.run.start_s, this.run.end_s] : [min, max];
  }

  private resize(): void {
    const width = this.element.clientWidth;
    if (!width) return;
    for (const { plot } of this.plots) if (plot.width !== width) plot.setSize({ width, height: HEIGHT_PX });
  }

  private make(series: Series): uPlot {
    const style = getComputedStyle(document.body);
    const [ink, grid, now] = ["--quiet", "--line", "--accent"].map((name) => style.getPropertyValue(name).trim());
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
    const box = h("div");
    this.element.append(h("h3", null, series.name.replace(/_/g, " "), h("small", null, series.unit)), box);
    return new uPlot(
      {
        width: this.element.clientWidth || 420,
        height: HEIGHT_PX,
        legend: { show: series.labels.length > 1, live: true, markers: { width: 0, fill: (_plot: uPlot, index: number) => dashed(index - 1) } },
        cursor: { y: false, sync: { key: "plots" }, points: { show: false } },
        scales: { x: { time: false, range: (plot: uPlot, min: number, max: number) => this.span(plot, min, max) }, y: { range: (_plot: uPlot, min: number, max: number) => rangeOf(series, min, max) } },
        axes: [
          { ...axis, size: 26, values: (_plot: uPlot, values: number[]) => values.map((value) => `${value} s`) },
          { ...axis, size: 52 },
        ],
        series: [
          { label: "s", value: (_plot: uPlot, value: number | null) => (value === null ? "–" : value.toFixed(2)) },
          ...series.labels.map((label, index) => ({
            label,
            stroke: COLOURS[index % COLOURS.length],
            dash: DASHES[index % DASHES.length],
            width: 1.3,
            points: { show: false },
            value: (_plot: uPlot, value: number | null) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(4)))),
          })),
        ],
        hooks: {
          // Where no pointer is, uPlot clears the legend; it shows the values of the time.
          setLegend: [
            (plot: uPlot) => {
              if ((plot.cursor.left ?? -1) < 0) plot.setLegend({ idx: Math.max(0, lastBefore(series.times, this.time_s)) }, false);
            },
          ],
          draw: [
            (plot: uPlot) => {
              const x = Math.round(plot.valToPos(this.time_s, "x", true));
              const { left, top, width, height } = plot.bbox;
              if (x < left || x > left + width) return;
              plot.ctx.fillStyle = now ?? "#000";
              plot.ctx.fillRect(x - 1, top, 2, height);
            },
          ],
          ready: [
            (plot: uPlot) =>
              plot.over.addEventListener("click", () => {
                const left = plot.cursor.left ?? -1;
                if (left >= 0) this.seek(plot.posToVal(left, "x"));
              }),
          ],
        },
      },
      dataOf(series, this.run),
      box,
    );
  }
}

/** Returns the series that have values, by what was measured: a tool without fingers has no width. */
function plottedOf(run: Run): Series[] {
  const measured = run.document.series.filter((series) => series.values.some((values) => values.some((value) => value !== null)));
  const key = ({ name }: Series): string => `${name.slice(name.indexOf(" "))} ${name}`;
  return measured.sort((one, other) => key(one).localeCompare(key(other)));
}

/** Returns the range of a plot's values: not so small that noise fills it. */
function rangeOf({ unit }: Series, min: number, max: number): [number, number] {
  const more = Math.max(0, (LEAST_RANGE[unit] ?? 0) - (max - min)) / 2;
  const [low, high] = uPlot.rangeNum(min - more, max + more, 0.1, true);
  return [low ?? min, high ?? max];
}

/** Returns the mark of a line in the legend, dashed as the line is. */
function dashed(index: number): string {
  const colour = COLOURS[index % COLOURS.length]!;
  const dash = DASHES[index % DASHES.length]!;
  let at_px = 0;
  const stops = dash.map((length, place) => `${place % 2 ? "transparent" : colour} ${at_px}px ${(at_px += length)}px`);
  return stops.length ? `repeating-linear-gradient(90deg, ${stops.join(", ")})` : colour;
}

/** Returns what is plotted: while a run is under way, what has not changed since its last point goes on until now. */
function dataOf(series: Series, run: Run | null): uPlot.AlignedData {
  if (!run || !isRunning(run) || !((series.times.at(-1) ?? Infinity) < run.end_s)) return [series.times, ...series.values] as uPlot.AlignedData;
  return [[...series.times, run.end_s], ...series.values.map((values) => [...values, values.at(-1) ?? null])] as uPlot.AlignedData;
}
