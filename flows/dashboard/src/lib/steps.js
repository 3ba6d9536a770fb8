/**
 * Set-up steps of a new installation, for the banner at the top of the pages.
 * @typedef {{building: boolean, receivers: boolean, staff: boolean, hacs: boolean}} Done of the status of each snapshot
 * @typedef {{id: keyof Done, title: string, text: string, path: string, query: Record<string, string>, command: string,
 *   done: boolean}} Step
 */

/** @type {Omit<Step, 'done'>[]} */
const STEPS = [
  { id: 'building', title: 'Your building', path: '/dashboard/setup', query: { tab: 'start' }, command: '',
    text: "Start with an installer's list, with a plan, or empty. The demo building and its people then leave." },
  { id: 'receivers', title: 'Gateways or phones', path: '/dashboard/devices', query: { tab: 'gateways' },
    command: "make account ARGS='add gateway lobby-1'",
    text: 'Each gateway or phone needs an account, made on the server. This is done when the first of them reports.' },
  { id: 'staff', title: 'Who patrols', path: '/dashboard/setup', query: { tab: 'staff' }, command: '',
    text: 'Name your staff, and give them their tags. Phones need no tag.' },
  { id: 'hacs', title: 'Key for HACS', path: '', query: {}, command: "make key ARGS='add hacs --right history'",
    text: 'Made on the server, shown once. HACS sends it with each request.' },
];

/** @param {Done} done @returns {Step[]} in the best order */
export const steps = (done) => STEPS.map((step) => ({ ...step, done: done[step.id] }));

/**
 * Text at the top of every page while a simulator plays people.
 * @param {number} simulated number of simulated people @param {number} here number of all people
 * @param {boolean} demo whether the building is the demo
 */
export function simulatedText(simulated, here, demo) {
  const who = simulated >= here ? `all ${simulated} people` : `${simulated} of ${here} people`;
  return `Simulated: ${simulated === 1 && here === 1 ? 'the one person' : who} shown in this building ${simulated === 1 ? 'is' : 'are'} `
    + `played by a simulator, not real.${demo ? ' They leave when you make your own building.' : ''}`;
}
