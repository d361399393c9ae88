// The page of the server. Everything the page shows comes from the paths under /v1, which serve programs, too.
"use strict";

const $ = (id) => document.getElementById(id);

/** Makes an element. Texts are always text: no function of this file reads HTML. */
function make(tag, properties, ...children) {
  const e = document.createElement(tag);
  Object.assign(e, properties);
  e.append(...children);
  return e;
}

/** Sets the text of an element, and changes nothing for the same text: a screen reader would read the text again. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// ---- The theme. This part runs before the page is drawn.

function stored(storage, name) {
  try {
    return window[storage].getItem(name) ?? "";
  } catch {
    return ""; // the browser keeps nothing
  }
}

function store(storage, name, value) {
  try {
    window[storage].setItem(name, value);
  } catch {
    // the browser keeps nothing
  }
}

const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
if (stored("localStorage", "theme")) root.dataset.theme = stored("localStorage", "theme");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;
}

function showTheme() {
  const other = isDark() ? "Light" : "Dark";
  say($("theme"), other);
  $("theme").setAttribute("aria-label", other + " theme");
}

// ---- Requests.

let token = stored("sessionStorage", "token");

/** A refusal is an answer with a reason. */
class Refusal extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

/** Returns the JSON of a path. Throws a Refusal, or another error if the server does not answer. */
async function ask(path) {
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = "Bearer " + token;
  const answer = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(10_000) });
  const body = await answer.json();
  if (answer.ok) return body;
  const { reason, message } = body.error;
  if (answer.status === 401) needToken(reason === "token" ? "" : message);
  throw new Refusal(reason, message);
}

function needToken(fault) {
  $("token-note").className = fault ? "error" : "";
  say($("token-note"), fault || "The token stays in this tab, until the tab is closed.");
  if (!$("token-form").hidden) return;
  $("token-form").hidden = false;
  $("token").focus();
}

function useToken(event) {
  event.preventDefault();
  token = $("token").value.trim();
  store("sessionStorage", "token", token);
  $("token").value = "";
  $("token-form").hidden = true;
  look();
  readHash();
}

// ---- Numbers and times.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2 });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const local = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
  fractionalSecondDigits: 3, timeZoneName: "short",
});

/** Returns how far a time is from now, in words. */
function ago(ms) {
  const seconds = (ms - Date.now()) / 1000;
  for (const [unit, length] of [["year", 31556952], ["month", 2629746], ["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return Math.abs(seconds) < 1 ? "now" : relative.format(Math.trunc(seconds), "second");
}

/** Returns a length of time, in words. */
function length(ms) {
  if (ms < 0) return "ended";
  for (const [unit, size] of [["d", 86400e3], ["h", 3600e3], ["min", 60e3]]) {
    if (ms >= 2 * size) return Math.floor(ms / size) + " " + unit;
  }
  return Math.floor(ms / 1000) + " s";
}

function day(text) {
  return text ? text.slice(0, 10) : "after 9999";
}

// ---- An ID.

let asked = 0; // the number of the last question, whose answer alone is shown
let shown = null; // the reading that is shown
let preferred = ""; // the generator that has made the ID that is read

async function read(text) {
  const question = ++asked;
  text = text.trim();
  fault("");
  if (text === "") {
    $("reading").hidden = true;
    return;
  }
  try {
    const answer = await ask("v1/inspect/" + encodeURIComponent(text));
    if (question === asked) showReadings(answer.candidates ?? [answer]);
  } catch (e) {
    if (question !== asked) return;
    $("reading").hidden = true;
    fault(e instanceof Refusal ? e.message : "The server does not answer. Try again.");
  }
}

function fault(text) {
  say($("read-error"), text);
  $("id").setAttribute("aria-invalid", String(text !== ""));
}

function showReadings(readings) {
  let first = readings.findIndex((r) => preferred && r.generators?.includes(preferred));
  if (first < 0) first = 0;
  $("candidates").hidden = readings.length < 2;
  $("choices").replaceChildren(...readings.map((r, i) => {
    const choice = make("input", { type: "radio", name: "candidate", checked: i === first });
    choice.addEventListener("change", () => showReading(r, readings.length));
    const name = make("span", {}, r.format, make("small", {}, [day(r.time), ...(r.generators ?? [])].join(" · ")));
    return make("label", { className: "choice" }, choice, name);
  }));
  showReading(readings[first], readings.length);
  $("reading").hidden = false;
}

function showReading(reading, count) {
  shown = reading;
  showBits(reading);
  const facts = [["Format", reading.format], ["ID", reading.id, true], ["Decimal", reading.int, true], ["Hex", reading.hex, true]];
  if (reading.time) {
    facts.push(["UTC", reading.time.replace("T", " ").replace("Z", "")], ["Local", local.format(reading.unix_ms)], ["Age", ago(reading.unix_ms)]);
  } else {
    facts.push(["Time", "outside of the years 0 to 9999"]);
  }
  if (reading.generators) facts.push([reading.generators.length > 1 ? "Generators" : "Generator", reading.generators.join(", ")]);
  $("facts").replaceChildren(...facts.filter((f) => f[1]).flatMap(([name, value, copied]) => {
    const fact = make("dd", {}, make("span", { className: copied ? "mono" : "", id: name === "Age" ? "age" : "" }, value));
    if (copied && navigator.clipboard) fact.append(copyButton(name, value));
    return [make("dt", {}, name), fact];
  }));
  say($("said"), `${reading.format}, ${reading.time ? ago(reading.unix_ms) : "no time"}.` + (count > 1 ? ` ${count} formats fit.` : ""));
}

function copyButton(name, value) {
  const button = make("button", { type: "button", className: "small" }, "Copy");
  button.setAttribute("aria-label", "Copy " + name);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(value);
      say(button, "Copied");
    } catch {
      say(button, "Refused");
    }
    setTimeout(() => say(button, "Copy"), 1500);
  });
  return button;
}

