/** Elements in few words; text is always text, never markup. */

export type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

/** Returns an element: properties by name, `on...` as listeners, `class`, `data-...` and `aria-...` as attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props | null = null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "style") Object.assign(element.style, value);
    else if (name === "class" || name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else (element as unknown as Props)[name] = value;
  }
  add(element, children);
  return element;
}

/** Appends children, leaving out what is nothing. */
export function add(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

/** Replaces what is in an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  add(element, children);
}

/** Returns a table with a heading, whose rows are cells; the first cell of a row is its name. */
export function table(heads: string[], rows: Child[][], className = ""): HTMLTableElement {
  return h(
    "table",
    { class: className },
    h("thead", null, h("tr", null, ...heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", null, ...rows.map((row) => h("tr", null, ...row.map((cell) => h("td", null, cell))))),
  );
}

/** Returns a button that copies a text, and says that it did. */
export function copyButton(text: () => string, label = "Copy"): HTMLButtonElement {
  const button = h("button", { type: "button", class: "small", onclick: () => void copy() }, label);
  async function copy(): Promise<void> {
    button.textContent = (await toClipboard(text())) ? "Copied" : "Not allowed";
    setTimeout(() => (button.textContent = label), 1500);
  }
  return button;
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page from disk may be refused the clipboard; the old way still works there.
    const area = h("textarea", { value: text, class: "off-screen" });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Returns the cells of a table as text with tabs, as spreadsheets take it. */
export function tableText(element: HTMLTableElement): string {
  return [...element.rows].map((row) => [...row.cells].map((cell) => cell.innerText.trim()).join("\t")).join("\n");
}

/** Returns a number with so many decimals, an en dash where there is none, with a true minus sign. */
export function fixed(value: number | null | undefined, decimals: number): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(decimals).replace("-", "−");
}

/** Returns a time in seconds as it is read. */
export function seconds(time_s: number | null | undefined): string {
  return time_s === null || time_s === undefined ? "–" : `${fixed(time_s, 2)} s`;
}

/** Scrolls an element's box so that a row of it is seen, without moving the page. */
export function reveal(box: HTMLElement, row: HTMLElement): void {
  const inner = row.getBoundingClientRect();
  const outer = box.getBoundingClientRect();
  if (inner.top < outer.top + 30) box.scrollTop += inner.top - outer.top - outer.height / 3;
  else if (inner.bottom > outer.bottom - 10) box.scrollTop += inner.bottom - outer.bottom + outer.height / 3;
}
