// Ranks as runs: decoding, sets as text, and the cells of the grid.

// decode reads the runs of the API: pairs of a length and the number of a group (0: no ranks).
export function decode(base64) {
  const text = atob(base64 ?? "");
  const lengths = [], groups = [];
  let at = 0;
  const number = () => {
    for (let n = 0, scale = 1; at < text.length; scale *= 128) {
      const b = text.charCodeAt(at++);
      n += (b & 127) * scale;
      if (b < 128) return n;
    }
    throw new Error("the runs end within a number");
  };
  let end = 0;
  while (at < text.length) {
    const n = number(), group = number();
    lengths.push(n);
    groups.push(group);
    end += n;
  }
  return { lengths, groups, end };
}

// rangesOf returns the ranks of the runs whose group is accepted, as pairs of first and last.
export function rangesOf(runs, accept) {
  const ranges = [];
  let first = 0;
  runs.lengths.forEach((n, i) => {
    if (accept(runs.groups[i])) {
      const last = ranges.at(-1);
      if (last && last[1] === first - 1) last[1] = first + n - 1;
      else ranges.push([first, first + n - 1]);
    }
    first += n;
  });
  return ranges;
}

// groupAt returns the group of a rank.
export function groupAt(runs, rank) {
  let first = 0;
  for (let i = 0; i < runs.lengths.length; i++) {
    first += runs.lengths[i];
    if (rank < first) return runs.groups[i];
  }
  return 0;
}

// text returns the text of a rank set: "0-3,8".
export const text = (ranges) => ranges.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(",");

// count returns the number of ranks of a set.
export const count = (ranges) => ranges.reduce((n, [a, b]) => n + b - a + 1, 0);

// parse reads a rank set of numbers and ranges, each perhaps with a step ("0-9:2"); "all" is 0 to end-1. It returns
// null if the text is something else: the session may know names that the page does not.
export function parse(text, end) {
  text = text.trim();
  if (text === "" || text === "all") return end > 0 ? [[0, end - 1]] : [];
  const ranges = [];
  for (const part of text.split(",")) {
    const m = /^\s*(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?\s*$/.exec(part);
    if (!m) return null;
    const a = +m[1], b = m[2] === undefined ? a : +m[2], step = +(m[3] ?? 1);
    if (b < a || step < 1) return null;
    if (step === 1) ranges.push([a, b]);
    else for (let i = a; i <= Math.min(b, end - 1); i += step) ranges.push([i, i]);
  }
  ranges.sort((x, y) => x[0] - y[0]);
  const merged = [];
  for (const r of ranges) {
    const last = merged.at(-1);
    if (last && r[0] <= last[1] + 1) last[1] = Math.max(last[1], r[1]);
    else merged.push([...r]);
  }
  return merged;
}

// shape returns how n ranks fill width x height pixels: squares of side pixels, or, if they are more than there are
// pixels, several ranks a pixel.
export function shape(n, width, height) {
  let side = Math.max(1, Math.min(16, Math.floor(Math.sqrt((width * height) / Math.max(n, 1)))));
  while (side > 1 && Math.ceil(n / Math.floor(width / side)) * side > height) side--;
  const columns = Math.max(1, Math.floor(width / side));
  const per = side > 1 ? 1 : Math.max(1, Math.ceil(n / (columns * height)));
  const units = Math.ceil(n / per);
  return { side, columns, per, units, rows: Math.ceil(units / columns) };
}

// worst returns, for each unit of per ranks, the group of those in it with the greatest weight.
export function worst(runs, per, units, weights) {
  const of = new Uint16Array(units);
  let first = 0;
  for (let i = 0; i < runs.lengths.length; i++) {
    const n = runs.lengths[i], group = runs.groups[i], last = first + n - 1;
    if (n === 1 && per === 1) of[first] = group;
    else if (per === 1) of.fill(group, first, last + 1);
    else {
      const weight = weights[group], to = Math.floor(last / per);
      for (let u = Math.floor(first / per); u <= to; u++) if (weights[of[u]] < weight) of[u] = group;
    }
    first += n;
  }
  return of;
}

// chosen returns, for each unit, whether a rank of a set is in it.
export function chosen(ranges, per, units) {
  const is = new Uint8Array(units);
  for (const [a, b] of ranges) is.fill(1, Math.floor(a / per), Math.min(units, Math.floor(b / per) + 1));
  return is;
}

// paint fills pixels (one number each, a line has width of them) with the colours of units; those that are not chosen
// are dim. Cells of 4 pixels and more have a gap.
export function paint(pixels, width, { side, columns, units, rows }, of, is, colours, dims) {
  const inner = side >= 4 ? side - 1 : side;
  for (let row = 0; row < rows; row++) {
    const begin = row * side * width, first = row * columns, n = Math.min(columns, units - first);
    if (side === 1) {
      for (let i = 0; i < n; i++) pixels[begin + i] = (is[first + i] ? colours : dims)[of[first + i]];
      continue;
    }
    for (let i = 0; i < n; i++) {
      const at = begin + i * side;
      pixels.fill((is[first + i] ? colours : dims)[of[first + i]], at, at + inner);
    }
    for (let y = 1; y < inner; y++) pixels.copyWithin(begin + y * width, begin, begin + n * side);
  }
}

// intersects reports whether two sets have a rank in common.
export function intersects(a, b) {
  for (let i = 0, k = 0; i < a.length && k < b.length; ) {
    if (a[i][1] < b[k][0]) i++;
    else if (b[k][1] < a[i][0]) k++;
    else return true;
  }
  return false;
}
