// Sorts and filters the tables of a report, and shows what a point or a line of a figure stands for.
const collator = new Intl.Collator("en", { numeric: true });

// What a cell is sorted by: its first number in a column of numbers, otherwise its text; what is not known comes last.
function keyOf(row, column, isNumber) {
  const text = row.cells[column] ? row.cells[column].textContent.trim() : "";
  if (!isNumber) return text === "-" ? null : text;
  const number = /[-+]?\d[\d,]*\.?\d*(e[-+]?\d+)?/i.exec(text);
  if (!number) return null;
  return parseFloat(number[0].replaceAll(",", "")) - (text.startsWith("<") ? 1e-9 : 0);
}

function compare(one, other) {
  if (one === null || other === null) return (one === null) - (other === null);
  return typeof one === "number" ? one - other : collator.compare(one, other);
}

function sortable(table) {
  const body = table.tBodies[0];
  const rows = [...body.rows].filter((row) => !row.classList.contains("total")); // in the order of the report
  const totals = [...body.rows].filter((row) => row.classList.contains("total"));
  if (rows.length < 2) return;
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "" }[heading.getAttribute("aria-sort")] ?? "ascending";
      for (const each of headings) each.removeAttribute("aria-sort");
      const isNumber = heading.classList.contains("number");
      const keys = new Map(rows.map((row) => [row, keyOf(row, column, isNumber)]));
      const sorted = [...rows];
      if (next) {
        heading.setAttribute("aria-sort", next);
        const sign = next === "ascending" ? 1 : -1;
        sorted.sort((one, other) => {
          const [a, b] = [keys.get(one), keys.get(other)];
          return a === null || b === null ? compare(a, b) : sign * compare(a, b);
        });
      }
      body.append(...sorted, ...totals);
    });
  });
}

function filter() {
  const wanted = byId("filter").value.trim().toLowerCase();
  let [shown, all] = [0, 0];
  for (const row of document.querySelectorAll("tbody tr:not(.total)")) {
    const isFound = !wanted || row.textContent.toLowerCase().includes(wanted);
    row.hidden = !isFound;
    all++;
    shown += isFound;
  }
  for (const part of document.querySelectorAll("[data-tip]"))
    part.classList.toggle("pale", Boolean(wanted) && !part.dataset.tip.toLowerCase().includes(wanted));
  for (const box of document.querySelectorAll("details")) { // what is found is unfolded, and folded again afterwards
    const isFound = wanted && box.querySelector("tbody tr:not(.total):not([hidden])");
    if (isFound && !box.open) box.dataset.opened = "yes";
    if (isFound || box.dataset.opened) box.open = Boolean(isFound);
    if (!wanted) delete box.dataset.opened;
  }
  byId("found").textContent = wanted ? `${shown} of ${all} rows` : "";
}

document.querySelectorAll("table").forEach(sortable);
byId("filter").addEventListener("input", filter);
document.addEventListener("pointermove", (event) => {
  const part = event.target instanceof Element && event.target.closest("[data-tip]");
  showTip(part ? part.dataset.tip : "", event);
});
document.addEventListener("pointerleave", () => showTip(""));
byId("bar").hidden = byId("help").hidden = false;
