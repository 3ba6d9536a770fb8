import { cells } from './lib/classic.js';

/** The classic view for old bookmarks: everybody's latest, fetched again and again. No more than a table. */
const EVERY_MS = 2000;
const WAIT_MS = 4000;
const body = document.querySelector('tbody');
const status = document.querySelector('[role=status]');

/** @param {string} text @param {boolean} down */
function say(text, down) {
  if (status.textContent !== text) status.textContent = text;
  status.classList.toggle('down', down);
  document.body.classList.toggle('old', down);
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
    const answer = await fetch('/retrieveformonitoring', { signal: AbortSignal.timeout(WAIT_MS) });
    if (answer.status === 401) {
      location.assign('/login?next=/monitoring');
      return;
    }
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    show(told.data.map((one) => cells(one)));
    say(`Live, ${told.data.length} staff in the last 15 minutes`, false);
  } catch (error) {
    say(`Not live: ${error instanceof TypeError || error.name === 'TimeoutError' ? 'no connection to the server' : error.message}`, true);
  }
  setTimeout(refresh, EVERY_MS);
}
refresh();
