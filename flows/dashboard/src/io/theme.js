/** Light or dark: of the system, or as chosen, stored in this browser. */
const THEMES = ['auto', 'light', 'dark'];
const KEY = 'sda-theme';

/** @returns {string} */
export function readTheme() {
  const stored = localStorage.getItem(KEY);
  return stored && THEMES.includes(stored) ? stored : 'auto';
}

/** @param {string} theme */
export const nextTheme = (theme) => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];

/** @param {string} theme */
export function applyTheme(theme) {
  localStorage.setItem(KEY, theme);
  document.querySelector('.sda')?.style.setProperty('color-scheme', theme === 'auto' ? 'light dark' : theme);
}
