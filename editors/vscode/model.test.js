// Tests of the extension against a small model of VS Code: node --test.

const test = require('node:test');
const assert = require('node:assert');
const Module = require('node:module');
const model = require('./model');

test('the verdict comes first, then the states with their ranks', () => {
  const rows = model.rows(
    [{ ranks: '0-2', n: 3, state: 'stopped', func: 'solve', where: '/home/me/a.c:5', reason: 'breakpoint-hit' },
      { ranks: '3', n: 1, state: 'signalled', signal: 'SIGSEGV' }],
    [{ kind: 'deadlock', certain: true, text: '0-2 wait for 3' }]);
  assert.deepStrictEqual(rows.map((r) => `${r.label} ${r.description}`), [
    'certain: deadlock 0-2 wait for 3', '[0-2] (3) stopped, solve a.c:5, breakpoint-hit', '[3] signalled, SIGSEGV']);
});

test('the adapter is started, also through ssh', () => {
  assert.deepStrictEqual(model.command('/opt/sdm', []), { program: '/opt/sdm', args: ['dap'] });
  assert.deepStrictEqual(model.command('sdm', ['ssh', '-T', 'login']), { program: 'ssh', args: ['-T', 'login', 'sdm', 'dap'] });
});

// editor is a model of the parts of VS Code that the extension uses.
function editor(answers) {
  const seen = { commands: {}, asked: [], shown: [], errors: [], status: { show() {}, hide() {} } };
  class EventEmitter { constructor() { this.event = () => {}; } fire() { seen.fired = true; } }
  class TreeItem { constructor(label) { this.label = label; } }
  class ThemeIcon { constructor(id) { this.id = id; } }
  seen.debug = {};
  class DebugAdapterExecutable { constructor(program, args) { Object.assign(this, { program, args }); } }
  seen.session = { type: 'sdm', async customRequest(name, args) { seen.asked.push([name, args]); return answers[name]; } };
  seen.api = {
    EventEmitter, TreeItem, ThemeIcon, DebugAdapterExecutable, StatusBarAlignment: { Left: 1 }, ViewColumn: { Beside: -2 },
    Uri: { joinPath: (base, ...names) => [base, ...names].join('/') },
    window: {
      createStatusBarItem: () => seen.status, registerTreeDataProvider: (_, p) => { seen.tree = p; },
      showInputBox: async () => seen.typed,
      showQuickPick: async (items) => { seen.offered = items; return items.find((i) => i.label === seen.picked); },
      createWebviewPanel: (...args) => seen.newPanel(args), showErrorMessage: (m) => seen.errors.push(m), showTextDocument: async () => {},
    },
    workspace: {
      getConfiguration: () => ({ get: (k) => ({ path: 'sdm', through: [] })[k] }),
      openTextDocument: async (d) => { seen.shown.push(d.content); return d; },
    },
    commands: { registerCommand: (name, f) => { seen.commands[name] = f; } },
    debug: {
      activeDebugSession: seen.session, registerDebugAdapterDescriptorFactory: (_, f) => { seen.factory = f; },
      registerDebugAdapterTrackerFactory: (_, f) => { seen.tracker = f; },
      registerDebugConfigurationProvider: (_, p) => { seen.provider = p; },
      onDidTerminateDebugSession: (f) => { seen.terminate = f; },
    },
  };
  seen.newPanel = (args) => {
    const page = { args, posted: [], webview: {
      cspSource: 'SOURCE', asWebviewUri: (u) => `web:${u}`, postMessage: (m) => page.posted.push(m),
      onDidReceiveMessage: (f) => { page.send = f; },
    }, reveal() { page.revealed = true; }, onDidDispose: (f) => { page.close = f; } };
    return (seen.page = page);
  };
  const load = Module._load;
  Module._load = (name, ...rest) => (name === 'vscode' ? seen.api : load(name, ...rest));
  for (const name of ['./extension', './panel']) delete require.cache[require.resolve(name)];
  require('./extension').activate({ subscriptions: [], extensionUri: 'ext' });
  Module._load = load;
  return seen;
}

const states = { focus: '0-3', states: [{ ranks: '0-3', n: 4, state: 'running' }] };

test('the extension names the adapter', () => {
  const e = editor({});
  assert.deepStrictEqual({ ...e.factory.createDebugAdapterDescriptor() }, { program: 'sdm', args: ['dap'] });
});