/** Draws the bits of an ID in the colours of its fields. */
function showBits(reading) {
  const digits = [...reading.hex].map((c) => parseInt(c, 16).toString(2).padStart(4, "0")).join("");
  const layout = reading.layout.filter((f) => f.bits > 0);
  const unused = digits.length - layout.reduce((sum, f) => sum + f.bits, 0);
  const owner = [...Array(unused).fill(-1), ...layout.flatMap((f, i) => Array(f.bits).fill(i))];
  const bits = owner.map((o, at) => make("span", { className: o < 0 ? "bit none" : "bit f" + (o % 6) }, digits[at]));
  const bytes = [];
  for (let at = 0; at < bits.length; at += 8) bytes.push(make("span", { className: "byte" }, ...bits.slice(at, at + 8)));
  $("bits").replaceChildren(...bytes);
  $("bits").setAttribute("aria-label", `${digits.length} bits: ` + layout.map((f) => `${f.name} ${f.bits}`).join(", "));
  $("fields").replaceChildren(...layout.map((f, i) => {
    const row = make("tr", {},
      make("td", {}, make("span", { className: "swatch f" + (i % 6) }), f.name),
      make("td", { className: "number" }, String(f.bits)),
      make("td", { className: "number" }, String(reading.fields[f.name])));
    const light = (on) => bits.forEach((bit, at) => {
      bit.classList.toggle("lit", on && owner[at] === i);
      bit.classList.toggle("dim", on && owner[at] !== i);
    });
    row.addEventListener("pointerenter", () => light(true));
    row.addEventListener("pointerleave", () => light(false));
    return row;
  }));
}

/** Reads the ID behind the '#' of the page's address. */
function readHash() {
  let text = location.hash.slice(1);
  try {
    text = decodeURIComponent(text);
  } catch {
    // the text is read as it is
  }
  if (text === "") return;
  $("id").value = text;
  read(text);
}

function readForm(event) {
  event.preventDefault();
  preferred = "";
  const text = $("id").value.trim();
  const hash = "#" + encodeURIComponent(text);
  if (location.hash === hash || (text === "" && location.hash === "")) read(text);
  else if (text === "") {
    history.replaceState(null, "", location.pathname);
    read("");
  } else location.hash = hash; // hashchange reads the ID
}

// ---- Generators.

const POINTS = 60; // of a line
const cards = new Map(); // by the names of the generators
let began = 0; // when the server fell silent; 0 while the server answers

