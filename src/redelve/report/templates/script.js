"use strict";
(() => {
  const root = document.documentElement;

  // Light or dark: what the system wants, until the reader chooses.
  const button = document.getElementById("theme");
  const wantsDark = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem("redelve-theme"); } catch { return null; } };
  const isDark = () => (root.dataset.theme || (wantsDark.matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Use the ${isDark() ? "light" : "dark"} theme`); };
  if (stored()) root.dataset.theme = stored();
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("redelve-theme", root.dataset.theme); } catch { /* private window */ }
    show();
  });
  wantsDark.addEventListener("change", show);
  show();

  // Sortable tables: numbers by their value, text by its letters, unknown values last.
  const value = (cell) => {
    if (cell.dataset.sort !== undefined) { const number = Number(cell.dataset.sort); return Number.isNaN(number) ? null : number; }
    const text = cell.textContent.trim();
    return text === "–" || text === "" ? null : text;
  };
  const compare = (a, b) => {
    if (a === null || b === null) return null;
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  };
  const sort = (table, column, descending) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: value(row.cells[column]) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return descending ? compare(b.key, a.key) : compare(a.key, b.key);
    });
    for (const one of rows) one.row.classList.remove("next");
    body.append(...rows.map((one) => one.row));
  };
  const prepare = (part) => part.querySelectorAll("table.sortable").forEach((table) => {
    if (table.tBodies[0].rows.length < 2) return;
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const sorter = document.createElement("button");
      sorter.type = "button";
      sorter.append(...head.childNodes);
      head.append(sorter);
      sorter.addEventListener("click", () => {
        const descending = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, descending);
      });
    });
  });
  prepare(document);

  // Of several data sets the details are put into the page when they are unfolded, and not before.
  const fill = (details) => {
    const held = details.querySelector(":scope > template");
    if (!held) return;
    const part = held.content.cloneNode(true);
    prepare(part);
    held.replaceWith(part);
  };
  for (const one of document.querySelectorAll("details.fold")) one.addEventListener("toggle", () => one.open && fill(one));

  // A link into something folded unfolds it.
  const reveal = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    const held = Array.from(document.querySelectorAll("details.fold > template")).find((one) => one.content.querySelector(`#${CSS.escape(name)}`));
    if (held) fill(held.parentElement);
    const found = document.getElementById(name);
    if (!found) return;
    const own = found.querySelector(":scope > details.fold");
    if (own) { fill(own); own.open = true; }
    for (let outer = found.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
    found.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => { if (event.target.closest('a[href^="#"]')) setTimeout(reveal); });
  reveal();
})();
