/**
 * Pages that users have added to the dashboard with its own widgets.
 * @typedef {{name: string, href: string, icon: string}} OwnPage icon: its name among Material Design Icons, '' where there is none
 * @param {Record<string, any>|undefined} pages of the dashboard, by id
 * @param {Record<string, any>|undefined} bases of the dashboard, by id
 * @param {string[]} ours names of our pages
 * @returns {OwnPage[]} in the order of the dashboard, without hidden and disabled ones
 */
export function ownPages(pages, bases, ours) {
  return Object.values(pages ?? {})
    .filter(({ path, visible, disabled }) => typeof path === 'string' && isOn(visible ?? true) && !isOn(disabled ?? false) && !ours.includes(nameOf(path)))
    .sort((a, b) => Number(a.order) - Number(b.order))
    .map(({ name, path, icon, ui }) => ({ name, href: `${bases?.[ui]?.path ?? '/dashboard'}${path}`, icon: iconOf(icon) }));
}

/** Whether an address is one of ours. @param {string} path @param {string[]} ours */
export const isOurs = (path, ours) => ours.includes(nameOf(path));

/** @param {string} path */
const nameOf = (path) => path.split('/').findLast((part) => part !== '') ?? '';
/** The editor writes booleans as words, too. @param {unknown} value */
const isOn = (value) => value === true || value === 'true';
/** @param {unknown} icon */
const iconOf = (icon) => (typeof icon === 'string' ? icon.replace(/^mdi[-:]/, '').replace(/[^a-z0-9-]/gi, '') : '');
