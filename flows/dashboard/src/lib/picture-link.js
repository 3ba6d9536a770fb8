/** Uploaded pictures are named by their content, so a draft can show them before it is saved. */
const UPLOADED = /^plan-[0-9a-f]{16}\.\w+$/;

/**
 * URL of the picture of a level.
 * @param {{id: string, plan?: string|null}} level
 * @param {{id: string, plan: string|null}[]} levels of the building in use; pictures of other levels are not served
 * @returns {string|null} null: there is none to show
 */
export function pictureLink({ id, plan = null }, levels) {
  if (plan === null) return null;
  if (UPLOADED.test(plan)) return `/pages/pictures/${plan}`;
  return levels.some((level) => level.id === id && level.plan === plan) ? `/pages/plans/${encodeURIComponent(id)}` : null;
}
