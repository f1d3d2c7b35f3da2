// Tests of the page's modules without a browser: node --test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf, order, summary, where } from "../../page/groups.mjs";
import { label, layout, matches } from "../../page/icicle.mjs";
import { outputText, said, splitter } from "../../page/lines.mjs";
import { arrayOf, bars, byRank, describe, numberOf, scale, setOf, strip, valuesOf } from "../../page/numbers.mjs";
import * as runs from "../../page/runs.mjs";

// encode is the reverse of decode.
function encode(pairs) {
  const bytes = [];
  for (let n of pairs.flat()) {
    for (; n > 127; n = Math.floor(n / 128)) bytes.push((n & 127) | 128);
    bytes.push(n);
  }
  return btoa(bytes.reduce((text, b) => text + String.fromCharCode(b), ""));
}

test("runs are decoded, and their sets written", () => {
  const r = runs.decode(encode([[7, 1], [1, 2], [3, 0], [1000, 1]]));
  assert.equal(r.end, 1011);
  assert.equal(runs.text(runs.rangesOf(r, (g) => g === 1)), "0-6,11-1010");
  assert.equal(runs.text(runs.rangesOf(r, (g) => g > 0)), "0-7,11-1010");
  assert.equal(runs.groupAt(r, 7), 2);
  assert.equal(runs.groupAt(r, 5000), 0);
  assert.throws(() => runs.decode("gA=="));
  assert.equal(runs.decode("").end, 0);
});

test("sets are read as the session does, and what is not known is left to it", () => {
  assert.deepEqual(runs.parse("8, 0-3,2-5", 10), [[0, 5], [8, 8]]);
  assert.deepEqual(runs.parse("all", 10), [[0, 9]]);
  assert.equal(runs.count(runs.parse("0-9:3", 10)), 4);
  for (const bad of ["@stopped", "3-1", "1-", "1-9:0", "x"]) assert.equal(runs.parse(bad, 10), null, bad);
});

test("the cells of any number of ranks fit", () => {
  for (const n of [1, 7, 64, 4096, 65_537, 1_048_576]) {
    for (const [width, height] of [[400, 300], [1000, 640], [17, 11]]) {
      const s = runs.shape(n, width, height);
      assert.ok(s.columns * s.side <= width && s.rows * s.side <= height && s.units * s.per >= n, JSON.stringify({ n, width, height, s }));
    }
  }
});

test("a point shows the worst of its ranks", () => {
  const r = runs.decode(encode([[500_001, 1], [1, 2], [548_574, 1]]));
  const s = runs.shape(r.end, 400, 300);
  const of = runs.worst(r, s.per, s.units, [0, 1, 9]);
  assert.ok(s.per > 1);
  assert.deepEqual([...of].map((g, i) => (g === 2 ? i : -1)).filter((i) => i >= 0), [Math.floor(500_001 / s.per)]);
});

test("a million ranks in many runs are painted in time", (t) => {
  const r = { lengths: Array(1 << 20).fill(1), groups: Array.from({ length: 1 << 20 }, (_, i) => 1 + (i & 1)), end: 1 << 20 };
  for (const [width, height] of [[1000, 640], [2000, 1000]]) {
    const began = performance.now();
    const s = runs.shape(r.end, width, height);
    const pixels = new Uint32Array(width * height);
    runs.paint(pixels, width, s, runs.worst(r, s.per, s.units, [0, 1, 2]), runs.chosen([[0, r.end - 1]], s.per, s.units), [0, 1, 2], [0, 3, 4]);
    t.diagnostic(`${width}x${height}: ${(performance.now() - began).toFixed(0)} ms`);
    assert.equal(pixels[0], s.per > 1 ? 2 : 1);
  }
});

test("cells outside of the focus are dim, and cells have a gap", () => {
  const s = runs.shape(4, 16, 16);
  assert.equal(s.side, 8);
  const pixels = new Uint32Array(256);
  runs.paint(pixels, 16, s, [1, 1, 1, 1], runs.chosen([[1, 1]], 1, 4), [0, 5], [0, 6]);
  assert.equal(pixels[0], 6);
  assert.equal(pixels[8], 5);
  assert.equal(pixels[6 * 16 + 14], 5);
  assert.equal(pixels[7], 0);
  assert.equal(pixels[7 * 16], 0);
});

