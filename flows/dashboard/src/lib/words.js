/** A number with its noun, "1 room", "2 rooms". @param {number} number @param {string} noun in the singular @param {string} [plural] */
export const counted = (number, noun, plural = `${noun}s`) => `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`;
