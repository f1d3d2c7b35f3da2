// Values over ranks as bars, from a column of sdm/stat.

// maxBars bounds the bars.
const maxBars = 64;

// bars returns what is drawn of a column: facts in words, and bars with a label, how many ranks they are, and which, if
// that is known.
export function bars(column) {
  const facts = [`${column.count ?? 0} ranks`, `${column.distinct ?? 0}${column.estimated ? " or so" : ""} values`];
  for (const [name, at] of [["min", column.min], ["max", column.max]]) {
    if (at) facts.push(`${name} ${at.value} (rank ${at.rank})`);
  }
  if (column.mean !== undefined) facts.push(`mean ${short(column.mean)}`);
  if (column.stddev !== undefined) facts.push(`deviation ${short(column.stddev)}`);
  if (column.quantiles) facts.push(`median ${short(column.quantiles.p50)}`);
  if (column.values) {
    const list = column.values.map((v) => ({ label: `${v.value}`, count: size(v.ranks), ranks: v.ranks }));
    const numbers = list.every((b) => b.label.trim() !== "" && !Number.isNaN(Number(b.label)));
    list.sort(numbers ? (x, y) => Number(x.label) - Number(y.label) : (x, y) => y.count - x.count);
    return { facts, bars: list.slice(0, maxBars) };
  }
  const steps = (column.histogram ?? []).slice(0, maxBars);
  return { facts, bars: steps.map((b) => ({ label: `${short(b.from)} to ${short(b.to)}`, count: b.count })) };
}

// short returns a number with at most 6 digits; what is no number stays.
function short(x) {
  return typeof x === "number" ? `${Number(x.toPrecision(6))}` : `${x}`;
}

// size returns the number of ranks of a set in its text, "0-3,8"; one that is cut ends with "+N".
export function size(set) {
  const [listed, more] = set.split("+");
  let n = more ? Number(more) : 0;
  for (const part of listed.split(",")) {
    const m = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (m) n += m[2] === undefined ? 1 : m[2] - m[1] + 1;
  }
  return n;
}

// widths returns the lengths of bars within some pixels: the longest fills them, and none vanishes.
export function widths(list, pixels) {
  const most = Math.max(1, ...list.map((b) => b.count));
  return list.map((b) => (b.count > 0 ? Math.max(2, (pixels * b.count) / most) : 0));
}