class Card {
  constructor(name) {
    this.name = name;
    this.rates = [];
    this.last = null;
    this.longest = 1; // the longest window seen, in milliseconds
    this.workers = [];
    this.state = make("span", { className: "state" });
    this.format = make("span", { className: "soft" });
    this.rate = make("strong", {}, "–");
    [this.spark, this.line, this.area] = sparkline();
    this.bar = make("i");
    this.share = make("span");
    this.cap = make("span");
    this.counts = new Map(["Made", "Waits", "Exhausted", "Epoch", "Until"].map((n) => [n, make("dd", {}, "–")]));
    this.list = make("ul", { className: "workers" });
    this.error = make("p", { className: "error" });
    this.button = make("button", { type: "button" }, "Make one");
    this.button.setAttribute("aria-label", "Make one ID of " + name);
    this.button.addEventListener("click", () => this.make());
    this.made = make("a");
    this.made.addEventListener("click", () => {
      preferred = this.name;
      if (location.hash === this.made.hash) readHash();
      $("read-title").scrollIntoView();
    });
    const title = make("h3", { id: "generator-" + cards.size }, name);
    this.element = make("article", { className: "card" },
      make("header", {}, title, this.format, this.state),
      make("div", { className: "rate" }, make("p", {}, this.rate, make("span", { className: "soft" }, " IDs/s")), this.spark),
      make("div", {}, make("div", { className: "bar" }, this.bar), make("p", { className: "share" }, this.share, this.cap)),
      make("dl", { className: "counts" }, ...[...this.counts].map(([n, dd]) => make("div", {}, make("dt", {}, n), dd))),
      this.list, this.error,
      make("footer", {}, this.button, this.made));
    this.element.setAttribute("aria-labelledby", title.id);
  }

  update(g, time) {
    const state = g.error ? g.error.reason : g.workers.every((w) => w.state === "idle") ? "idle" : "ready";
    say(this.state, state);
    this.state.className = "state " + (["idle", "ready", "starting"].includes(state) ? state : "refused");
    say(this.format, g.format === g.name ? "" : g.format);
    if (this.last && time > this.last.time && g.ids >= this.last.ids) {
      this.rates.push((g.ids - this.last.ids) / ((time - this.last.time) / 1000));
      if (this.rates.length > POINTS) this.rates.shift();
      this.draw();
    } else if (this.last && g.ids < this.last.ids) {
      this.rates = []; // another process answers
    }
    this.last = { ids: g.ids, time };
    this.bar.style.width = 100 * g.share + "%";
    this.bar.parentElement.classList.toggle("low", g.share > 0.8);
    say(this.share, percent.format(g.share) + " of the cap");
    say(this.cap, "cap " + short.format(g.per_second) + "/s");
    const counts = { Made: short.format(g.ids), Waits: short.format(g.waits), Exhausted: short.format(g.exhausted), Epoch: day(g.epoch), Until: day(g.end) };
    for (const [n, dd] of this.counts) say(dd, counts[n]);
    this.counts.get("Made").title = whole.format(g.ids);
    say(this.error, g.error?.message ?? g.workers.find((w) => w.error)?.error ?? "");
    this.updateWorkers(g);
  }

  updateWorkers(g) {
    const leased = (g.leased ? g.workers : []).toSorted((a, b) => (a.number ?? Infinity) - (b.number ?? Infinity) || 0);
    this.list.hidden = leased.length === 0;
    while (this.workers.length > leased.length) this.workers.pop().item.remove();
    leased.forEach((w, i) => {
      let row = this.workers[i];
      if (!row) {
        row = { number: make("b"), left: make("span", { className: "soft" }), bar: make("i") };
        row.item = make("li", { className: "worker" }, make("div", {}, row.number, row.left), make("div", { className: "bar" }, row.bar));
        this.workers[i] = row;
        this.list.append(row.item);
      }
      const left = Math.max(w.left_ms ?? 0, 0);
      this.longest = Math.max(this.longest, left);
      say(row.number, w.number === null ? "–" : String(w.number));
      say(row.left, w.state === "ready" ? length(left) : w.state);
      row.left.classList.toggle("bad", w.state === "lost" || w.state === "ended");
      row.item.title = `worker ${w.number ?? "none"}, ${w.state}` + (w.pool ? `, pool ${w.pool}` : "") + (w.until ? `, window until ${w.until}` : "");
      row.bar.style.width = (100 * left) / this.longest + "%";
      row.bar.parentElement.classList.toggle("low", left < this.longest / 4);
    });
  }

