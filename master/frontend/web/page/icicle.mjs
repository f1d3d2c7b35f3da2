// The merged stacks as boxes: each frame as wide as it has ranks, above those that it has called.

// maxBoxes bounds the boxes; the narrowest are left out first.
const maxBoxes = 1000;

// layout returns the boxes of a tree of the API: x and width from 0 to 1, depth, and the node; and how many frames are
// left out. Siblings are as wide as their ranks, and narrower only where threads of the same ranks are beside each other.
export function layout(roots, limit = maxBoxes) {
  const boxes = [];
  const place = (nodes, x, width, depth) => {
    const sum = nodes.reduce((n, node) => n + node.n, 0);
    const whole = Math.max(sum, depth === 0 ? sum : 1);
    for (const node of nodes) {
      const w = (width * node.n) / whole;
      boxes.push({ x, width: w, depth, node });
      const below = node.children ?? [];
      const inside = below.reduce((n, child) => n + child.n, 0);
      place(below, x, w * Math.min(1, inside / node.n), depth + 1);
      x += w;
    }
  };
  place(roots ?? [], 0, 1, 0);
  const leftOut = Math.max(0, boxes.length - limit);
  if (leftOut > 0) {
    boxes.sort((a, b) => b.width - a.width || a.depth - b.depth);
    boxes.length = limit;
  }
  return { boxes, leftOut };
}

// label returns the text of a frame.
export function label(node) {
  const file = (node.file ?? "").split("/").at(-1);
  const place = file && node.line ? `${file}:${node.line}` : file || (node.from ?? "").split("/").at(-1);
  return [node.func || node.addr || "??", place].filter(Boolean).join(" ");
}

// matches reports whether a frame contains the words that are looked for.
export const matches = (node, words) => label(node).toLowerCase().includes(words.trim().toLowerCase());