test('waits shows the verdict, and puts it on top of the ranks', async () => {
  const e = editor({ 'sdm/waits': { text: 'certain: deadlock', verdict: [{ kind: 'deadlock', certain: true, text: 'x' }] }, 'sdm/states': states });
  await e.commands['sdm.waits']();
  assert.match(e.shown[0], /certain: deadlock/);
  assert.deepStrictEqual(e.tree.getChildren().map((r) => e.tree.getTreeItem(r).label), ['certain: deadlock', '[0-3] (4)']);
});

test('the focus is chosen by a row, picked in the status bar, or typed', async () => {
  const e = editor({ 'sdm/states': states });
  await e.commands['sdm.focus']('2');
  e.picked = 'a set...';
  e.typed = '@stopped';
  await e.commands['sdm.focus']();
  assert.deepStrictEqual(e.offered.map((i) => i.label), ['all ranks', '[0-3]', 'a set...']);
  assert.deepStrictEqual(e.asked.filter(([n]) => n === 'sdm/focus').map(([, a]) => a.set), ['2', '@stopped']);
  assert.strictEqual(e.status.text, '$(target) focus [0-3]');
});

test('an error is shown', async () => {
  const e = editor({});
  e.session.customRequest = async () => { throw new Error('no rank stands'); };
  e.typed = 'x';
  await e.commands['sdm.stackTree']();
  assert.deepStrictEqual(e.errors, ['sdm: no rank stands']);
});

test('what happens in the session is shown in the tree, and after it nothing', async () => {
  const e = editor({ 'sdm/states': states });
  const tracker = e.tracker.createDebugAdapterTracker(e.session);
  tracker.onDidSendMessage({ type: 'event', event: 'stopped' });
  await new Promise((done) => { e.tree.onDidChangeTreeData = done; e.tree.changed.fire = done; });
  assert.deepStrictEqual(e.tree.getChildren().map((r) => e.tree.getTreeItem(r).contextValue), ['group']);
  e.terminate(e.session);
  assert.deepStrictEqual(e.tree.getChildren(), []);
});

test('ranks get a session of their own only if the user asks', async () => {
  const e = editor({ 'sdm/states': states, 'sdm/pin': {} });
  await e.commands['sdm.pin']({ ranks: '2' });
  e.typed = '3';
  await e.commands['sdm.pin']();
  e.typed = undefined;
  await e.commands['sdm.pin']();
  assert.deepStrictEqual(e.asked.map(([n, a]) => [n, a.ranks]), [['sdm/pin', '2'], ['sdm/pin', '3']]);
});

test('a terminal is opened where the adapter runs', () => {
  const config = { console: 'integratedTerminal' };
  assert.deepStrictEqual(model.configuration(config, []), config);
  assert.deepStrictEqual(model.configuration(config, ['ssh', '-T', 'login']).terminal, ['ssh', '-t', 'login']);
});

test('the panel shows states, stacks and values, and does what is clicked', async () => {
  const stat = { text: 'x', columns: [{ value: { count: 4, distinct: 1, values: [{ value: '7', ranks: '0-3' }] } }] };
  const e = editor({ 'sdm/states': states, 'sdm/stackTree': { text: 't', stack: [] }, 'sdm/stat': stat, 'sdm/focus': {} });
  await e.commands['sdm.panel']();
  const { webview } = e.page;
  assert.match(webview.html, /content="default-src 'none'; script-src 'nonce-([A-Za-z0-9+/]{24})'; style-src SOURCE"/);
  assert.match(webview.html, /<script type="module" nonce="[A-Za-z0-9+/]{24}" src="web:ext\/view\/view.js">/);
  assert.deepStrictEqual(e.page.args[3], { enableScripts: true, localResourceRoots: ['ext/view'] });
  e.page.send({ type: 'ready' });
  await e.page.send({ type: 'look' });
  await e.page.send({ type: 'stat', text: 'x' });
  await e.page.send({ type: 'focus', text: '0-1' });
  for (const nonsense of [null, 7, {}, { type: 'focus', text: 5 }, { type: 'quit', text: 'x' }]) await e.page.send(nonsense);
  await new Promise(setImmediate);
  assert.deepStrictEqual(e.asked.map(([n]) => n), ['sdm/states', 'sdm/stackTree', 'sdm/stat', 'sdm/focus', 'sdm/states']);
  assert.deepStrictEqual(e.page.posted.map((m) => m.type), ['states', 'states', 'stacks', 'stat', 'states']);
  await e.commands['sdm.panel']();
  assert.ok(e.page.revealed);
  e.page.close();
  await e.commands['sdm.panel'](); // a new one
  assert.ok(!e.page.revealed);
  e.session.customRequest = async () => { throw new Error('no rank stands'); };
  await e.page.send({ type: 'look' });
  await new Promise(setImmediate);
  assert.deepStrictEqual(e.page.posted.at(-1), { type: 'error', text: 'no rank stands' });
});