  draw() {
    const rate = this.rates[this.rates.length - 1];
    say(this.rate, rate < 1000 ? whole.format(Math.round(rate)) : short.format(rate));
    const most = Math.max(...this.rates, 1);
    const from = POINTS - this.rates.length;
    const points = this.rates.map((r, i) => `${from + i},${(30 - (28 * r) / most).toFixed(2)}`);
    this.line.setAttribute("points", points.join(" "));
    this.area.setAttribute("points", [`${from},30`, ...points, `${POINTS - 1},30`].join(" "));
  }

  async make() {
    if (this.busy) return; // a disabled button would lose the focus
    this.busy = true;
    try {
      const answer = await ask(`v1/generators/${encodeURIComponent(this.name)}/ids`);
      const id = answer.ids[0];
      this.made.href = "#" + encodeURIComponent(id);
      say(this.made, id);
      this.made.className = "";
      preferred = this.name;
      location.hash = this.made.hash;
    } catch (e) {
      this.made.removeAttribute("href");
      this.made.className = "error";
      say(this.made, e instanceof Refusal ? e.message : "The server does not answer.");
    }
    this.busy = false;
  }
}

function sparkline() {
  const draw = (tag, attributes) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    return e;
  };
  const spark = draw("svg", { class: "spark", viewBox: `0 0 ${POINTS - 1} 30`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const [area, line] = [draw("polygon", {}), draw("polyline", {})];
  spark.append(draw("line", { x1: 0, y1: 30, x2: POINTS - 1, y2: 30 }), area, line);
  return [spark, line, area];
}

function show(answer) {
  const time = Date.parse(answer.time);
  const names = new Set(answer.generators.map((g) => g.name));
  for (const [name, card] of cards) {
    if (!names.has(name)) {
      card.element.remove();
      cards.delete(name);
    }
  }
  for (const g of answer.generators) {
    let card = cards.get(g.name);
    if (!card) {
      card = new Card(g.name);
      cards.set(g.name, card);
      $("generators").append(card.element);
    }
    card.update(g, time);
  }
  const total = [...cards.values()].reduce((sum, c) => sum + (c.rates.at(-1) ?? 0), 0);
  say($("total"), `${short.format(Math.round(total))} IDs/s in all`);
}

function showLink(state, text) {
  $("link").className = "link " + state;
  say($("link-text"), text);
  document.body.classList.toggle("gone", state === "bad");
}

let timer = 0;
let looking = false;

/** Looks at the generators, now and every second while the page is visible. */
async function look() {
  clearTimeout(timer);
  if (looking || document.hidden) return;
  looking = true;
  let again = true;
  try {
    show(await ask("v1/generators"));
    if ($("age")) say($("age"), ago(shown.unix_ms));
    began = 0;
    showLink("good", "connected");
  } catch (e) {
    if (e instanceof Refusal) {
      again = e.reason !== "token" && e.reason !== "wrong_token"; // the form goes on
      showLink("bad", again ? e.message : "needs a token");
    } else {
      began ||= Date.now();
      showLink("bad", `the server does not answer since ${new Date(began).toTimeString().slice(0, 8)}`);
    }
  }
  looking = false;
  if (again) timer = setTimeout(look, 1000);
}

document.addEventListener("DOMContentLoaded", () => {
  showTheme();
  prefersDark.addEventListener("change", showTheme);
  $("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    store("localStorage", "theme", root.dataset.theme);
    showTheme();
  });
  $("token-form").addEventListener("submit", useToken);
  $("read-form").addEventListener("submit", readForm);
  $("id").addEventListener("paste", () => setTimeout(() => $("read-form").requestSubmit()));
  addEventListener("hashchange", readHash);
  document.addEventListener("visibilitychange", look);
  readHash();
  look();
});
