/**
 * View of a plan on the screen: pixel = scale × metre + offset.
 * @typedef {{x: number, y: number, k: number}} View
 */

const MARGIN_PX = 14;
/** Space for the buttons below the plan. */
const BELOW_PX = 48;

/**
 * The view of a whole level, centred.
 * @param {{width_m: number, height_m: number}} level
 * @param {{width: number, height: number}} screen in pixels
 * @returns {View}
 */
export function fit({ width_m, height_m }, { width, height }) {
  const k = Math.max(1, Math.min((width - 2 * MARGIN_PX) / width_m, (height - MARGIN_PX - BELOW_PX) / height_m));
  return { k, x: (width - k * width_m) / 2, y: MARGIN_PX + Math.max(0, (height - MARGIN_PX - BELOW_PX - k * height_m) / 2) };
}

/**
 * The part of the plan that is on the screen, in metres.
 * @param {View} view
 * @param {{width: number, height: number}} screen
 */
export const visible = ({ x, y, k }, { width, height }) => ({ x: -x / k, y: -y / k, width: width / k, height: height / k });

/** Range of the scale, pixels a metre. @param {View} whole @returns {[number, number]} */
export const zoomRange = ({ k }) => [k * 0.8, Math.max(k * 12, 120)];

/**
 * The move of a key.
 * @param {string} key
 * @returns {{pan?: [number, number], zoom?: number, fit?: true}|null} in pixels; null: none
 */
export function keyMove(key) {
  const step = 60;
  switch (key) {
    case 'ArrowLeft': return { pan: [step, 0] };
    case 'ArrowRight': return { pan: [-step, 0] };
    case 'ArrowUp': return { pan: [0, step] };
    case 'ArrowDown': return { pan: [0, -step] };
    case '+': case '=': return { zoom: 1.4 };
    case '-': return { zoom: 1 / 1.4 };
    case '0': return { fit: true };
    default: return null;
  }
}
