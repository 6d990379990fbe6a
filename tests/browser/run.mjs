// Opens reports in a headless Chromium as a person would: clicks, types, presses keys, and looks at what shows.
// Needs node and a Chromium; without one of them .ci/run says so and goes on. No package is needed: the browser is driven
// over a pipe. Usage: node tests/browser/run.mjs CASDIAG [CHROMIUM]
import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [casdiag, chromium = "chromium"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "casdiag-browser-"));

// ------------------------------------------------------------- the browser

class Browser {
  #process;
  #waiting = new Map();
  #heard = new Map();
  #last = 0;
  #rest = "";
  #ended = false;
  events = [];

  constructor() {
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
      `--user-data-dir=${join(folder, "profile")}`, "about:blank"];
    this.#process = spawn(chromium, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const end = (why) => {
      this.#ended = true;
      for (const { reject } of this.#waiting.values()) reject(new Error(`the browser ended: ${why}`));
    };
    this.#process.on("error", (error) => end(error.message));
    this.#process.on("exit", (code) => end(`exit ${code}`));
    this.#process.stdio[3].on("error", () => {});
    this.#process.stdio[4].on("data", (bytes) => this.#read(bytes));
  }

  #read(bytes) {
    this.#rest += bytes;
    for (let end = this.#rest.indexOf("\0"); end >= 0; end = this.#rest.indexOf("\0")) {
      const message = JSON.parse(this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + 1);
      if (!message.id) {
        this.events.push(message);
        this.#heard.get(message.method)?.();
        continue;
      }
      const { resolve, reject } = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    }
  }

  send(method, params = {}, sessionId = this.session) {
    if (this.#ended) return Promise.reject(new Error("the browser ended"));
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  async start() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" }, undefined);
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true }, undefined);
    this.session = sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.send(`${domain}.enable`);
  }

  /// Ends the browser and waits until it is gone, so that its files can be removed.
  stop() {
    return new Promise((resolve) => {
      if (this.#ended) resolve();
      this.#process.on("exit", resolve);
      this.#process.kill();
    });
  }

  /// The next event of a kind.
  next(method) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no ${method}`)), 30_000);
      this.#heard.set(method, () => {
        clearTimeout(late);
        this.#heard.delete(method);
        resolve();
      });
    });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression, returnByValue: true, awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(expression) {
    for (let tries = 0; tries < 200; tries += 1) {
      if (await this.evaluate(expression)) return;
      await this.evaluate("new Promise((done) => requestAnimationFrame(done))");
    }
    throw new Error(`never true: ${expression}`);
  }

  async open(path, { width = 1440, height = 900, theme = "light", script = true } = {}) {
    this.events.length = 0;
    await this.send("Emulation.setScriptExecutionDisabled", { value: !script });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    const loaded = this.next("Page.loadEventFired");
    await this.send("Page.navigate", { url: `file://${path}` });
    await loaded;
  }

  async boxOf(selector) {
    return this.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: "center" });
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    })()`);
  }

  async mouse(type, x, y, buttons = 0) {
    await this.send("Input.dispatchMouseEvent", {
      type, x, y, buttons, button: type === "mouseMoved" ? "none" : "left", clickCount: 1,
    });
  }

  async click(selector) {
    const { x, y, width, height } = await this.boxOf(selector);
    const [at, down] = [x + width / 2, y + height / 2];
    await this.mouse("mouseMoved", at, down);
    await this.mouse("mousePressed", at, down, 1);
    await this.mouse("mouseReleased", at, down);
  }

  async drag(selector, from, to) {
    const { x, y, width, height } = await this.boxOf(selector);
    const down = y + height / 2;
    await this.mouse("mouseMoved", x + width * from, down);
    await this.mouse("mousePressed", x + width * from, down, 1);
    await this.mouse("mouseMoved", x + width * (from + to) / 2, down, 1);
    await this.mouse("mouseMoved", x + width * to, down, 1);
    await this.mouse("mouseReleased", x + width * to, down);
  }

  async key(key) {
    const text = key.length === 1 ? key : undefined;
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
  }

  async type(text) {
    for (const key of text) await this.key(key);
  }

  /// What went wrong on the page since it was opened.
  faults() {
    const fault = (it) => it.method === "Runtime.exceptionThrown"
      || it.method === "Log.entryAdded" && it.params.entry.level === "error"
      || it.method === "Runtime.consoleAPICalled" && it.params.type === "error";
    return this.events.filter(fault).map((it) => JSON.stringify(it.params).slice(0, 300));
  }

  requests() {
    const sent = this.events.filter((it) => it.method === "Network.requestWillBeSent");
    return sent.map((it) => it.params.request.url).filter((it) => !it.startsWith("file:"));
  }
}

// ------------------------------------------------------------- the tests

const equal = (found, wanted, what) => {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
  }
};
const holds = (truth, what) => {
  if (!truth) throw new Error(what);
};

const page = (name, of = `samples/incidents/${name}`) => {
  const path = join(folder, `${name}.html`);
  const report = execFileSync(casdiag, ["analyze", of, "--fail-on", "never", "--quiet", "--format", "html"],
    { maxBuffer: 1 << 26 });
  writeFileSync(path, report);
  return path;
};
const pages = Object.fromEntries(["report-000", "report-001", "report-003"].map((it) => [it, page(it)]));
pages.all = page("all", "samples/incidents");
const shown = (selector) => `Array.from(document.querySelectorAll(${JSON.stringify(selector)})).filter((it) => it.checkVisibility()).length`;
const range = "document.getElementById('tl-range').textContent";

const tests = {
  async "opens without a fault and without a request"(browser) {
    for (const path of Object.values(pages)) {
      await browser.open(path);
      equal(browser.faults(), [], path);
      equal(browser.requests(), [], path);
      holds(await browser.evaluate("document.documentElement.classList.contains('js')"), "the script ran under the policy");
    }
  },

  async "runs whatever the address says behind its #"(browser) {
    for (const [nth, hash] of ["#%", "#%E0%A4%A", "#nothing"].entries()) {
      // A file of its own: another hash of the same file loads nothing.
      const path = join(folder, `hash-${nth}.html`);
      writeFileSync(path, readFileSync(pages["report-000"]));
      await browser.open(path + hash);
      equal(browser.faults(), [], hash);
      await browser.key("/");
      await browser.type("connections broken");
      equal(await browser.evaluate(shown("details.finding")), 1, `filters at ${hash}`);
    }
  },

  async "fits 390 and 1440 pixels, light and dark"(browser) {
    for (const path of Object.values(pages)) {
      for (const width of [390, 768, 1440]) {
        for (const theme of ["light", "dark"]) {
          await browser.open(path, { width, theme });
          holds(await browser.evaluate(`document.documentElement.scrollWidth <= ${width}`), `${path} is wider than ${width}`);
        }
      }
      const dark = await browser.evaluate("getComputedStyle(document.body).backgroundColor");
      await browser.open(path, { theme: "light" });
      holds(dark !== await browser.evaluate("getComputedStyle(document.body).backgroundColor"), "dark is another color");
    }
  },

  async "filters by text, node and severity, and Escape clears"(browser) {
    await browser.open(pages["report-000"]);
    const findings = "details.finding";
    equal(await browser.evaluate(shown(findings)), 5, "all findings");
    await browser.key("/");
    await browser.type("connections broken");
    equal(await browser.evaluate(shown(findings)), 1, "findings with the text");
    holds(await browser.evaluate("/^\\d+ of \\d+ shown$/.test(document.getElementById('hits').textContent)"), "says how many");
    await browser.key("Escape");
    equal(await browser.evaluate(shown(findings)), 5, "findings after Escape");
    equal(await browser.evaluate("document.getElementById('filter-text').value"), "", "the text is cleared");
    const choose = (id, value) => browser.evaluate(`(() => {
      const field = document.getElementById("${id}");
      field.value = "${value}";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    })()`);
    await choose("filter-severity", "3");
    equal(await browser.evaluate(shown(findings)), 3, "high findings");
    await choose("filter-severity", "0");
    const node = await browser.evaluate("Array.from(document.getElementById('filter-node').options).find((it) => it.textContent === 'ch1').value");
    await choose("filter-node", node);
    holds(await browser.evaluate(`Array.from(document.querySelectorAll('.group h3')).filter((it) => it.checkVisibility()).map((it) => it.textContent).join() === 'Findings,ch1'`), "only the node's lanes");
    await browser.key("Escape");
    equal(browser.faults(), [], "faults");
  },

  async "opens and closes findings by click, link and key"(browser) {
    await browser.open(pages["report-000"]);
    equal(await browser.evaluate(shown("details.finding[open]")), 1, "the worst is open");
    await browser.click("#F4 > summary");
    holds(await browser.evaluate("document.getElementById('F4').open"), "F4 is open");
    await browser.click("#F4 > summary");
    holds(await browser.evaluate("!document.getElementById('F4').open"), "F4 is closed");
    await browser.click(".card[href='#F2']");
    await browser.until("document.getElementById('F2').open && document.getElementById('F2').getBoundingClientRect().top < innerHeight");
    await browser.key("e");
    equal(await browser.evaluate(shown("details.finding[open]")), 5, "all open");
    holds(await browser.evaluate("document.querySelector('#F2 .lines').checkVisibility()"), "evidence shows");
    await browser.key("e");
    equal(await browser.evaluate(shown("details.finding[open]")), 0, "all closed");
  },

  async "zooms by button, key and drag, and shows what lies under the pointer"(browser) {
    await browser.open(pages["report-001"]);
    const first = await browser.evaluate(range);
    const path = "document.querySelector('.lane .b').getAttribute('d')";
    const before = await browser.evaluate(path);
    await browser.click("#tl-in");
    const near = await browser.evaluate(range);
    holds(near !== first, "the button zooms in");
    holds(before !== await browser.evaluate(path), "the lanes are drawn again");
    await browser.click("#tl-right");
    holds(near !== await browser.evaluate(range), "the button moves");
    await browser.key("0");
    const whole = await browser.evaluate(range);
    holds(whole.startsWith("2026-09-01 21:12:03 .. 23:29:5"), `the whole: ${whole}`);
    await browser.key("f");
    equal(await browser.evaluate(range), first, "the findings");
    await browser.key("-");
    holds(first !== await browser.evaluate(range), "the key zooms out");
    await browser.key("f");
    await browser.drag("#tl .lane .bars", 0.25, 0.5);
    const dragged = await browser.evaluate(range);
    holds(dragged !== first && dragged < "2026-09-01 23:28:50", `the drag zooms: ${dragged}`);
    await browser.key("f");
    const box = await browser.boxOf("#tl .lane .bars");
    await browser.mouse("mouseMoved", box.x + box.width / 2, box.y + box.height / 2);
    holds(await browser.evaluate("/^\\d\\d:\\d\\d:\\d\\d \\.\\. \\d\\d:\\d\\d:\\d\\d: \\d+$/.test(document.querySelector('.tip').textContent)"), "a tip");
    equal(browser.faults(), [], "faults");
  },

  async "zooms all axes alike by key, and one by a drag"(browser) {
    await browser.open(pages.all);
    const ranges = () => browser.evaluate("Array.from(document.querySelectorAll('[id^=tl-range]')).map((it) => it.textContent)");
    const first = await ranges();
    equal(first.length, 3, "axes");
    await browser.key("+");
    const near = await ranges();
    holds(near.every((it, at) => it !== first[at]), `all are nearer: ${near}`);
    await browser.key("f");
    equal(await ranges(), first, "the findings");
    await browser.drag("[data-x='1'] .lane .bars", 0.25, 0.5);
    const dragged = await ranges();
    equal(dragged.map((it, at) => it !== first[at]), [false, true, false], "only what is dragged over");
    equal(browser.faults(), [], "faults");
  },

  async "draws the same lanes as the page without its script"(browser) {
    const drawn = "JSON.stringify(Array.from(document.querySelectorAll('svg[data-l] path, .tl .ticks text')).map((it) => [it.getAttribute('d'), it.textContent]))";
    for (const path of Object.values(pages)) {
      await browser.open(path);
      const written = await browser.evaluate(drawn);
      await browser.key("0");
      await browser.click(await browser.evaluate("document.getElementById('tl-focus') ? '#tl-focus' : '#tl-whole'"));
      equal(await browser.evaluate(drawn), written, path);
    }
  },

  async "sorts tables"(browser) {
    await browser.open(pages["report-000"]);
    const column = "Array.from(document.querySelector('table.sortable').tBodies).map((it) => Number(it.rows[0].lastElementChild.textContent.replace(/[^0-9]/g, '')))";
    const before = await browser.evaluate(column);
    await browser.click("table.sortable thead th:last-child button");
    const sorted = await browser.evaluate(column);
    equal(sorted, before.slice().sort((a, b) => b - a), "highest first");
    await browser.click("table.sortable thead th:last-child button");
    await browser.click("table.sortable thead th:last-child button");
    equal(await browser.evaluate(column), before, "as it was");
  },

  async "turns the theme"(browser) {
    await browser.open(pages["report-003"]);
    const color = "getComputedStyle(document.body).backgroundColor";
    const light = await browser.evaluate(color);
    await browser.click("#theme");
    holds(light !== await browser.evaluate(color), "the button turns it");
    await browser.key("t");
    equal(await browser.evaluate(color), light, "the key turns it back");
  },

  async "runs nothing that is not its own"(browser) {
    const own = readFileSync(pages["report-003"], "utf8");
    const path = join(folder, "attacked.html");
    const attack = "<p id=\"bait\" style=\"color: rgb(1, 2, 3)\" onclick=\"window.hurt = 1\">x</p><script>window.hurt = 2</script>"
      + "<img src=\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\" onerror=\"window.hurt = 3\" onload=\"window.hurt = 4\">"
      + "<a id=\"link\" href=\"javascript:window.hurt = 5\">y</a>";
    writeFileSync(path, own.replace("<main id=\"main\">", `<main id="main">${attack}`));
    await browser.open(path);
    await browser.click("#bait");
    await browser.click("#link");
    equal(await browser.evaluate("window.hurt ?? null"), null, "nothing ran");
    holds(await browser.evaluate("getComputedStyle(document.getElementById('bait')).color !== 'rgb(1, 2, 3)'"), "no inline style");
    const refused = browser.events.filter((it) => it.method === "Log.entryAdded" && it.params.entry.text.includes("Content Security Policy"));
    holds(refused.length >= 3, "the policy says what it refused");
  },

  async "reads without its script and prints whole"(browser) {
    await browser.open(pages["report-000"], { script: false });
    const text = (await browser.send("DOMSnapshot.captureSnapshot", { computedStyles: [] })).strings.join("\n");
    for (const piece of ["relink confirms unproven", "unproven-confirms", "It says", "clickhouse-server.log:79"]) {
      holds(text.includes(piece), `${piece} is there`);
    }
    await browser.open(pages["report-000"]);
    const { data } = await browser.send("Page.printToPDF", { printBackground: true });
    holds(Buffer.from(data, "base64").length > 50_000, "a document of several pages");
    await browser.send("Emulation.setEmulatedMedia", { media: "print" });
    equal(await browser.evaluate(shown(".filter, .tools, .contents, .copy")), 0, "no controls on paper");
    await browser.send("Emulation.setEmulatedMedia", { media: "" });
  },
};

let failed = 0;
const browser = new Browser();
try {
  await browser.start();
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test(browser);
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n        ${error.message}`);
    }
  }
} catch (error) {
  failed += 1;
  console.log(`FAILED  ${error.message}`);
} finally {
  await browser.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