test('values are drawn by rank, or by steps', async () => {
  const { bars, size, widths } = await import('./view/plot.js');
  const few = bars({ count: 4, distinct: 2, min: { value: 1, rank: 3 }, values: [{ value: '10', ranks: '0-2' }, { value: '9', ranks: '3' }] });
  assert.deepStrictEqual(few.bars, [{ label: '9', count: 1, ranks: '3' }, { label: '10', count: 3, ranks: '0-2' }]);
  assert.ok(few.facts.includes('min 1 (rank 3)'));
  const many = bars({ count: 100, distinct: 100, histogram: [{ from: 0, to: 0.5, count: 60 }, { from: 0.5, to: 1, count: 40 }] });
  assert.deepStrictEqual(many.bars.map((b) => b.label), ['0 to 0.5', '0.5 to 1']);
  assert.strictEqual(size('0,2,4-6,...+1000'), 1005);
  assert.deepStrictEqual(widths([{ count: 100 }, { count: 1 }, { count: 0 }], 50), [50, 2, 0]);
  assert.deepStrictEqual(bars({}).bars, []);
});

test('states become runs for the grid', async () => {
  const { runsOf } = await import('./view/cells.js');
  const { parse } = await import('../../master/frontend/web/page/runs.mjs');
  const groups = [{ ranks: '0-2,5' }, { ranks: '3,8' }, { ranks: '' }];
  assert.deepStrictEqual(runsOf(groups, parse), { lengths: [3, 1, 1, 1, 2, 1], groups: [1, 2, 0, 1, 0, 2], end: 9 });
});

// What VS Code's schema of package.json requires of the contributions that are here (docs/editors.md).
test('package.json is what VS Code expects', () => {
  const p = require('./package.json');
  const { contributes: c } = p;
  const commands = new Set(c.commands.map((x) => x.command));
  for (const x of c.commands) assert.ok(x.command.startsWith('sdm.') && x.title && (!x.icon || /^\$\([a-z-]+\)$/.test(x.icon)), x.command);
  for (const [place, items] of Object.entries(c.menus)) {
    assert.ok(['view/title', 'view/item/context', 'commandPalette', 'editor/context'].includes(place), place);
    for (const item of items) assert.ok(commands.has(item.command), item.command);
  }
  const e = editor({});
  assert.deepStrictEqual(Object.keys(e.commands).sort(), [...commands].sort());
  for (const view of c.views.debug) assert.ok(view.id && view.name);
  const known = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
  const check = (name, s) => {
    for (const type of [s.type].flat()) assert.ok(known.has(type), `${name}: type ${type}`);
    assert.ok(s.description, `${name}: description`);
    if ([s.type].flat().includes('array')) assert.ok(s.items, `${name}: items`);
  };
  for (const [name, s] of Object.entries(c.configuration.properties)) check(name, s);
  for (const d of c.debuggers) {
    const fields = ['type', 'label', 'program', 'args', 'runtime', 'runtimeArgs', 'variables', 'initialConfigurations', 'languages',
      'adapterExecutableCommand', 'configurationSnippets', 'configurationAttributes', 'windows', 'osx', 'linux'];
    assert.deepStrictEqual(Object.keys(d).filter((x) => !fields.includes(x)), []);
    assert.ok(d.type && d.label && Object.keys(d.configurationAttributes).every((x) => ['launch', 'attach'].includes(x)));
    for (const [request, { properties }] of Object.entries(d.configurationAttributes)) {
      for (const [name, s] of Object.entries(properties)) check(`${request}.${name}`, s);
    }
    for (const { label, body } of d.configurationSnippets) {
      assert.ok(label && body.name && body.type === d.type, label);
      const { properties } = d.configurationAttributes[body.request];
      for (const name of Object.keys(body)) assert.ok(['type', 'request', 'name'].includes(name) || properties[name], `${label}: ${name}`);
    }
  }
  for (const b of c.breakpoints) assert.ok(b.language);
  assert.match(p.engines.vscode, /^\^1\.\d+\.\d+$/);
  assert.ok(p.name && p.publisher && /^\d+\.\d+\.\d+$/.test(p.version) && require('node:fs').existsSync(require('node:path').join(__dirname, p.main)));
});
