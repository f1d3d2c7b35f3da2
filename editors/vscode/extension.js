// The extension: it starts sdm dap, and shows what the debugger of VS Code has no place for.

const vscode = require('vscode');
const model = require('./model');

class Groups {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
    this.rows = [];
    this.verdict = [];
  }
  getChildren(row) { return row ? [] : this.rows; }
  getTreeItem(row) {
    const item = new vscode.TreeItem(row.label);
    item.description = row.description;
    item.tooltip = `${row.label} ${row.description}`;
    item.iconPath = new vscode.ThemeIcon(row.icon);
    if (row.ranks) item.command = { command: 'sdm.focus', title: 'focus', arguments: [row.ranks] };
    return item;
  }
  async refresh(session) {
    try {
      const answer = await session.customRequest('sdm/states');
      this.rows = model.rows(answer.states, this.verdict);
      this.focus.text = `$(target) focus [${answer.focus}]`;
      this.focus.show();
    } catch {
      this.rows = []; // there is no session any more
      this.focus.hide();
    }
    this.changed.fire();
  }
}

function session() {
  const s = vscode.debug.activeDebugSession;
  if (s && s.type === 'sdm') return s;
  throw new Error('no session of sdm');
}

async function show(title, answer) {
  const document = await vscode.workspace.openTextDocument({ content: model.page(title, answer) });
  await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
}

function activate(context) {
  const groups = new Groups();
  groups.focus = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  groups.focus.command = 'sdm.focus';
  groups.focus.tooltip = 'sdm: the ranks that continue and pause are for';
  const on = (name, f) => context.subscriptions.push(vscode.commands.registerCommand(name, async (...args) => {
    try { await f(...args); } catch (e) { vscode.window.showErrorMessage(`sdm: ${e.message}`); }
  }));
  context.subscriptions.push(
    groups.focus,
    vscode.window.registerTreeDataProvider('sdm.groups', groups),
    vscode.debug.registerDebugAdapterDescriptorFactory('sdm', {
      createDebugAdapterDescriptor() {
        const config = vscode.workspace.getConfiguration('sdm');
        const { program, args } = model.command(config.get('path'), config.get('through'));
        return new vscode.DebugAdapterExecutable(program, args);
      },
    }),
    vscode.debug.registerDebugAdapterTrackerFactory('sdm', {
      createDebugAdapterTracker: (s) => ({
        onDidSendMessage(m) {
          if (m.type !== 'event' || !['stopped', 'continued', 'thread', 'exited', 'terminated'].includes(m.event)) return;
          if (m.event === 'continued') groups.verdict = [];
          clearTimeout(groups.soon);
          groups.soon = setTimeout(() => groups.refresh(s), 100);
        },
      }),
    }),
    vscode.debug.onDidTerminateDebugSession((s) => { if (s.type === 'sdm') groups.refresh(s); }),
  );
  on('sdm.focus', async (ranks) => {
    const s = session();
    const set = ranks || await vscode.window.showInputBox({ prompt: 'Which ranks?', placeHolder: 'all, 0-3, @stopped' });
    if (!set) return;
    await s.customRequest('sdm/focus', { set });
    await groups.refresh(s);
  });
  on('sdm.stackTree', async () => show('Stacks', await session().customRequest('sdm/stackTree')));
  on('sdm.waits', async () => {
    const s = session();
    const answer = await s.customRequest('sdm/waits');
    groups.verdict = answer.verdict || [];
    await groups.refresh(s);
    await show('Why the ranks do not go on', answer);
  });
  on('sdm.stat', async () => {
    const expression = await vscode.window.showInputBox({ prompt: 'Which expression?' });
    const item = vscode.debug.activeStackItem;
    if (expression) await show(expression, await session().customRequest('sdm/stat', { expression, frameId: item && item.frameId }));
  });
}

module.exports = { activate, deactivate() {} };
