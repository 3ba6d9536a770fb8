// @ts-check
'use strict';

/**
 * A recording of one person: which readings belong to it, the rooms by its taps, and its files. Pure.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {'gateway'|'phone'} Mode gateway: gateways receive a tag; phone: a phone receives beacons
 * @typedef {{tap: string, ts: number, room: string|null}} Tap the person is in `room` (null: in none) from `ts` (epoch ms) on
 * @typedef {object} Recording times in epoch ms
 * @property {string} id
 * @property {string} name of its files
 * @property {string} staff_id
 * @property {string} by who started it
 * @property {number} started_ms
 * @property {number|null} stopped_ms null: it runs
 * @property {'asked'|'time'|'full'|null} stopped_because
 * @property {number} gateway_readings
 * @property {number} phone_readings
 * @property {number|null} last_reading_ms when the newest one arrived
 * @property {number} lost_readings that could not be written
 * @property {number} outside_readings with a time outside the recording: a wrong clock, or a backlog
 * @property {number} bytes of readings
 * @property {Tap[]} taps in the order of their times
 */

const SECOND_MS = 1000;
const HEADER = 'ts_ms,receiver,beacon,rssi\n';
const TRUTH_HEADER = 'ts_ms,room\n';
/** Stands for the person's name, which readers of the files need not know. */
const WALKER = 'Walker';

/**
 * The building of a recording: without other people, the name of the walker, and pictures.
 * @param {BuildingFile} file @param {string} staffId
 * @returns {BuildingFile}
 */
function buildingOf(file, staffId) {
  const { tags, tag_tx: tagTx } = file.staff.find(({ id }) => id === staffId) ?? {};
  return {
    ...file,
    levels: file.levels.map(({ plan: _, ...level }) => level),
    staff: [{ id: staffId, name: WALKER, ...(tags ? { tags } : {}), ...(tagTx === undefined ? {} : { tag_tx: tagTx }) }],
  };
}

/**
 * Selects the readings of the walker from a batch: the walker's tags at gateways of the building, and beacons of the building at
 * the walker's phone. Tags of others, which a phone receives too, are left out.
 * @param {BuildingFile} building of the recording
 * @returns {(batch: Batch) => Batch['readings']}
 */
function createSelection(building) {
  const gateways = new Set(building.gateways.map(({ id }) => id));
  const beacons = new Set(building.beacons.map(({ id }) => id));
  const tags = new Set(building.staff.flatMap(({ tags: own = [] }) => own));
  const walkers = new Set(building.staff.map(({ id }) => id));
  return ({ kind, receiver, readings }) => {
    const [receivers, wanted] = kind === 'gateway' ? [gateways, tags] : [walkers, beacons];
    return receivers.has(receiver) ? readings.filter(({ beacon }) => wanted.has(beacon)) : [];
  };
}

/** A row of the readings file. @param {Batch} batch @param {Batch['readings'][number]} reading */
const rowOf = ({ ts, kind, receiver }, { beacon, rssi }) => `${ts},${kind},${receiver},${beacon},${rssi}\n`;

/** The room of the person at a time. @param {readonly Tap[]} taps @param {number} ts */
const roomAt = (taps, ts) => taps.findLast((tap) => tap.ts <= ts)?.room ?? null;

/**
 * Adds a tap. A repeated tap, and one that does not change the room, change nothing.
 * @param {readonly Tap[]} taps @param {Tap} tap
 * @returns {Tap[]}
 */
function withTap(taps, tap) {
  const isKnown = taps.some((one) => one.tap === tap.tap) || (taps.some(({ ts }) => ts <= tap.ts) && roomAt(taps, tap.ts) === tap.room);
  if (isKnown) return [...taps];
  const after = taps.findIndex(({ ts }) => ts > tap.ts);
  return taps.toSpliced(after < 0 ? taps.length : after, 0, tap);
}

