// The panel: a page with the ranks, the merged stacks and a plot of values. What it shows comes from sdm, as messages;
// the page shows it as text, runs only the scripts of this extension, and loads nothing from elsewhere.

const crypto = require('node:crypto');
const vscode = require('vscode');

// page returns the HTML of the page. uri gives the address of a file of the folder view.
function page(uri, source, nonce) {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${source}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>sdm</title>
<link rel="stylesheet" href="${uri('view.css')}">
</head>
<body>
<p id="said" role="status">no session of sdm</p>
<section aria-labelledby="ranks-head">
<h2 id="ranks-head">Ranks</h2>
<p id="summary"></p>
<canvas id="grid" tabindex="0" role="img" aria-describedby="at"></canvas>
<p id="at" role="status">a click, or arrows and Enter, make the group of a rank the focus</p>
<table id="groups"><tbody></tbody></table>
</section>
<section aria-labelledby="stacks-head">
<h2 id="stacks-head">Stacks</h2>
<p><button id="look" type="button">Look at the stacks</button> <button id="waits" type="button">Why do they not go on?</button></p>
<ul id="verdict"></ul>
<div id="icicle"></div>
</section>
<section aria-labelledby="values-head">
<h2 id="values-head">Values over the ranks</h2>
<form id="ask"><label for="expr">Statistics of</label> <input id="expr" spellcheck="false"> <button>Show</button></form>
<div id="plot"></div>
</section>
<script type="module" nonce="${nonce}" src="${uri('view.js')}"></script>
</body>
</html>
`;
}

// Panel is the panel, which may be open or not. act is called with what the user does there.
class Panel {
  constructor(root, act) {
    this.root = vscode.Uri.joinPath(root, 'view');
    this.act = act;
    this.latest = new Map(); // the last message of each type, for a page that is loaded anew
  }

  // show opens the panel, or brings it to the front.
  show() {
    if (this.panel) {
      this.panel.reveal();
      return;
    }
    this.panel = vscode.window.createWebviewPanel('sdm.panel', 'sdm: ranks', vscode.ViewColumn.Beside, {
      enableScripts: true, localResourceRoots: [this.root],
    });
    const { webview } = this.panel;
    webview.onDidReceiveMessage((m) => this.take(m));
    this.panel.onDidDispose(() => { this.panel = undefined; });
    const uri = (name) => webview.asWebviewUri(vscode.Uri.joinPath(this.root, name));
    webview.html = page(uri, webview.cspSource, crypto.randomBytes(18).toString('base64'));
  }

  // post shows something, now or when the panel is opened.
  post(message) {
    if (message.type === 'over') this.latest.clear();
    this.latest.set(message.type, message);
    if (this.panel) this.panel.webview.postMessage(message);
  }

  take(message) {
    if (!message || typeof message.type !== 'string') return;
    if (message.type === 'ready') {
      for (const m of this.latest.values()) this.panel.webview.postMessage(m);
      return;
    }
    this.act(message.type, typeof message.text === 'string' ? message.text : '');
  }
}

module.exports = { Panel, page };
