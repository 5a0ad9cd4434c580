"""What a reader of the viewer's page could not read: pale, cut off or lying outside of its panel."""

LEAST_CONTRAST = 4.5  # of text of this size, as WCAG 2 asks for (level AA)

FIND = """least => {
  const parse = text => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = (top, under) => [0, 1, 2].map(i => top[i] * (top[3] ?? 1) + under[i] * (1 - (top[3] ?? 1)));
  const light = ([...rgb]) => {
    const [r, g, b] = rgb.map(x => x / 255).map(x => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const up = element => (element ? [element, ...up(element.parentElement)] : []);
  const ground = element => up(element).reverse().map(one => parse(getComputedStyle(one).backgroundColor))
    .reduce((under, top) => over(top, under), [255, 255, 255]);
  const found = [];
  const side = document.querySelector(".content");
  if (side.scrollWidth > side.clientWidth + 1) found.push(`the panel is ${side.scrollWidth} px wide`);
  for (const element of document.querySelectorAll("#app *")) {
    const words = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join(" ").trim();
    const box = element.getBoundingClientRect();
    if (!words || !box.width || !box.height || element.disabled) continue;
    const style = getComputedStyle(element);
    const under = ground(element);
    const faint = up(element).reduce((share, one) => share * Number(getComputedStyle(one).opacity), 1);
    const [r, g, b, alpha] = parse(style.color);
    const [one, two] = [over([r, g, b, (alpha ?? 1) * faint], under), under].map(light);
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < least && style.backgroundImage === "none") found.push(`${words.slice(0, 40)}: contrast ${contrast.toFixed(2)}`);
    const outside = side.contains(element) && box.right > side.getBoundingClientRect().right + 1;
    if (outside) found.push(`${words.slice(0, 40)}: outside`);
    const isCut = style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1;
    if (isCut && !element.closest("[title]")) found.push(`${words.slice(0, 40)}: cut off`);
  }
  return found;
}"""  # noqa: E501


def unreadable(page) -> list[str]:
    """Returns what cannot be read on a page as it is now, a line each."""
    return page.evaluate(FIND, LEAST_CONTRAST)
