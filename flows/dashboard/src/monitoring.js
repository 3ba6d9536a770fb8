import { cells, standing } from './lib/classic.js';

/** The classic view for old bookmarks: everybody's latest, fetched again and again. No more than a table. */
const EVERY_MS = 1500;
const WAIT_MS = 2000; // so that silence is said to be that within five seconds
const body = document.querySelector('tbody');
const banner = document.querySelector('.simulated');
const status = document.querySelector('[role=status]');

/** @param {{text: string, level: string}} what */
function say({ text, level }) {
  if (status.textContent !== text) status.textContent = text;
  status.className = level;
  document.body.classList.toggle('old', level === 'down');
}

/** @param {string[][]} rows */
function show(rows) {
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
    const signal = AbortSignal.timeout(WAIT_MS);
    const [answer, health] = await Promise.all([fetch('/retrieveformonitoring', { signal }), fetch('/health', { signal })]);
    if (answer.status === 401) {
      location.assign('/login?next=/monitoring');
      return;
    }
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    const state = await health.json();
    show(told.data.map((one) => cells(one)));
    say(standing(state, told.data, Date.parse(answer.headers.get('date'))));
    banner.hidden = !(state.parts.building?.simulated > 0);
  } catch (error) {
    const why = error instanceof TypeError || error.name === 'TimeoutError' ? 'no connection to the server' : error.message;
    say({ level: 'down', text: `Not live: ${why}` });
  }
  setTimeout(refresh, EVERY_MS);
}
refresh();
