import { cells, pageStatus } from './lib/classic.js';

/** The classic view for old bookmarks: a table with the latest location of everybody, polled. */
const POLL_MS = 1500;
const TIMEOUT_MS = 2000; // an outage is shown within five seconds
const body = document.querySelector('tbody');
const banner = document.querySelector('.simulated');
const status = document.querySelector('[role=status]');

/** @param {{text: string, level: string}} what */
function showStatus({ text, level }) {
  if (status.textContent !== text) status.textContent = text;
  status.className = level;
  document.body.classList.toggle('old', level === 'down');
}

/** @param {string[][]} rows */
function showRows(rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((texts, i) => {
    const row = body.rows[i] ?? body.insertRow();
    texts.forEach((text, j) => {
      const cell = row.cells[j] ?? row.insertCell();
      if (cell.textContent !== text) cell.textContent = text;
    });
  });
}

async function refresh() {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const [answer, health] = await Promise.all([fetch('/retrieveformonitoring', { signal }), fetch('/health', { signal })]);
    if (answer.status === 401) {
      location.assign('/login?next=/monitoring');
      return;
    }
    const latest = await answer.json();
    if (!answer.ok) throw new Error(latest.error);
    const state = await health.json();
    showRows(latest.data.map((one) => cells(one)));
    showStatus(pageStatus(state, latest.data, Date.parse(answer.headers.get('date'))));
    banner.hidden = !(state.parts.building?.simulated > 0);
  } catch (error) {
    const why = error instanceof TypeError || error.name === 'TimeoutError' ? 'no connection to the server' : error.message;
    showStatus({ level: 'down', text: `Not live: ${why}` });
  }
  setTimeout(refresh, POLL_MS);
}
refresh();
