// The page of the panel in a real browser, if there is one, with a hostile rank: node --test.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import Module, { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

// page loads the HTML of the panel, without VS Code.
function page(...args) {
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? {} : load(name, ...rest));
  try {
    return createRequire(import.meta.url)("./panel").page(...args);
  } finally {
    Module._load = load;
  }
}

const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const messages = [
  { type: "states", all: "0-63", focus: "0-31", states: [
    { ranks: "0-30,33-62", n: 61, state: "stopped", func: "solve", where: "work.c:31" },
    { ranks: "31", n: 1, state: "stopped", func: hostile, where: "a.c:1" },
    { ranks: "63", n: 1, state: "signalled", signal: "SIGSEGV" }, { ranks: "32", n: 1, state: "running" }] },
  { type: "stacks", verdict: [{ certain: true, kind: "deadlock", text: `0-30 wait for 31 ${hostile}` }], stack: [[
    { func: "main", file: "work.c", line: 9, ranks: "0-62", n: 63, children: [
      { func: "solve", file: "work.c", line: 31, ranks: "0-30,33-62", n: 61 }, { func: hostile, ranks: "31", n: 1 }] }]] },
  { type: "stat", expression: "rest", columns: [{ value: { count: 64, distinct: 2, min: { value: 1, rank: 0 }, values: [
    { value: "1", ranks: "0-31" }, { value: hostile, ranks: "32-63" }] } }] },
];

// The page posts these messages to itself, and tells what its policy has blocked and what it would tell the editor.
const stub = (nonce) => `<script nonce="${nonce}">
const told = [];
addEventListener("securitypolicyviolation", (e) => told.push("blocked " + e.violatedDirective + " " + e.blockedURI));
addEventListener("error", (e) => told.push("error " + e.message));
const acquireVsCodeApi = () => ({ postMessage(m) {
  if (m.type === "ready") {
    for (const x of ${JSON.stringify(messages).replaceAll("<", "\\u003c")}) postMessage(x, "*");
    setTimeout(() => {
      document.querySelector("#groups button").click();
      document.querySelector("#icicle g").dispatchEvent(new MouseEvent("click"));
      document.body.dataset.told = JSON.stringify(told);
    }, 500);
  } else told.push(m);
} });
</script>`;

test("the panel in a browser", { skip: chromium ? false : "there is no Chromium" }, async () => {
  const files = (name) => (name.startsWith("page/") // see DRAWN in the Makefile
    ? path.join(here, "../../master/frontend/web", name.replace(/js$/, "mjs")) : path.join(here, "view", name));
  const server = http.createServer((request, answer) => {
    const name = request.url.slice(1);
    if (name === "") {
      answer.setHeader("Content-Type", "text/html");
      const html = page((file) => `/${file}`, `http://127.0.0.1:${server.address().port}`, "NONCE");
      answer.end(html.replace("<script type", `${stub("NONCE")}<script type`));
      return;
    }
    answer.setHeader("Content-Type", name.endsWith(".css") ? "text/css" : "text/javascript");
    answer.end(existsSync(files(name)) ? readFileSync(files(name)) : "");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const home = mkdtempSync(path.join(os.tmpdir(), "sdm-panel-"));
  try {
    const dom = await new Promise((done, fail) => {
      execFile(chromium, ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${home}`, "--window-size=900,1200",
        ...(process.env.SDM_PICTURE ? [`--screenshot=${process.env.SDM_PICTURE}`] : ["--dump-dom"]),
        "--virtual-time-budget=5000", `http://127.0.0.1:${server.address().port}/`],
      { timeout: 120_000 }, (error, out) => (error ? fail(error) : done(out)));
    });
    if (process.env.SDM_PICTURE) return;
    const told = JSON.parse(/data-told="([^"]*)"/.exec(dom)[1].replaceAll("&quot;", '"'));
    assert.deepEqual(told, [{ type: "focus", text: "63" }, { type: "focus", text: "0-62" }]);
    assert.match(dom, /certain: 0-30 wait for 31 &lt;img/);
    assert.match(dom, /aria-label="61 stopped|aria-label="62 stopped/);
    assert.match(dom, /<title>sdm<\/title>/);
    assert.match(dom, /solve work.c:31/);
    assert.match(dom, /min 1 \(rank 0\)/);
    assert.ok(!dom.includes("<img"), dom);
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
