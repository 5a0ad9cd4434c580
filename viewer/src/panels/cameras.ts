/** What cameras took; of those that tell no pictures, what they would see, with what their detectors report. */
import { detectionsAt } from "../document.ts";
import { fill, fixed, h } from "../dom.ts";
import { cameraOf } from "../cameras.ts";
import type { Picture, SceneCamera } from "../model.ts";
import type { Run } from "../run.ts";
import type { Panel } from "./panel.ts";

/** What the 3-D view does for this panel: draws pictures, and says where a point lies in one. */
export interface Eyes {
  take(shots: { run: Run; camera: SceneCamera; canvas: HTMLCanvasElement }[]): void;
  project(run: Run, camera: SceneCamera, point: ArrayLike<number>): { x: number; y: number } | null;
}

const WIDTH_PX = 440;
const [LETTER_PX, LINE_PX] = [6.2, 15];

interface Shown {
  camera: SceneCamera;
  figure: HTMLElement;
  canvas: HTMLCanvasElement;
  over: HTMLElement;
  image: HTMLImageElement;
  caption: HTMLElement;
}

export class CamerasPanel implements Panel {
  readonly title = "Cameras";
  readonly element = h("div", { class: "cameras" });
  private shown: Shown[] = [];
  private run: Run | null = null;

  constructor(private readonly eyes: () => Eyes | null) {}

  show(run: Run): void {
    if (this.run === run && this.shown.length) return;
    this.run = run;
    const cameras = [...run.scene.header.cameras];
    for (const { camera, src } of run.document.pictures) {
      if (src && !cameras.some((one) => one.name === camera)) {
        cameras.push({ name: camera, pose: [0, 0, 0, 1, 0, 0, 0], fovy_rad: 0, width: 4, height: 3 });
      }
    }
    this.shown = cameras.map((camera) => {
      const width = Math.min(WIDTH_PX, camera.width || WIDTH_PX);
      const height = Math.round((width * camera.height) / camera.width) || width;
      const canvas = h("canvas", { width, height });
      const image = h("img", { alt: `Picture of ${camera.name}`, hidden: true });
      const over = h("div", { class: "over" });
      const caption = h("figcaption");
      const figure = h("figure", null, h("div", { class: "frame" }, canvas, image, over), caption);
      return { camera, figure, canvas, over, image, caption };
    });
    fill(this.element, ...this.shown.map(({ figure }) => figure));
    if (!cameras.length) fill(this.element, h("p", { class: "empty" }, "This cell has no cameras."));
  }

  follow(run: Run, time_s: number): void {
    const eyes = this.eyes();
    const shots: { run: Run; camera: SceneCamera; canvas: HTMLCanvasElement }[] = [];
    for (const shown of this.shown) {
      const { camera, canvas, image, over, caption } = shown;
      const picture = newestOf(run.document.pictures, camera.name, time_s);
      image.hidden = !picture;
      canvas.hidden = Boolean(picture) || !camera.fovy_rad || !eyes;
      if (picture) {
        if (image.src !== picture.src) image.src = picture.src;
        image.onload = () => boxes(over, picture, image.naturalWidth, image.naturalHeight);
        if (image.complete && image.naturalWidth) boxes(over, picture, image.naturalWidth, image.naturalHeight);
        fill(caption, h("b", null, camera.name), ` taken at ${fixed(picture.time_s, 2)} s`);
        continue;
      }
      fill(over);
      const reports = detectionsAt(run.document.detections, time_s, 2).filter((report) => cameraOf(report.source, run.scene.header.cameras) === camera);
      const width = over.clientWidth || canvas.width;
      const taken: [number, number, number][] = [];
      for (const report of reports) {
        for (const item of report.items) {
          const at = eyes?.project(run, camera, item.pose);
          if (!at) continue;
          const text = item.sku.replace(/^sku_(part_)?/, "");
          // A text that would lie on another is left out; its circle stays, and tells it when it is pointed at.
          const [left, top] = [at.x * width, (at.y * width * camera.height) / camera.width];
          const right = left + text.length * LETTER_PX + 12;
          const isFree = !taken.some(([from, to, level]) => left < to && right > from && Math.abs(level - top) < LINE_PX);
          if (isFree) taken.push([left, right, top]);
          const side = right > width ? " left" : ""; // of its circle: the picture ends here
          over.append(h("span", { class: `seen${isFree ? side : " bare"}`, title: text, style: { left: `${at.x * 100}%`, top: `${at.y * 100}%` } }, isFree ? text : ""));
        }
      }
      if (eyes && camera.fovy_rad) shots.push({ run, camera, canvas });
      const count = reports.reduce((sum, report) => sum + report.items.length, 0);
      fill(
        caption,
        h("b", null, camera.name),
        eyes ? " (drawn from its pose, not taken)" : " no picture",
        reports.length ? `, ${count} detections of ${fixed(reports[0]!.time_s, 2)} s` : run.document.detections.length ? ", no detections now" : null,
      );
    }
    eyes?.take(shots);
  }

  /** Stops drawing pictures that nobody sees. */
  leave(): void {
    this.eyes()?.take([]);
  }
}

function newestOf(pictures: Picture[], camera: string, time_s: number): Picture | null {
  for (let i = pictures.length - 1; i >= 0; i--) {
    const picture = pictures[i]!;
    if (picture.camera === camera && picture.time_s <= time_s + 1e-9 && picture.src) return picture;
  }
  return null;
}

function boxes(over: HTMLElement, picture: Picture, width: number, height: number): void {
  fill(
    over,
    ...picture.boxes.map((box) =>
      h(
        "span",
        {
          class: "box",
          style: {
            left: `${(box.x / width) * 100}%`,
            top: `${(box.y / height) * 100}%`,
            width: `${(box.w / width) * 100}%`,
            height: `${(box.h / height) * 100}%`,
          },
        },
        h("i", null, box.text),
      ),
    ),
  );
}
