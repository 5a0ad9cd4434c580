// Gives every table a button that copies it as tab-separated text; without this the page is whole.
const textOf = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.innerText.trim().replace(/\s+/g, " ")).join("\t")).join("\n") + "\n";
const copyByEvent = (text) => {
  const put = (event) => { event.clipboardData.setData("text/plain", text); event.preventDefault(); };
  document.addEventListener("copy", put, { once: true });
  if (!document.execCommand("copy")) throw new Error("refused");
};
const copy = async (text) => { try { await navigator.clipboard.writeText(text); } catch { copyByEvent(text); } };
for (const frame of document.querySelectorAll(".table")) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy table" });
  const say = (text) => { button.textContent = text; setTimeout(() => { button.textContent = "Copy table"; }, 2000); };
  button.addEventListener("click", () => copy(textOf(frame.querySelector("table"))).then(() => say("Copied"), () => say("Not copied")));
  frame.after(button);
}
