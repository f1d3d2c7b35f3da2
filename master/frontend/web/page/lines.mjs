// Lines of a stream, and the words for events.

// splitter returns a function that takes pieces of a text and returns the whole lines in them, without empty ones.
export function splitter() {
  let rest = "";
  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    return lines.filter((line) => line !== "");
  };
}

// outputText returns the text of an event of output. Bytes that are no text are shown as such.
export function outputText(e) {
  if (e.text !== undefined) return e.text.replace(/\r?\n$/, "");
  const bytes = Uint8Array.from(atob(e.data ?? ""), (c) => c.charCodeAt(0));
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
}

// said returns what an event of the session says, for people; "" if it says nothing.
export function said(e) {
  const by = e.name ? `${e.name} (${e.front})` : "";
  switch (e.event) {
    case "command": return `${by}: ${e.line}${e.set ? ` on ${e.set}` : ""}`;
    case "front": return `${by}${e.door ? `, ${e.door}` : ""}${e.host ? ` on ${e.host}` : ""}: ${e.change}`;
    case "gap": return `${e.missed} events were missed`;
    case "breakpoint": return `breakpoints ${e.change}: ${(e.numbers ?? ["all"]).join(", ")}`;
    case "loading": return e.done ? "symbols are loaded" : "loading symbols";
    case "note": case "logged": case "job": return `${e.event}: ${e.text ?? e.message ?? e.state ?? rest(e)}`;
  }
  return `${e.event}: ${rest(e)}`;
}

// rest is what an event has besides its name and ranks, shortened.
function rest(e) {
  const { event, ranks, n, cursor, ...others } = e;
  const text = JSON.stringify(others);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
