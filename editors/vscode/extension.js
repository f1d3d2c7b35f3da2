// The extension: it starts sdm dap, and shows what the debugger of VS Code has no place for.

const vscode = require('vscode');
const model = require('./model');
const { Panel } = require('./panel');

class Groups {
  constructor(panel) {
    this.panel = panel;
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
    this.rows = [];
    this.verdict = [];
    this.states = [];
  }
  getChildren(row) { return row ? [] : this.rows; }
  getTreeItem(row) {
    const item = new vscode.TreeItem(row.label);
    item.description = row.description;
    item.tooltip = `${row.label} ${row.description}`;
    item.iconPath = new vscode.ThemeIcon(row.icon);
    if (!row.ranks) return item;
    item.contextValue = 'group';
    item.command = { command: 'sdm.focus', title: 'focus', arguments: [row.ranks] };
    return item;
  }
  async refresh(session) {
    try {
      const answer = await session.customRequest('sdm/states');
      this.states = answer.states;
      this.rows = model.rows(answer.states, this.verdict);
      this.focus.text = `$(target) focus [${model.brief(answer.focus)}]`;
      this.focus.show();
      this.panel.post({ type: 'states', ...answer });
    } catch {
      this.over(); // there is no session any more
    }
    this.changed.fire();
  }
  over() {
    this.rows = [];
    this.states = [];
    this.verdict = [];
    this.focus.hide();
    this.panel.post({ type: 'over' });
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

// events are those after which the ranks are looked at again.
const events = ['stopped', 'continued', 'thread', 'exited', 'terminated', 'sdm/focus'];

function activate(context) {
  const panel = new Panel(context.extensionUri, (type, text) => act(type, text));
  const groups = new Groups(panel);
  groups.focus = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  groups.focus.command = 'sdm.focus';
  groups.focus.tooltip = 'sdm: the ranks that continue and pause are for';
  const on = (name, f) => context.subscriptions.push(vscode.commands.registerCommand(name, async (...args) => {
    try { await f(...args); } catch (e) { vscode.window.showErrorMessage(`sdm: ${e.message}`); }
  }));
  const config = () => vscode.workspace.getConfiguration('sdm');
  context.subscriptions.push(
    groups.focus,
    vscode.window.registerTreeDataProvider('sdm.groups', groups),
    vscode.debug.registerDebugConfigurationProvider('sdm', {
      resolveDebugConfiguration: (_, wanted) => model.configuration(wanted, config().get('through')),
    }),
    vscode.debug.registerDebugAdapterDescriptorFactory('sdm', {
      createDebugAdapterDescriptor() {
        const { program, args } = model.command(config().get('path'), config().get('through'));
        return new vscode.DebugAdapterExecutable(program, args);
      },
    }),
    vscode.debug.registerDebugAdapterTrackerFactory('sdm', {
      createDebugAdapterTracker: (s) => ({
        onDidSendMessage(m) {
          if (m.type !== 'event' || !events.includes(m.event)) return;
          if (m.event === 'continued') groups.verdict = [];
          clearTimeout(groups.soon);
          groups.soon = setTimeout(() => groups.refresh(s), 100);
        },
      }),
    }),
    vscode.debug.onDidTerminateDebugSession((s) => {
      if (s.type !== 'sdm') return;
      clearTimeout(groups.soon);
      const other = vscode.debug.activeDebugSession;
      if (other && other.type === 'sdm' && other !== s) groups.refresh(other);
      else groups.over();
    }),
  );

  async function stacks() {
    const answer = await session().customRequest('sdm/stackTree');
    panel.post({ type: 'stacks', ...answer });
    return answer;
  }
  async function waits() {
    const s = session();
    const answer = await s.customRequest('sdm/waits');
    groups.verdict = answer.verdict || [];
    panel.post({ type: 'stacks', ...answer });
    await groups.refresh(s);
    return answer;
  }
  async function stat(expression) {
    const item = vscode.debug.activeStackItem;
    const answer = await session().customRequest('sdm/stat', { expression, frameId: item && item.frameId });
    panel.post({ type: 'stat', expression, ...answer });
  }
  async function focus(set) {
    await session().customRequest('sdm/focus', { set });
    await groups.refresh(session());
  }
  // act does what the user wants in the panel.
  async function act(type, text) {
    try {
      if (type === 'look') await stacks();
      else if (type === 'waits') await waits();
      else if (type === 'stat' && text) await stat(text);
      else if (type === 'focus' && text) await focus(text);
    } catch (e) {
      panel.post({ type: 'error', text: e.message });
    }
  }
  const type = (prompt, placeHolder) => vscode.window.showInputBox({ prompt, placeHolder });

  on('sdm.focus', async (ranks) => {
    session();
    let set = ranks;
    if (!set) {
      const picked = await vscode.window.showQuickPick(model.choices(groups.states), { placeHolder: 'the ranks that continue and pause are for' });
      set = picked && (picked.set || await type('Which ranks?', 'all, 0-3, @stopped'));
    }
    if (set) await focus(set);
  });
  on('sdm.panel', async () => {
    panel.show();
    const s = vscode.debug.activeDebugSession;
    if (s && s.type === 'sdm') await groups.refresh(s);
  });
  on('sdm.stackTree', async () => show('Stacks', await stacks()));
  on('sdm.waits', async () => show('Why the ranks do not go on', await waits()));
  on('sdm.stat', async () => {
    const expression = await type('Which expression?');
    if (!expression) return;
    panel.show();
    await stat(expression);
  });
  on('sdm.pin', async (row) => {
    const s = session();
    const ranks = (row && row.ranks) || await type('Which rank, in a session of its own?', '3');
    if (ranks) await s.customRequest('sdm/pin', { ranks });
  });
}

module.exports = { activate, deactivate() {} };
