import { normaliseBeacon } from '../../../../lib/building/ids.js';

/**
 * Fields of the forms, and conversion of typed text to values of the building file.
 * @typedef {import('./things.js').Kind} Kind
 * @typedef {{key: string, label: string, type: 'text'|'number'|'choice'|'flag'|'corners'|'edges'|'ids'|'place', unit?: string, hint?:
 *   string,
 *   step?: number, options?: {value: string, text: string}[], beacon?: true}} Field beacon: a beacon id, which may be typed with separators
 */

const ID = /** @type {const} */ ({ key: 'id', label: 'Id', type: 'text' });
const NAME = /** @type {const} */ ({ key: 'name', label: 'Name', type: 'text' });
/** @type {Field[]} */
const PLACE = [
  { key: 'room', label: 'Room', type: 'place' },
  { key: 'x_m', label: 'East (x)', type: 'number', unit: 'm', step: 0.1 },
  { key: 'y_m', label: 'North (y)', type: 'number', unit: 'm', step: 0.1 },
];
const COVERS = /** @type {const} */ ({ key: 'covers', label: 'Also counts for', type: 'ids', hint: 'Ids of rooms beside it without a device; may be empty' });
const APPROXIMATE = /** @type {const} */ ({ key: 'approximate', label: 'Position is not measured', type: 'flag' });

/** @type {Record<Kind, Field[]>} */
export const FIELDS = {
  level: [ID, NAME, { key: 'width_m', label: 'Width (east)', type: 'number', unit: 'm' }, { key: 'height_m', label: 'Depth (north)', type: 'number', unit: 'm' },
    { key: 'plan', label: 'Picture', type: 'text', hint: 'A file beside the building file, drawn below the rooms; may be empty' },
    { key: 'schematic', label: 'Rooms are tiles, not measured', type: 'flag' }],
  room: [ID, NAME,
    { key: 'kind', label: 'Kind', type: 'choice', options: [{ value: '', text: 'ordinary room' }, { value: 'corridor', text: 'corridor' },
      { value: 'lobby', text: 'lobby' }, { value: 'core', text: 'core (lifts, stairs)' }] },
    { key: 'limit', label: 'Crowded above', type: 'number', unit: 'people', hint: 'Empty: no limit' },
    { key: 'polygon', label: 'Corners', type: 'corners',
      hint: 'One a line: x, y in metres east and north of the south-west corner' },
    { key: 'open_edges', label: 'Edges without a wall', type: 'edges', hint: 'By number, 0 is from the first corner to the second; may be empty' }],
  beacon: [{ ...ID, beacon: true, hint: 'A MAC, or an iBeacon, Eddystone or AltBeacon id' }, ...PLACE,
    { key: 'tx', label: 'Power at 1 m', type: 'number', unit: 'dBm', hint: 'Empty: -59' }, COVERS, APPROXIMATE],
  gateway: [ID, ...PLACE, { key: 'rssi_offset', label: 'Correction', type: 'number', unit: 'dB', hint: 'Added to what it measures' },
    { key: 'min_rssi', label: 'Weakest reading', type: 'number', unit: 'dBm', hint: 'What is weaker is not used' },
    { key: 'window_ms', label: 'Listens for', type: 'number', unit: 'ms', hint: 'Empty: as the gateway is configured' }, COVERS, APPROXIMATE],
  staff: [ID, NAME, { key: 'tag_tx', label: 'Power of the tags at 1 m', type: 'number', unit: 'dBm', hint: 'Empty: as the tags say, else -59' }],
};

/** Label of a field. @param {string} kind @param {string} key */
export const labelOf = (kind, key) => FIELDS[/** @type {Kind} */ (kind)]?.find((field) => field.key === key)?.label ?? key;

/**
 * Converts typed text to a value. Invalid text stays as it is, and the check of the building reports it.
 * @param {Field} field @param {string|boolean} typed
 * @returns {unknown} undefined: no value
 */
export function valueOf({ type, beacon }, typed) {
  if (typeof typed === 'boolean') return typed || undefined;
  const text = typed.trim();
  if (text === '') return undefined;
  if (type === 'number') return numberOf(text);
  if (type === 'corners') return cornersOf(text);
  if (type === 'ids') return text.split(/[\s,;]+/).filter(Boolean);
  if (type === 'edges') return text.split(/[\s,;]+/).filter(Boolean).map(numberOf);
  return beacon ? beaconOf(text) : text;
}

/** Normalises a typed beacon id. @param {string} text */
export const beaconOf = (text) => normaliseBeacon(text) ?? text.trim();

/** @param {string} text */
const numberOf = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);

/** @param {string} text lines of `x, y` */
const cornersOf = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean)
  .map((line) => line.split(/[\s,;]+/).filter(Boolean).map(numberOf));

/** A value as text of its input. @param {Field} field @param {any} value @returns {string} */
export function shown({ type }, value) {
  if (value === undefined || value === null) return '';
  if ((type === 'edges' || type === 'ids') && Array.isArray(value)) return value.join(', ');
  if (type !== 'corners') return String(value);
  return Array.isArray(value) ? value.map((corner) => (Array.isArray(corner) ? corner.join(', ') : String(corner))).join('\n') : String(value);
}
