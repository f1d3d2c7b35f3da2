// What the views show, from the answers of sdm dap; without VS Code.

// rows returns the rows of the view of groups: the verdict on top, then each state with its ranks.
function rows(states, verdict) {
  const out = (verdict || []).map((f) => ({
    label: (f.certain ? 'certain: ' : 'so far: ') + f.kind, description: f.text, icon: 'warning',
  }));
  for (const s of states) {
    const why = s.signal || s.reason || (s.code !== undefined ? `code ${s.code}` : '') || s.cause || '';
    out.push({
      label: `[${brief(s.ranks)}]` + (s.n > 1 ? ` (${s.n})` : ''),
      description: [s.state, place(s), why].filter(Boolean).join(', '),
      icon: icons[s.state] || 'circle-outline', ranks: s.ranks,
    });
  }
  return out;
}

const icons = {
  stopped: 'debug-pause', running: 'debug-start', watched: 'eye', exited: 'check', signalled: 'error', lost: 'debug-disconnect',
};

// place returns where ranks are; of a path the name alone.
function place(s) {
  return [s.func, s.where && s.where.split('/').at(-1)].filter(Boolean).join(' ');
}

// brief cuts the text of a long set.
function brief(set) {
  return set.length > 40 ? `${set.slice(0, 40)}...` : set;
}

// choices returns what may be picked as the focus; the one without a set is to be typed.
function choices(states) {
  const groups = (states || []).slice(0, 50).map((s) => ({
    label: `[${brief(s.ranks)}]`, description: `${s.state} ${place(s)}`, set: s.ranks,
  }));
  return [{ label: 'all ranks', set: 'all' }, ...groups, { label: 'a set...', description: '0-3,8 or @stopped' }];
}

// configuration completes a configuration: a terminal is opened where the adapter runs.
function configuration(wanted, through) {
  const words = through || [];
  if (words.length === 0 || wanted.terminal) return wanted;
  return { ...wanted, terminal: words.map((w) => (w === '-T' ? '-t' : w)) };
}

// command returns what starts the adapter.
function command(path, through) {
  const words = [...(through || []), path || 'sdm', 'dap'];
  return { program: words[0], args: words.slice(1) };
}

// text returns an answer of sdm as a page: what the console would write.
function page(title, answer) {
  return `# ${title}\n\n${answer.text || '(nothing)'}`;
}

module.exports = { rows, brief, choices, configuration, command, page };
