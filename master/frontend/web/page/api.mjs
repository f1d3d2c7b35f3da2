// What is asked of sdm web: the key for a link, answers, and the stream of events.

import { splitter } from "./lines.mjs";

const keyName = "sdm-key";

// kept are the answers within a page that is one file; undefined: sdm web is asked.
export const kept = globalThis.sdmData;

// answerOf returns an answer of one file, as the session of its hang file gives it.
function answerOf(path, body) {
  const events = { "info hosts": kept.hosts }[body?.command];
  if (path !== "call") return kept[path];
  if (body.command === "stacks") return kept.stacks;
  if (events) return { text: "", events };
  throw new Error("the job is not here: this is a file");
}

// enter exchanges the token of the link for a key, which this tab keeps; a tab that is loaded anew has its key.
export async function enter() {
  const token = location.hash.slice(1);
  if (token === "") return;
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("api/key", { method: "POST", body: JSON.stringify({ token }) });
  const body = await answer.json();
  if (answer.ok) sessionStorage.setItem(keyName, body.key);
  else if (!sessionStorage.getItem(keyName)) throw new Error(body.error);
}

const headers = () => ({ Authorization: `Bearer ${sessionStorage.getItem(keyName) ?? ""}` });

// ask returns an answer, or throws an error with what sdm says. An error has closed set if the key is not valid.
export async function ask(path, body) {
  if (kept) return answerOf(path, body);
  const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(`api/${path}`, { ...post, headers: headers() });
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.error), { closed: answer.status === 401 });
  return said;
}

// follow calls take with the events of each piece of the stream until the session has ended, and tell with the state of
// the connection: true, or the error. A stream that breaks is resumed where it broke.
export async function follow(take, tell) {
  let after = "", pause = 250;
  for (;;) {
    try {
      const answer = await fetch(`api/events${after}`, { headers: headers() });
      if (!answer.ok) throw Object.assign(new Error((await answer.json()).error), { closed: answer.status === 401 });
      tell(true);
      const split = splitter();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        pause = 250;
        const events = split(value).map((line) => JSON.parse(line));
        for (const e of events) if (e.cursor !== undefined && e.event === undefined) after = `?after=${e.cursor}`;
        take(events);
        if (events.some((e) => e.over)) return;
      }
      throw new Error("the connection was cut");
    } catch (error) {
      tell(error);
      if (error.closed) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(5000, pause * 2);
  }
}
