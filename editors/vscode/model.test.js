// Tests of the extension against a small model of VS Code: node --test.

const test = require('node:test');
const assert = require('node:assert');
const Module = require('node:module');
const model = require('./model');

test('the verdict comes first, then the states with their ranks', () => {
  const rows = model.rows(
    [{ ranks: '0-2', n: 3, state: 'stopped', func: 'solve', where: 'a.c:5', reason: 'breakpoint-hit' },
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
  class DebugAdapterExecutable { constructor(program, args) { Object.assign(this, { program, args }); } }
  seen.session = { type: 'sdm', async customRequest(name, args) { seen.asked.push([name, args]); return answers[name]; } };
  seen.api = {
    EventEmitter, TreeItem, ThemeIcon, DebugAdapterExecutable, StatusBarAlignment: { Left: 1 },
    window: {
      createStatusBarItem: () => seen.status, registerTreeDataProvider: (_, p) => { seen.tree = p; },
      showInputBox: async () => seen.typed, showErrorMessage: (m) => seen.errors.push(m), showTextDocument: async () => {},
    },
    workspace: {
      getConfiguration: () => ({ get: (k) => ({ path: 'sdm', through: [] })[k] }),
      openTextDocument: async (d) => { seen.shown.push(d.content); return d; },
    },
    commands: { registerCommand: (name, f) => { seen.commands[name] = f; } },
    debug: {
      activeDebugSession: seen.session, registerDebugAdapterDescriptorFactory: (_, f) => { seen.factory = f; },
      registerDebugAdapterTrackerFactory: (_, f) => { seen.tracker = f; }, onDidTerminateDebugSession: () => {},
    },
  };
  const load = Module._load;
  Module._load = (name, ...rest) => (name === 'vscode' ? seen.api : load(name, ...rest));
  delete require.cache[require.resolve('./extension')];
  require('./extension').activate({ subscriptions: [] });
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

test('the focus is chosen by a row, or typed', async () => {
  const e = editor({ 'sdm/states': states });
  await e.commands['sdm.focus']('2');
  e.typed = '@stopped';
  await e.commands['sdm.focus']();
  assert.deepStrictEqual(e.asked.filter(([n]) => n === 'sdm/focus').map(([, a]) => a.set), ['2', '@stopped']);
  assert.strictEqual(e.status.text, '$(target) focus [0-3]');
});

test('an error is shown', async () => {
  const e = editor({});
  e.session.customRequest = async () => { throw new Error('no rank stands'); };
  e.typed = 'x';
  await e.commands['sdm.stat']();
  assert.deepStrictEqual(e.errors, ['sdm: no rank stands']);
});
