// The ranks of sdm/states as runs, which the grid is painted from.

// runsOf returns the ranks of groups as runs: lengths, and the number of the group from 1; 0 is no rank. parse reads a set.
export function runsOf(groups, parse) {
  const pieces = [];
  groups.forEach((g, i) => {
    if (g.ranks) for (const [a, b] of parse(g.ranks, 0) ?? []) pieces.push([a, b, i + 1]);
  });
  pieces.sort((x, y) => x[0] - y[0]);
  const runs = { lengths: [], groups: [], end: 0 };
  const add = (n, group) => {
    runs.lengths.push(n);
    runs.groups.push(group);
    runs.end += n;
  };
  for (const [a, b, group] of pieces) {
    if (a > runs.end) add(a - runs.end, 0);
    if (b >= runs.end) add(b - runs.end + 1, group);
  }
  return runs;
}
