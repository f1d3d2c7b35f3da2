// What the views show, from the answers of sdm dap; without VS Code.

// rows returns the rows of the view of groups: the verdict on top, then each state with its ranks.
function rows(states, verdict) {
  const out = (verdict || []).map((f) => ({
    label: (f.certain ? 'certain: ' : 'so far: ') + f.kind, description: f.text, icon: 'warning',
  }));
  for (const s of states) {
    const where = [s.func, s.where].filter(Boolean).join(' ');
    const why = s.signal || s.reason || (s.code !== undefined ? `code ${s.code}` : '') || s.cause || '';
    out.push({
      label: `[${s.ranks}]` + (s.n > 1 ? ` (${s.n})` : ''),
      description: [s.state, where, why].filter(Boolean).join(', '),
      icon: icons[s.state] || 'circle-outline', ranks: s.ranks,
    });
  }
  return out;
}

const icons = {
  stopped: 'debug-pause', running: 'debug-start', watched: 'eye', exited: 'check', signalled: 'error', lost: 'debug-disconnect',
};

// command returns what starts the adapter.
function command(path, through) {
  const words = [...(through || []), path || 'sdm', 'dap'];
  return { program: words[0], args: words.slice(1) };
}

// text returns an answer of sdm as a page: what the console would write.
function page(title, answer) {
  return `# ${title}\n\n${answer.text || '(nothing)'}`;
}

module.exports = { rows, command, page };
