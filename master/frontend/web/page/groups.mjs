// Groups of ranks in one state: which are worse, which come first, and their words.

// kinds are the kinds of states from good to bad: name, and colours in the light and in the dark.
export const kinds = [
  { name: "ended well", light: "#9aa4af", dark: "#5d6772" },
  { name: "watched", light: "#5aa469", dark: "#4d9660" },
  { name: "running", light: "#2f8f46", dark: "#3fae5a" },
  { name: "let go", light: "#6c8ebf", dark: "#5a7cae" },
  { name: "not started", light: "#b9c7dd", dark: "#41506a" },
  { name: "stopped", light: "#e0a100", dark: "#e3b341" },
  { name: "stopped by a signal", light: "#d9540b", dark: "#f0803c" },
  { name: "failed", light: "#c6202e", dark: "#f0524f" },
  { name: "lost", light: "#8e2bb8", dark: "#c678e6" },
];

// badKind is the first of the kinds that are failures.
export const badKind = 6;

// kindOf returns the place of a group in kinds.
export function kindOf(group) {
  switch (group.state) {
    case "lost": return 8;
    case "signalled": return 7;
    case "exited": return group.code ? 7 : 0;
    case "stopped": return group.signal ? 6 : 5;
    case "unstarted": case "starting": return 4;
    case "detached": return 3;
    case "running": return 2;
    case "watched": return 1;
  }
  return 5;
}

// order returns the places of groups, the odd ones first: failures, then what few ranks do.
export function order(groups) {
  const bad = (g) => (kindOf(g) >= badKind ? 0 : 1);
  return groups.map((_, i) => i).sort((i, j) => bad(groups[i]) - bad(groups[j]) || groups[i].n - groups[j].n || i - j);
}

// where returns where ranks of a group are, or why they have ended.
export function where(group) {
  const parts = [];
  if (group.func) parts.push(group.func);
  if (group.where) parts.push(group.where);
  if (group.breakpoint) parts.push(`breakpoint ${group.breakpoint}`);
  else if (group.reason && !group.signal) parts.push(group.reason);
  if (group.signal) parts.push(group.signal);
  if (group.code) parts.push(`exit code ${group.code}`);
  if (group.cause) parts.push(group.cause);
  if (group.host) parts.push(`on ${group.host}`);
  return parts.join(", ");
}

// summary says how many ranks are in which kind of state: "512 running, 3 stopped".
export function summary(groups) {
  const n = new Map();
  for (const g of groups) {
    const name = kinds[kindOf(g)].name;
    n.set(name, (n.get(name) ?? 0) + g.n);
  }
  return [...n].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${count} ${name}`).join(", ");
}
