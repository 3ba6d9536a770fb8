/** Light and dark: as the system has it, or as chosen here, which this browser remembers. */
const THEMES = ['auto', 'light', 'dark'];
const KEY = 'sda-theme';

/** @returns {string} */
export function readTheme() {
  const kept = localStorage.getItem(KEY);
  return kept && THEMES.includes(kept) ? kept : 'auto';
}

/** @param {string} theme */
export const nextTheme = (theme) => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];

/** @param {string} theme */
export function applyTheme(theme) {
  localStorage.setItem(KEY, theme);
  document.querySelector('.sda')?.style.setProperty('color-scheme', theme === 'auto' ? 'light dark' : theme);
}
