/** Pictures that were uploaded are named by their content, so a draft can show them before it is saved. */
const UPLOADED = /^plan-[0-9a-f]{16}\.\w+$/;

/**
 * Where the picture of a level is.
 * @param {{id: string, plan?: string|null}} level
 * @param {{id: string, plan: string|null}[]} levels of the building in use: others are not served
 * @returns {string|null} null: there is none to be shown
 */
export function pictureLink({ id, plan = null }, levels) {
  if (plan === null) return null;
  if (UPLOADED.test(plan)) return `/pages/pictures/${plan}`;
  return levels.some((level) => level.id === id && level.plan === plan) ? `/pages/plans/${encodeURIComponent(id)}` : null;
}