/** One row a second; the room is empty where the person was in none, and before the first tap. @param {Recording} recording */
function truthText({ started_ms: started, stopped_ms: stopped, taps }) {
  let text = TRUTH_HEADER;
  let next = 0;
  let room = '';
  for (let ts = Math.ceil(started / SECOND_MS) * SECOND_MS; ts <= (stopped ?? started); ts += SECOND_MS) {
    for (let tap = taps[next]; tap && tap.ts <= ts; tap = taps[next += 1]) room = tap.room ?? '';
    text += `${ts},${room}\n`;
  }
  return text;
}

/**
 * Rows of one mode by time, without duplicates: receivers send batches again that the broker may have lost. Times have the same
 * number of digits until 2286, so sorting the texts sorts by time.
 * @param {string} kept rows as `rowOf` writes them @param {Mode} mode
 */
function rowsOf(kept, mode) {
  const rows = kept.split('\n').filter((row) => row.includes(`,${mode},`)).sort();
  return rows.filter((row, i) => row !== rows[i - 1]).map((row) => row.split(','));
}

/** The readings as a CSV table. @param {string} kept @param {Mode} mode */
const readingsText = (kept, mode) => HEADER + rowsOf(kept, mode)
  .map(([ts, , receiver, beacon, rssi]) => `${ts},${receiver},${beacon},${rssi}\n`).join('');

/**
 * The walk of a recording, as the input of a calibration.
 * @param {Recording} recording that is over @param {BuildingFile} building its own @param {string} kept its readings
 * @returns {import('../calibration/calibrate').Walk}
 */
function walkOf(recording, building, kept) {
  const mode = modeOf(recording, building);
  const rows = rowsOf(kept, mode).map(([ts, , receiver = '', beacon = '', rssi]) => ({ ts: Number(ts), receiver, beacon, rssi: Number(rssi) }));
  return { building, mode, rows, taps: recording.taps, endMs: recording.stopped_ms ?? recording.started_ms };
}

/**
 * The mode with more readings; without any: gateway where the person has a tag.
 * @param {Recording} recording @param {BuildingFile} building @returns {Mode}
 */
function modeOf({ gateway_readings: gateway, phone_readings: phone }, { staff }) {
  if (gateway !== phone) return gateway > phone ? 'gateway' : 'phone';
  return staff.some(({ tags = [] }) => tags.length > 0) ? 'gateway' : 'phone';
}

/** Notes for readers of the files. @param {Recording} recording @param {Mode} mode */
function notesOf(recording, mode) {
  const { taps, lost_readings: lost, outside_readings: outside, gateway_readings: gateway, phone_readings: phone } = recording;
  const other = mode === 'gateway' ? [phone, "the person's phone"] : [gateway, "gateways that received the person's tags"];
  return [
    'Readings are windows of the receivers as they were sent (ts_ms: the end of the window on the receiver\'s clock), not single adverts; ' +
      'rssi_offset of the building is not added.',
    `Truth: ${taps.length} taps of somebody who walked along, right to about a second.`,
    ...(Number(other[0]) > 0 ? [`${other[0]} readings of ${other[1]} are left out.`] : []),
    ...(lost > 0 ? [`${lost} readings could not be written and are missing.`] : []),
    ...(outside > 0 ? [`${outside} readings had a time outside the recording and are left out.`] : []),
  ].join(' ');
}

/**
 * Files of a folder that `make accuracy DATA=…` reads.
 * @param {Recording} recording that is over
 * @param {BuildingFile} building its own
 * @param {string} kept its readings
 * @returns {Record<string, string>} texts by file name
 */
function filesOf(recording, building, kept) {
  const mode = modeOf(recording, building);
  const source = `Recorded in "${building.building}" on ${new Date(recording.started_ms).toISOString()}`;
  return {
    'building.json': json(building),
    'set.json': json({ mode, licence: '', source, notes: notesOf(recording, mode) }),
    [`${recording.name}.csv`]: readingsText(kept, mode),
    [`${recording.name}.truth.csv`]: truthText(recording),
  };
}

/** @param {object} data */
const json = (data) => `${JSON.stringify(data, null, 1)}\n`;

module.exports = { buildingOf, createSelection, rowOf, roomAt, withTap, truthText, readingsText, walkOf, filesOf };
