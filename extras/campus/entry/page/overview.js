import { about, clock, moment } from './times.js';

/**
 * The overview of a campus: numbers of every site, asked for again and again. The key that is typed here becomes a cookie that scripts
 * cannot read.
 */
const POLL_MS = 5000;
const TIMEOUT_MS = 12_000;
/** A login is in a cookie that scripts do not see: this says that there is one. */
const MARK = 'sda-campus-login';
/** What is complete up to less than this ago is complete. */
const RECENT_MS = 60_000;
const STATES = { up: 'Up', degraded: 'Degraded', away: 'No answer' };

const [status, login, overview, logout] = ['[role=status]', '#login', '#overview', '#logout'].map((at) => document.querySelector(at));
const fault = login.querySelector('[role=alert]');
/** Until when the figures on the page were good, epoch ms of this browser; null: there are none. */
let shownMs = null;
/** @type {number|undefined} */
let timer;
/** @type {Promise<boolean>|null} */
let asking = null;

/** @param {string} tag @param {string} [text] @param {string} [kind] a class */
function element(tag, text = '', kind = '') {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

/** @param {string} text @param {'good'|'warn'|'bad'|''} level */
function say(text, level) {
  if (status.textContent !== text) status.textContent = text;
  status.className = level;
}

/** @param {number} count @param {string} what */
const counted = (count, what) => `${count.toLocaleString('en-GB')} ${what}`;

/**
 * A number, and what there is to say about it.
 * @param {string} label @param {string} main @param {string} [aside] @param {string} [kind] a class
 */
function cell(label, main, aside = '', kind = '') {
  const made = element('td');
  made.dataset.label = label;
  const inside = element('div');
  inside.append(element('b', main, kind));
  if (aside) inside.append(element('small', aside));
  made.append(inside);
  return made;
}

const UNKNOWN = '–';

/** @param {{people: {present: number, stale: number}|null}} site */
const peopleCell = ({ people }) => (people === null ? cell('People', UNKNOWN)
  : cell('People', people.present.toLocaleString('en-GB'), people.stale > 0 ? `${people.stale} not heard lately` : ''));

/** @param {{gateways: Record<string, number>|null}} site */
function gatewaysCell({ gateways }) {
  if (gateways === null) return cell('Gateways', UNKNOWN);
  const { online, ...others } = gateways;
  const rest = Object.entries(others).filter(([, count]) => count > 0).map(([state, count]) => counted(count, state)).join(', ');
  return cell('Gateways', counted(online, 'online'), rest, others.offline + others.silent > 0 ? 'warn' : '');
}

/** @param {{alerts: {open: number, critical: number}|null}} site */
function alertsCell({ alerts }) {
  if (alerts === null) return cell('Open alerts', UNKNOWN);
  return cell('Open alerts', String(alerts.open), alerts.critical > 0 ? `${alerts.critical} critical` : '',
    alerts.critical > 0 ? 'bad' : alerts.open > 0 ? 'warn' : '');
}

/** @param {{complete_until_ms: number|null, status: string}} site @param {number} nowMs of the entry */
function completeCell({ complete_until_ms: ms, status: state }, nowMs) {
  if (ms === null) return cell('Complete until', UNKNOWN);
  if (state !== 'away' && ms > nowMs - RECENT_MS) return cell('Complete until', 'now');
  return cell('Complete until', moment(ms, nowMs), `${about(nowMs - ms)} ago`, 'warn');
}

/** @param {any} site @param {number} nowMs of the entry */
function rowOf(site, nowMs) {
  const row = element('tr', '', site.status);
  const name = element('th', site.site);
  name.scope = 'row';
  if (site.building) name.append(element('small', site.building));
  if (site.simulated) name.append(element('small', 'Simulated people', 'simulated'));
  const state = element('td');
  state.dataset.label = 'State';
  const inside = element('div');
  inside.append(element('span', STATES[site.status], `chip ${site.status}`));
  if (site.status !== 'up') {
    inside.append(element('small', `since ${moment(site.since_ms, nowMs)} (${about(nowMs - site.since_ms)})`));
    if (site.reason) inside.append(element('small', site.reason, 'reason'));
  }
  if (site.status === 'away' && site.as_of_ms !== null) inside.append(element('small', `numbers of ${moment(site.as_of_ms, nowMs)}`));
  state.append(inside);
  const way = element('td', '', 'way');
  const link = element('a', 'Dashboard');
  link.href = site.dashboard;
  link.setAttribute('aria-label', `Dashboard of ${site.site}`);
  way.append(link);
  row.append(name, state, peopleCell(site), gatewaysCell(site), alertsCell(site), completeCell(site, nowMs), way);
  return row;
}

/**
 * Sums over the sites that answer, which say what sites they lack.
 * @param {any[]} sites
 * @returns {string[][]} name, value, what is to say about it
 */
function sumsOf(sites) {
  const answering = sites.filter((one) => one.status !== 'away');
  const away = sites.filter((one) => one.status === 'away').map(({ site }) => site);
  const lacking = away.length > 0 ? `without ${away.join(', ')}` : '';
  /** @param {(site: any) => number} read */
  const sum = (read) => answering.reduce((all, site) => all + read(site), 0);
  const online = sum(({ gateways }) => gateways?.online ?? 0);
  const gateways = sum(({ gateways: some }) => Object.values(some ?? {}).reduce((all, count) => all + count, 0));
  return [['People', sum(({ people }) => people?.present ?? 0).toLocaleString('en-GB'), lacking],
    ['Gateways online', `${online} of ${gateways}`, lacking],
    ['Open alerts', String(sum(({ alerts }) => alerts?.open ?? 0)), lacking],
    ['Sites that answer', `${answering.length} of ${sites.length}`]];
}

/** Only what has changed is exchanged; a focused link stays focused. @param {Element} parent @param {Element[]} children */
function update(parent, children) {
  children.forEach((child, i) => {
    const old = parent.children[i];
    if (!old) parent.append(child);
    else if (!old.isEqualNode(child)) {
      const isFocused = old.contains(document.activeElement);
      old.replaceWith(child);
      if (isFocused) child.querySelector('a')?.focus();
    }
  });
  while (parent.children.length > children.length) parent.lastElementChild.remove();
}

/** @param {{sites: any[], now_ms: number}} answer */
function show({ sites, now_ms: nowMs }) {
  update(overview.querySelector('tbody'), sites.map((site) => rowOf(site, nowMs)));
  update(overview.querySelector('#sums'), sumsOf(sites).map(([name, value, aside]) => {
    const pair = element('div');
    const said = element('dd', value);
    if (aside) said.append(element('small', aside));
    pair.append(element('dt', name), said);
    return pair;
  }));
  const away = sites.filter((one) => one.status === 'away').map(({ site }) => site);
  const degraded = sites.filter((one) => one.status === 'degraded').map(({ site }) => site);
  if (away.length > 0) say(`No answer: ${away.join(', ')}`, 'bad');
  else if (degraded.length > 0) say(`Degraded: ${degraded.join(', ')}`, 'warn');
  else say('All sites are up', 'good');
  document.body.classList.remove('old');
  shownMs = Date.now();
}

/** @param {'login'|'overview'} what */
function reveal(what) {
  login.hidden = what !== 'login';
  overview.hidden = what !== 'overview';
}

/** @returns {Promise<boolean>} false: whoever asks has to log in first */
async function ask() {
  try {
    const answer = await fetch('/api/v1/sites', { signal: AbortSignal.timeout(TIMEOUT_MS), cache: 'no-store' });
    const body = await answer.json();
    if (answer.status === 401 || answer.status === 403) {
      askForKey();
      return false;
    }
    if (!answer.ok) throw new Error(body.error);
    reveal('overview');
    logout.hidden = localStorage.getItem(MARK) === null;
    show(body);
  } catch (error) {
    const why = error instanceof TypeError || error.name === 'TimeoutError' ? 'the campus entry does not answer' : error.message;
    say(shownMs === null ? `Not live: ${why}` : `Not live since ${clock(shownMs)}: ${why}`, 'bad');
    document.body.classList.add('old');
  }
  return true;
}

/** Ask now, and from then on every POLL_MS while the page is looked at. Only one question is on its way at a time. */
async function refresh() {
  const goesOn = await (asking ??= ask().finally(() => { asking = null; }));
  clearTimeout(timer);
  if (goesOn && !document.hidden) timer = setTimeout(refresh, POLL_MS);
}

function askForKey() {
  say('Log in to see the sites', '');
  logout.hidden = true;
  if (login.hidden) {
    reveal('login');
    login.querySelector('input').focus();
  }
}

login.addEventListener('submit', async (event) => {
  event.preventDefault();
  const input = login.querySelector('input');
  fault.hidden = true;
  try {
    const answer = await fetch('/login', { method: 'POST', headers: { 'X-API-Key': input.value.trim() }, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!answer.ok) throw new Error((await answer.json()).error);
    input.value = '';
    localStorage.setItem(MARK, '1');
    await refresh();
  } catch (error) {
    fault.textContent = error instanceof TypeError || error.name === 'TimeoutError' ? 'The campus entry does not answer.'
      : `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
    fault.hidden = false;
  }
});

logout.addEventListener('click', async () => {
  localStorage.removeItem(MARK);
  await fetch('/logout', { method: 'POST' });
  await asking; // it still had the login
  await refresh();
});

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && login.hidden) refresh();
});
refresh();
