/** @file A folder that looks like MiniWoB++ to our loader, all of it our own: a tiny core and three small tasks. */

const core = `
var core = { EPISODE_MAX_TIME: 10000, EP_TIMER: null, cover_div: null };
var WOB_DONE_GLOBAL = false, WOB_RAW_REWARD_GLOBAL = 0, WOB_REWARD_GLOBAL = 0, WOB_EPISODE_ID = 0;
Math.seedrandom = function (seed) {
  var state = Math.imul(seed + 1, 2654435761) >>> 0;
  Math.random = function () { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 4294967296; };
};
core.startEpisode = function () {
  core.cover_div = document.createElement('div');
  core.cover_div.id = 'sync-task-cover';
  document.body.appendChild(core.cover_div);
};
core.startEpisodeReal = function () {
  core.cover_div.style.display = 'none';
  WOB_DONE_GLOBAL = false; WOB_RAW_REWARD_GLOBAL = 0;
  genProblem();
  core.EP_TIMER = setTimeout(function () { core.endEpisode(-1); }, core.EPISODE_MAX_TIME);
};
core.endEpisode = function (reward) {
  if (core.EP_TIMER === null) return;
  clearTimeout(core.EP_TIMER); core.EP_TIMER = null;
  WOB_RAW_REWARD_GLOBAL = reward; WOB_REWARD_GLOBAL = reward * 0.5; WOB_DONE_GLOBAL = true; WOB_EPISODE_ID++;
};
var closing = '</script>';
`;

const page = (script: string, area: string): string => `<!DOCTYPE html>
<html><head><title>Task</title>
<script src="../core/core.js"></script>
<link rel="stylesheet" href="../core/core.css">
<link rel="icon" href="../favicon.ico">
<script>${script}
window.onload = function () { core.startEpisode(); };
</script></head>
<body><div id="wrap"><div id="query"></div><div id="area">${area}</div></div></body></html>`;

const clickPage = page(
  `var genProblem = function () {
    var names = ['ONE', 'TWO'];
    var wanted = names[Math.floor(Math.random() * 2)];
    document.getElementById('query').textContent = 'Click button ' + wanted + '.';
    document.querySelectorAll('button').forEach(function (button) {
      button.onclick = function () { core.endEpisode(button.textContent === wanted ? 1 : -1); };
    });
  };`,
  '<button>ONE</button><button>TWO</button>',
);

const formPage = page(
  `var genProblem = function () {
    document.getElementById('query').textContent = 'Enter "kite", choose Blue, tick the box and press Enter there.';
    document.getElementById('name').addEventListener('keydown', function (event) {
      var good = this.value === 'kite' && document.getElementById('colour').value === 'b' && document.getElementById('tick').checked;
      if (event.key === 'Enter') core.endEpisode(good ? 1 : -1);
    });
  };`,
  `<p>Form</p><select id="colour"><option value="r">Red</option><option value="b">Blue</option></select>
   <input type="checkbox" id="tick"><label for="tick">Agreed</label> <input type="text" id="name"> <span style="display:none">unseen</span>`,
);

/** Tries everything that a page must not be able to do, and says on its buttons what came of it. */
const hostilePage = page(
  `var genProblem = function () {
    var said = [];
    var attempt = function (name, run) {
      try { run(); said.push(name + ' open'); } catch (error) { said.push(name + ' closed'); }
    };
    attempt('storage', function () { localStorage.setItem('a', 'b'); });
    attempt('cookie', function () { document.cookie = 'a=b'; });
    attempt('parent', function () { parent.document.body.innerHTML = 'gone'; });
    attempt('top', function () { top.location.href = 'http://leak.example/top'; });
    attempt('popup', function () { if (!window.open('http://leak.example/popup')) throw new Error(); });
    attempt('peer', function () { new RTCPeerConnection(); });
    new Image().src = 'http://leak.example/image';
    var script = document.createElement('script'); script.src = 'http://leak.example/script'; document.body.appendChild(script);
    fetch('http://leak.example/fetch').catch(function () {});
    try { new WebSocket('ws://leak.example/'); } catch (error) {}
    navigator.sendBeacon && navigator.sendBeacon('http://leak.example/beacon');
    document.getElementById('query').textContent = said.join(', ');
  };`,
  '<button onclick="location.href=\'http://leak.example/self\'">Leave</button><button onclick="for(;;){}">Hang</button>',
);

export const miniwobFolder: ReadonlyMap<string, string> = new Map([
  ['html/core/core.js', core],
  ['html/core/core.css', '#query { font-weight: bold } button { width: 80px; height: 20px }'],
  ['html/miniwob/click-one.html', clickPage],
  ['html/miniwob/small-form.html', formPage],
  ['html/miniwob/hostile.html', hostilePage],
  ['html/index.html', '<h1>List of tasks</h1>'],
]);
