// Narrows, zooms, sorts and folds what the page holds already. Text from logs is only compared and moved, never read as
// markup: what is made here is made with textContent.
"use strict";
(() => {
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const SVG = "http://www.w3.org/2000/svg";
  root.classList.add("js");

  // ------------------------------------------------------------- theme
  const kept = {
    get: () => { try { return localStorage.getItem("casdiag-theme"); } catch { return null; } },
    set: (theme) => { try { localStorage.setItem("casdiag-theme", theme); } catch { /* a file may keep nothing */ } },
  };
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { $("theme").textContent = isDark() ? "Light" : "Dark"; };
  const turnTheme = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    kept.set(root.dataset.theme);
    nameTheme();
  };
  const before = kept.get();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  nameTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  $("theme").addEventListener("click", turnTheme);

  // ------------------------------------------------------------- filter
  const fields = { text: $("filter-text"), node: $("filter-node"), severity: $("filter-severity") };
  const items = all(".it").map((element) => ({
    element,
    inner: element.parentElement.closest(".it"),
    isWhole: element.hasAttribute("data-whole"),
    text: null,
    nodes: element.hasAttribute("data-n") ? element.dataset.n.split(" ") : null,
    severity: element.hasAttribute("data-s") ? Number(element.dataset.s) : null,
  }));
  const known = new Map(items.map((item) => [item.element, item]));
  const textOf = (item) => item.text ??= item.element.textContent.toLowerCase();
  const filter = () => {
    const text = fields.text.value.trim().toLowerCase();
    const node = fields.node.value;
    const severity = Number(fields.severity.value);
    const isOn = text !== "" || node !== "" || severity > 0;
    let shown = 0;
    let counted = 0;
    for (const item of items) {
      const fitsNode = node === "" || item.nodes === null || item.nodes.includes(node);
      const fitsSeverity = item.severity === null || item.severity >= severity;
      // A record inside a finding that fits by its own words stays whole; a group is there for its rows.
      const outer = item.inner && known.get(item.inner);
      const isSaidOutside = outer && !outer.isWhole && ownWords(outer).includes(text);
      const fitsText = text === "" || textOf(item).includes(text) || isSaidOutside;
      item.element.hidden = isOn && !(fitsNode && fitsSeverity && fitsText);
      if (!outer || outer.isWhole) {
        counted += 1;
        if (!item.element.hidden) shown += 1;
      }
    }
    root.classList.toggle("filtered", isOn);
    $("hits").textContent = isOn ? `${shown} of ${counted} shown` : "";
  };
  const ownWords = (item) => {
    if (item.own === undefined) {
      const summary = item.element.querySelector("summary");
      item.own = (summary || item.element).textContent.toLowerCase();
    }
    return item.own;
  };
  const clear = () => {
    fields.text.value = "";
    fields.node.value = "";
    fields.severity.value = "0";
    filter();
  };
  for (const field of Object.values(fields)) field.addEventListener("input", filter);

  // ------------------------------------------------------------- folding
  const openTarget = () => {
    // Ids are letters, digits and dashes, so that none needs decoding, which fails on a lone percent sign.
    const target = location.hash.length > 1 && $(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  // A link to where one is already changes no hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const target = link && $(link.getAttribute("href").slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  });
  const foldAll = () => {
    const details = all("details");
    const isAnyShut = details.some((it) => !it.open && it.classList.contains("finding"));
    for (const it of details) {
      if (it.classList.contains("finding") || !isAnyShut) it.open = isAnyShut;
    }
  };
  let shutBeforePrint = [];
  addEventListener("beforeprint", () => {
    shutBeforePrint = all("details.finding:not([open])");
    for (const it of shutBeforePrint) it.open = true;
  });
  addEventListener("afterprint", () => {
    for (const it of shutBeforePrint) it.open = false;
  });

  // ------------------------------------------------------------- copying
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const place = button.parentElement.querySelector("code").textContent;
    const done = () => {
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    };
    const byHand = () => {
      const range = document.createRange();
      range.selectNodeContents(button.parentElement.querySelector("code"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (document.execCommand("copy")) done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(place).then(done, byHand);
    else byHand();
  });

  // ------------------------------------------------------------- sorting
  const value = (body, column) => {
    const text = body.rows[0].cells[column].textContent.trim();
    const number = Number(text.replaceAll(",", "").replace("≥", ""));
    return text === "n/o" ? -1 : Number.isNaN(number) ? text : number;
  };
  for (const table of all("table.sortable")) {
    const order = Array.from(table.tBodies);
    all("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = head.textContent;
      head.textContent = "";
      head.append(button);
      button.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        const next = was === null ? (column === 0 ? "ascending" : "descending")
          : was === "descending" && column > 0 ? "ascending"
          : was === "ascending" && column === 0 ? "descending" : null;
        for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
        const bodies = order.slice();
        if (next) {
          head.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          bodies.sort((a, b) => {
            const [x, y] = [value(a, column), value(b, column)];
            return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y)));
          });
        }
        table.append(...bodies);
      });
    });
  }

  // ------------------------------------------------------------- timeline
  const data = $("data") && JSON.parse($("data").textContent);
  const move = data && $("tl") ? timeline(data) : {};

  function timeline(data) {
    const WIDTH = 1000;
    const HEIGHT = 24;
    const BARS_MAX = 200;
    const TICKS_MAX = 6;
    const TICKS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];
    const pad = (number) => String(number).padStart(2, "0");
    const axisOf = (data, place) => {
      const parts = all(`[data-x="${place}"]`);
      const within = (selector) => parts.flatMap((part) => all(selector, part));
      const [first, last] = data.whole;
      const lanes = within("svg[data-l]").map((svg) => {
        const flat = data.lanes[Number(svg.dataset.l)];
        const points = [];
        let at = 0;
        if (!Array.isArray(flat)) {
          // Positions: of each step the lowest and the highest above the scale's lowest.
          const lines = flat.lines.map((line) => {
            const levels = [];
            let at = 0;
            for (let i = 0; i < line.length; i += 3) levels.push([at += line[i], line[i + 1], line[i + 1] + line[i + 2]]);
            return levels;
          });
          return { svg, points, lines, low: BigInt(flat.low), length: Math.max(1, flat.length) };
        }
        for (let i = 0; i < flat.length; i += 2) points.push([at += flat[i], flat[i + 1]]);
        return { svg, points };
      });
      const scales = within("svg.ticks");
      const marks = within(".mk");
      const spans = within(".span rect");
      const over = within("rect.shown");
      const range = $(place === 0 ? "tl-range" : `tl-range-${place}`);
      let view = null;

      const clock = (second) => {
        const date = new Date((data.start + second) * 1000);
        return {
          date: `${String(date.getUTCFullYear()).padStart(4, "0")}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`,
          time: `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`,
        };
      };
      // The last bar may reach beyond the last record, the words do not.
      const words = (from, to) => {
        const ends = [Math.max(from, data.ends[0]), Math.min(to, data.ends[1])];
        const [a, b] = ends.map(clock);
        if (!data.dated) {
          const [c, d] = ends.map((it) => Math.floor((data.start + it) / 86400));
          const later = ends[1] - ends[0] < 86400 ? "" : d - c === 1 ? ", 1 day later" : `, ${d - c} days later`;
          return `${a.time} .. ${b.time}${later}`;
        }
        return a.date === b.date ? `${a.date} ${a.time} .. ${b.time}` : `${a.date} ${a.time} .. ${b.date} ${b.time}`;
      };
      const viewOver = (from, to) => {
        const start = Math.floor(from / data.step) * data.step;
        const steps = Math.max(1, Math.ceil((to - start) / data.step));
        const bar = Math.ceil(steps / BARS_MAX) * data.step;
        const bars = Math.max(1, Math.ceil((to - start) / bar));
        return { from: start, bar, bars, to: start + bar * bars };
      };
      const x = (second) => (second - view.from) * WIDTH / (view.to - view.from);
      const ticksOf = () => {
        const length = view.to - view.from;
        const distance = TICKS.find((it) => Math.floor(length / it) < TICKS_MAX) ?? Math.floor(length / TICKS_MAX) + 1;
        const ticks = [];
        for (let at = Math.ceil((data.start + view.from) / distance) * distance - data.start; at <= view.to; at += distance) {
          const { date, time } = clock(at);
          const isDay = data.dated && (distance >= 86400 || time === "00:00:00");
          const day = length > 365 * 86400 ? date : date.slice(5);
          ticks.push([at, isDay ? day : distance < 60 ? time : time.slice(0, 5)]);
        }
        return ticks;
      };
      const joined = (points) => {
        const counts = new Array(view.bars).fill(0);
        for (const [at, count] of points) {
          const bar = Math.floor((at - view.from) / view.bar);
          if (bar >= 0 && bar < view.bars) counts[bar] += count;
        }
        return counts;
      };
      const ends = (at) => {
        const left = Math.floor(at * WIDTH / view.bars);
        const right = Math.floor((at + 1) * WIDTH / view.bars);
        return [left, Math.max(left + 1, right - (right - left > 8 ? 1 : 0))];
      };
      // Steps in the view, joined into its bars.
      const levelsIn = (levels) => {
        const bars = new Map();
        for (const [at, low, high] of levels) {
          const bar = Math.floor((at - view.from) / view.bar);
          if (bar < 0 || bar >= view.bars) continue;
          const seen = bars.get(bar) ?? [low, high];
          bars.set(bar, [Math.min(seen[0], low), Math.max(seen[1], high)]);
        }
        return bars;
      };
      const drawLevels = ({ svg, lines, length }) => {
        const y = (position) => HEIGHT - 2 - Math.floor(position * (HEIGHT - 4) / length);
        lines.forEach((levels, nth) => {
          let d = "";
          const bars = levelsIn(levels);
          for (const [bar, [low, high]] of bars) {
            const middle = Math.floor((bar + 0.5) * WIDTH / view.bars);
            d += `${d === "" ? "M" : "L"}${middle} ${y(low)}L${middle} ${y(high)}`;
          }
          if (bars.size === 1) d += "m-6 0h12";
          svg.querySelector(`.v${nth + 1}`).setAttribute("d", d);
        });
      };
      const drawLane = (lane, grid) => {
        const { svg, points } = lane;
        svg.querySelector(".g").setAttribute("d", grid);
        if (lane.lines) return drawLevels(lane);
        const counts = joined(points);
        const most = Math.max(1, ...counts);
        if (svg.classList.contains("bars")) {
          let d = "";
          counts.forEach((count, at) => {
            if (count === 0) return;
            const [left, right] = ends(at);
            const height = Math.max(2, Math.floor(count * (HEIGHT - 2) / most));
            d += `M${left} ${HEIGHT}v-${height}h${right - left}v${height}z`;
          });
          svg.querySelector(".b").setAttribute("d", d);
        } else {
          const shades = ["", "", "", "", ""];
          counts.forEach((count, at) => {
            if (count === 0) return;
            const [left, right] = ends(at);
            shades[Math.ceil(count * 5 / most) - 1] += `M${left} 1h${right - left}v22h-${right - left}z`;
          });
          shades.forEach((d, at) => svg.querySelector(`.q${at + 1}`).setAttribute("d", d));
        }
      };
      const draw = () => {
        const ticks = ticksOf();
        const grid = ticks.map(([at]) => `M${Math.trunc(x(at))} 0V${HEIGHT}`).join("");
        for (const lane of lanes) drawLane(lane, grid);
        for (const svg of scales) {
          svg.replaceChildren(...ticks.map(([at, label], nth) => {
            const text = document.createElementNS(SVG, "text");
            text.setAttribute("x", `${x(at) / 10}%`);
            text.setAttribute("y", "13");
            text.setAttribute("class", `${x(at) < 60 ? "first" : x(at) > 940 ? "last" : "inner"}${nth % 2 === 1 ? " odd" : ""}`);
            text.textContent = label;
            return text;
          }));
        }
        for (const mark of marks) {
          const place = x(Number(mark.dataset.at) / 1000);
          mark.classList.toggle("out", place < 0 || place > WIDTH);
          mark.querySelector("circle").setAttribute("cx", `${place / 10}%`);
          mark.querySelector("text").setAttribute("x", `${place / 10}%`);
        }
        for (const rect of spans) {
          const from = Math.max(0, x(Number(rect.dataset.a) / 1000));
          const to = Math.min(WIDTH, x(Number(rect.dataset.b) / 1000));
          rect.setAttribute("x", `${Math.min(from, WIDTH) / 10}%`);
          rect.setAttribute("width", `${Math.max(3, to - from) / 10}%`);
          rect.setAttribute("visibility", to < 0 || from > WIDTH ? "hidden" : "visible");
        }
        const whole = last - first;
        const left = Math.max(0, (view.from - first) * WIDTH / whole);
        for (const shown of over) {
          shown.setAttribute("x", String(left));
          shown.setAttribute("width", String(Math.max(2, Math.min(WIDTH, (view.to - first) * WIDTH / whole) - left)));
        }
        if (range) range.textContent = words(view.from, view.to);
      };
      const show = (from, to) => {
        const least = Math.min(10 * data.step, last - first);
        const length = Math.max(least, Math.min(to - from, last - first));
        const middle = (from + to) / 2;
        const start = Math.max(first, Math.min(middle - length / 2, last - length));
        view = viewOver(start, start + length);
        draw();
      };
      const zoom = (factor, at = 0.5) => {
        const length = (view.to - view.from) * factor;
        const fixed = view.from + (view.to - view.from) * at;
        show(fixed - length * at, fixed + length * (1 - at));
      };
      const pan = (part) => {
        const length = view.to - view.from;
        const distance = Math.max(-(view.from - first), Math.min(last - view.to, part * length));
        show(view.from + distance, view.to + distance);
      };
      const moves = {
        in: () => zoom(0.5),
        out: () => zoom(2),
        left: () => pan(-0.25),
        right: () => pan(0.25),
        whole: () => show(first, last),
        focus: () => show(...data.focus),
      };
      view = viewOver(...data.focus);
      // What is under a part of a lane, and what a part of a lane or of the whole is in seconds.
      const under = (svg, at) => {
        const lane = lanes.find((it) => it.svg === svg);
        if (!lane) return null;
        const bar = Math.min(view.bars - 1, Math.floor(at * view.bars));
        const from = view.from + bar * view.bar;
        if (lane.lines) {
          const names = all(".what", svg.closest(".row"));
          const said = lane.lines.flatMap((levels, nth) => {
            const found = levelsIn(levels).get(bar);
            if (!found) return [];
            const [low, high] = found.map((it) => lane.low + BigInt(it));
            return [`${names[nth].textContent} ${low === high ? low : `${low} .. ${high}`}`];
          });
          return said.length > 0 ? `${clock(from).time}: ${said.join(", ")}` : null;
        }
        return `${clock(from).time} .. ${clock(from + view.bar).time}: ${joined(lane.points)[bar].toLocaleString("en-US")}`;
      };
      const showPart = (a, b, isOfWhole) => {
        const [from, to] = isOfWhole ? [first, last] : [view.from, view.to];
        show(from + a * (to - from), from + b * (to - from));
      };
      return { moves, under, showPart };
    };
    const axes = data.axes.map((axis, place) => axisOf({ ...axis, step: data.step, lanes: data.lanes }, place));
    const at = (element) => axes[Number(element.closest("[data-x]").dataset.x)];
    // Buttons and keys move all axes alike, dragging moves the one below the pointer.
    const moves = Object.fromEntries(["in", "out", "left", "right", "whole", "focus"].map((name) => [name, () => {
      for (const axis of axes) axis.moves[name]();
    }]));
    for (const name of Object.keys(moves)) $(`tl-${name}`)?.addEventListener("click", moves[name]);

    // What lies under the pointer, and dragging a stretch to look into.
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    const brush = document.createElement("div");
    brush.className = "brush";
    brush.hidden = true;
    document.body.append(tip, brush);
    const part = (svg, event) => {
      const box = svg.getBoundingClientRect();
      return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    };
    let drag = null;
    const laneAt = (event) => event.target.closest?.("svg[data-l], svg.overall");
    document.addEventListener("pointermove", (event) => {
      if (drag) {
        const box = drag.svg.getBoundingClientRect();
        const [a, b] = [drag.part, part(drag.svg, event)].sort((p, q) => p - q);
        const frame = drag.svg.closest("[data-x]").getBoundingClientRect();
        brush.hidden = b - a < 0.004;
        brush.style.left = `${box.left + a * box.width + scrollX}px`;
        brush.style.width = `${(b - a) * box.width}px`;
        brush.style.top = `${frame.top + scrollY}px`;
        brush.style.height = `${frame.height}px`;
        return;
      }
      const svg = laneAt(event);
      const text = svg && at(svg).under(svg, part(svg, event));
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const left = Math.min(event.pageX + 12, scrollX + root.clientWidth - tip.offsetWidth - 8);
      tip.style.left = `${left}px`;
      tip.style.top = `${event.pageY - 34}px`;
    });
    document.addEventListener("pointerdown", (event) => {
      const svg = event.button === 0 && event.pointerType !== "touch" && laneAt(event);
      if (!svg) return;
      drag = { svg, part: part(svg, event) };
      event.preventDefault();
    });
    document.addEventListener("pointerup", (event) => {
      if (!drag) return;
      const [a, b] = [drag.part, part(drag.svg, event)].sort((p, q) => p - q);
      const { svg } = drag;
      drag = null;
      brush.hidden = true;
      if (b - a >= 0.004) at(svg).showPart(a, b, svg.classList.contains("overall"));
    });
    document.addEventListener("pointercancel", () => {
      drag = null;
      brush.hidden = true;
    });
    return moves;
  }

  // ------------------------------------------------------------- keyboard
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isField = event.target.matches("input, select, textarea");
    if (event.key === "Escape") {
      clear();
      event.target.blur();
      return;
    }
    if (isField) return;
    const isOnTimeline = event.target.closest("#tl, .tl");
    const actions = {
      "/": () => { fields.text.focus(); fields.text.select(); },
      t: turnTheme,
      e: foldAll,
      "+": move.in,
      "=": move.in,
      "-": move.out,
      "−": move.out,
      0: move.whole,
      f: move.focus,
      ArrowLeft: isOnTimeline || event.target === document.body ? move.left : null,
      ArrowRight: isOnTimeline || event.target === document.body ? move.right : null,
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // ------------------------------------------------------------- where one is
  const links = new Map(all(".contents a").map((link) => [link.getAttribute("href").slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.classList.remove("now");
      links.get(entry.target.id)?.classList.add("now");
    }
  }, { rootMargin: "-80px 0px -70% 0px" });
  for (const section of all("main > section")) watcher.observe(section);
})();
