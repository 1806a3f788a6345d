// Shows what the emulator answers to /_emulator/overview, again every two seconds. Everything goes in as text.
"use strict";

const at = (id) => document.getElementById(id);
let shown = {};
let chosen = null;

const tab = () => (location.hash.slice(1) in shown ? location.hash.slice(1) : Object.keys(shown)[0]);

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function bad(row) {
  return Number(row.status) >= 400 || String(row.status).startsWith("ERROR") || Boolean(row.failure);
}

function draw() {
  const now = tab();
  if (!now) return;
  at("tabs").replaceChildren(...Object.entries(shown).map(([name, { rows }]) =>
    element("a", `${name} (${rows.length})`, { href: `#${name}`, ...(name === now ? { "aria-current": "page" } : {}) })));
  const { columns, rows } = shown[now];
  at("columns").replaceChildren(...columns.map((one) => element("th", one, { scope: "col" })));
  const wanted = at("filter").value.toLowerCase();
  const fitting = rows.filter((row) => columns.some((one) => String(row[one]).toLowerCase().includes(wanted)));
  at("rows").replaceChildren(...fitting.map((row) => {
    const line = element("tr", "", { tabindex: "0" });
    line.append(...columns.map((one) => element("td", row[one])));
    if (bad(row)) line.className = "bad";
    line.onclick = () => { chosen = row; drawBody(); };
    line.onkeydown = (event) => { if (event.key === "Enter") line.onclick(); };
    return line;
  }));
  at("empty").hidden = fitting.length > 0;
  drawBody();
}

function drawBody() {
  at("body").hidden = !chosen;
  at("body").textContent = chosen ? JSON.stringify(chosen.body ?? chosen, null, 2) : "";
}

async function look() {
  try {
    const answer = await fetch("/_emulator/overview", { cache: "no-store" });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    shown = await answer.json();
    at("state").textContent = `as of ${new Date().toLocaleTimeString()}`;
    draw();
  } catch (error) {
    at("state").textContent = `the emulator does not answer (${error.message})`;
  }
}

window.onhashchange = () => { chosen = null; draw(); };
at("filter").oninput = draw;
look();
setInterval(look, 2000);