test("odd groups come first", () => {
  const groups = [
    { state: "running", n: 509 }, { state: "stopped", n: 2, func: "f", where: "a.c:3" },
    { state: "lost", n: 8, cause: "no heartbeat", host: "node7" }, { state: "signalled", n: 1, signal: "SIGSEGV" },
  ];
  assert.deepEqual(order(groups), [3, 2, 1, 0]);
  assert.equal(where(groups[1]), "f, a.c:3");
  assert.equal(where(groups[2]), "no heartbeat, on node7");
  assert.equal(summary(groups), "509 running, 8 lost, 2 stopped, 1 failed");
  assert.ok(kindOf({ state: "exited", code: 3 }) > kindOf({ state: "exited", code: 0 }));
  assert.ok(kindOf({ state: "of a newer sdm" }) > 0);
});

test("frames are as wide as their ranks", () => {
  const tree = [{ func: "main", n: 8, file: "/src/a.c", line: 3, children: [{ func: "f", n: 6 }, { func: "g", n: 1 }] }, { func: "helper", n: 8 }];
  const { boxes, leftOut } = layout(tree);
  assert.deepEqual(boxes.map((b) => [b.node.func, b.x, b.width, b.depth]), [["main", 0, 0.5, 0], ["f", 0, 0.375, 1], ["g", 0.375, 0.0625, 1], ["helper", 0.5, 0.5, 0]]);
  assert.equal(leftOut, 0);
  assert.equal(label(tree[0]), "main a.c:3");
  assert.ok(matches(tree[0], " A.C"));
  const wide = layout([{ func: "m", n: 5000, children: Array.from({ length: 5000 }, (_, i) => ({ func: `f${i}`, n: 1 })) }]);
  assert.equal(wide.boxes.length, 1000);
  assert.equal(wide.leftOut, 4001);
});

test("a stream is cut into lines wherever its pieces end", () => {
  const split = splitter();
  assert.deepEqual([...split('{"a":'), ...split("1}\n\n{"), ...split("}\n")], ['{"a":1}', "{}"]);
});

test("output and events are words", () => {
  assert.equal(outputText({ text: "<b>\n" }), "<b>");
  assert.equal(outputText({ data: btoa("\xff\n") }), "\ufffd");
  assert.equal(said({ event: "command", front: 2, name: "ann", line: "continue", set: "0-3" }), "ann (2): continue on 0-3");
  assert.equal(said({ event: "front", front: 3, name: "ann", door: "dap", host: "login2", change: "came" }), "ann (3), dap on login2: came");
  assert.equal(said({ event: "new", ranks: "0", text: "x".repeat(999) }).length, 306);
});

test("numbers are read as gdb writes them", () => {
  for (const [text, want] of [["5", 5], ["-3.25e+2", -325], ["97 'a'", 97], ["nan(0x8000000000000)", NaN], ["-inf", -Infinity], ["0x55 <f>", undefined], ["<optimized out>", undefined], ["", undefined]]) assert.equal(numberOf(text), want, text);
});

test("odd numbers, and what is none, are found", () => {
  const events = [{ columns: { value: { values: [{ value: "5", ranks: "0-6" }, { value: "900", ranks: "7" }, { value: "nan(0x8)", ranks: "8" }] } } }, { result: {} }];
  const of = byRank(valuesOf(events), 10), d = describe(of);
  assert.deepEqual([d.n, d.odd, d.nan, d.min, d.max, of[9]], [8, [7], [8], 5, 900, undefined]);
  assert.equal(bars(of, d).reduce((n, b) => n + b.ranks.length, 0), 8);
  assert.deepEqual(strip(of, 5).all.at(-1), { first: 8, last: 9, low: Infinity, high: -Infinity, bad: true });
  assert.equal(valuesOf([{ columns: { value: { distinct: 9999 } } }]), null);
  assert.equal(byRank([{ value: "x", ranks: "0" }], 1), null);
  assert.equal(setOf([0, 1, 2, 7, 9, 10]), "0-2,7,9-10");
  assert.match(scale(0.3), /^#[0-9a-f]{6}$/);
});

test("arrays are read with repeats and without their braces", () => {
  assert.deepEqual(arrayOf("{1, 2, 0 <repeats 3 times>, nan(0x8000000000000)}"), [1, 2, 0, 0, 0, NaN]);
  assert.deepEqual(arrayOf("{{1, 2} <repeats 2 times>, {-3.5e-2, inf}...}"), [1, 2, 1, 2, -0.035, Infinity]);
  assert.deepEqual(arrayOf("((1, 2) (3, 4))"), [1, 2, 3, 4]);
  for (const other of ["5", "{a = 1, b = 2}", '{0x5 <f>, 0x6}', "}{", "{}"]) assert.equal(arrayOf(other), null, other);
  assert.equal(arrayOf("{0 <repeats 999999999 times>}").length, 4096);
});

test("sets have ranks in common, or not", () => {
  assert.ok(runs.intersects([[0, 3], [9, 9]], [[4, 8], [9, 12]]));
  assert.ok(!runs.intersects([[0, 3]], [[4, 8]]));
});
