/** Icons as drawings of our own: fonts do not have them everywhere. */

const PATHS: Record<string, string> = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M3 3v10l7-5zM11 3h2v10h-2z",
  previous: "M13 3v10L6 8zM3 3h2v10H3z",
  fault: "M9 1 3 9h4l-1 6 7-9H8z",
  hit: "M8 1l1.6 4.2L14 3.8l-2.4 3.7L15 10l-4.4.3L10 15l-2-3.9L5 14l.2-4.2L1 8.6l3.9-1.8L3 3l4 2z",
  drop: "M6 1h4v7h3l-5 6-5-6h3z",
  verdict: "M3 1h1.5v14H3zM5 2h8l-2 3 2 3H5z",
  safety: "M5 1h6l4 4v6l-4 4H5l-4-4V5zM7 4v5h2V4zm0 6v2h2v-2z",
  belief: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  order: "M2 3h12v2H2zm0 4h12v2H2zm0 4h12v2H2z",
  note: "M6 6h4v4H6z",
  theme: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zm0 2v10A5 5 0 0 0 8 3z",
};

/** Returns an icon in the colour of the text round it. */
export function icon(name: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", "0 0 16 16");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name] ?? PATHS.note!);
  path.setAttribute("fill-rule", "evenodd");
  drawing.append(path);
  return drawing;
}
