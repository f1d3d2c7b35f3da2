// A conversation by the client with which VS Code's own debug adapters are tested: node testsupport.js, with SDM=program.

const assert = require('assert');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

async function talk() {
  const client = new DebugClient(process.env.SDM || 'sdm', 'dap', 'sdm');
  await client.start();
  await Promise.all([
    client.launch({ sim: true, np: 8, stopOnEntry: true }),
    client.waitForEvent('initialized')
      .then(() => client.setBreakpointsRequest({ source: { path: 'work.c' }, breakpoints: [{ line: 22 }] }))
      .then((set) => assert.strictEqual(set.body.breakpoints[0].verified, true))
      .then(() => client.configurationDoneRequest()),
    client.waitForEvent('stopped').then((e) => assert.strictEqual(e.body.reason, 'entry')),
  ]);
  const { threads } = (await client.threadsRequest()).body;
  assert.deepStrictEqual(threads.map((t) => t.name), ['[0-7] (8) main work.c:20']);
  const [stopped] = await Promise.all([
    client.waitForEvent('stopped'), client.continueRequest({ threadId: threads[0].id }),
  ]);
  assert.strictEqual(stopped.body.reason, 'breakpoint');
  const [frame] = (await client.stackTraceRequest({ threadId: stopped.body.threadId })).body.stackFrames;
  assert.strictEqual(frame.line, 22);
  await assert.rejects(client.send('nonsense'), /sdm has no request "nonsense"/);
  await client.stop();
}

talk().then(() => console.log('ok'), (e) => { console.error(e); process.exit(1); });
