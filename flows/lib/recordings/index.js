// @ts-check
'use strict';

const { randomBytes } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { createQueue } = require('../shared/deadline');
const { replaceFile } = require('../shared/whole-file');
const { buildingOf, createSelection, filesOf, rowOf, walkOf, withTap } = require('./recording');

/**
 * Recordings with known rooms: readings of one person while somebody taps the rooms. One runs at a time, for an hour and 4 MiB at
 * most; each is kept for 30 days, 20 at most. They are on disk and survive a restart of the flows.
 * @typedef {ReturnType<typeof createRecordings>} Recordings
 * @typedef {import('./recording').Recording} Recording
 * @typedef {import('../building').BuildingFile} BuildingFile
 */

/** bytes: readings of 24 receivers a second for an hour; making files of them takes a tenth of a second. */
const LIMITS = Object.freeze({ lastsMs: 60 * 60_000, bytes: 4 * 1024 * 1024, keptMs: 30 * 86_400_000, recordings: 20, taps: 2000 });
/** How far ahead a phone's clock may be, as for all readings. */
const AHEAD_MS = 5 * 60_000;

/** A disk takes the rows of a second within milliseconds; what it did not take by then counts as lost. */
const FILES_WITHIN_MS = 60_000;

/** The request is not possible now; the message says why and what to do. */
class RecordingConflict extends Error {}

/**
 * @param {object} options
 * @param {string} options.folder
 * @param {() => number} options.clock
 * @param {(text: string) => void} options.warn
 * @param {import('../events').EventBus} options.bus gives the batches; hears of recordings that end by themselves
 * @param {typeof LIMITS} [options.limits]
 */
function createRecordings({ folder, clock, warn, bus, limits = LIMITS }) {
  const disk = createFolder(folder);
  const kept = new Map(disk.load(warn).map((one) => [one.recording.id, one]));
  let running = [...kept.values()].find(({ recording }) => recording.stopped_ms === null)?.recording ?? null;
  let selection = running ? createSelection(buildingFor(running)) : null;
  /** @type {string[]} rows that are not written yet */
  let waiting = [];
  const serialize = createQueue(FILES_WITHIN_MS, 'the folder of recordings');

  /** @param {Recording} recording */
  function buildingFor({ id }) {
    return /** @type {{building: BuildingFile}} */ (kept.get(id)).building;
  }

  /** @param {Recording} recording written as it is at the time of writing */
  const save = (recording) => serialize(() => disk.save(recording));

  /** Takes an accepted batch of any receiver. @param {import('../live/readings').Batch} batch @param {number} nowMs */
  function addBatch(batch, nowMs) {
    if (!running || !selection) return;
    const readings = selection(batch);
    if (readings.length === 0) return;
    if (batch.ts < running.started_ms || batch.ts > Math.min(nowMs + AHEAD_MS, running.started_ms + limits.lastsMs)) {
      running.outside_readings += readings.length;
      return;
    }
    for (const reading of readings) {
      const row = rowOf(batch, reading);
      waiting.push(row);
      running.bytes += row.length;
    }
    running[`${batch.kind}_readings`] += readings.length;
    running.last_reading_ms = nowMs;
    if (running.bytes >= limits.bytes) end(nowMs, 'full');
  }

  bus.on('batch', addBatch);

  /** Writes the waiting rows. */
  function flush() {
    const recording = running;
    if (!recording || waiting.length === 0) return;
    const rows = waiting;
    waiting = [];
    serialize(() => disk.append(recording.id, rows.join(''))).catch((error) => {
      if (recording.lost_readings === 0) warn(`recording ${recording.name}: readings could not be written: ${error.message}`);
      recording.lost_readings += rows.length;
    });
  }

  /** @param {number} nowMs @param {'asked'|'time'|'full'} why @returns {Promise<void>} when it is saved */
  function end(nowMs, why) {
    const recording = /** @type {Recording} */ (running);
    flush();
    running = null;
    selection = null;
    recording.stopped_ms = Math.min(nowMs, recording.started_ms + limits.lastsMs);
    recording.stopped_because = why;
    const saved = save(recording);
    if (why === 'asked') return saved;
    bus.emit('recordingEnded', 'recording_stopped', recording, why === 'time' ? 'its time was over' : 'it was full');
    return saved.catch((error) => warn(`recording ${recording.name}: its end could not be saved: ${error.message}`));
  }

  /** @param {Recording} recording @returns {Promise<string>} */
  async function readingsOf(recording) {
    if (recording.stopped_ms === null) throw new RecordingConflict(`"${recording.name}" is being recorded: stop it first`);
    return serialize(() => disk.readings(recording.id));
  }

  /** @param {Recording} recording */
  async function erase(recording) {
    if (recording === running) {
      running = null;
      selection = null;
      waiting = [];
    }
    kept.delete(recording.id);
    await serialize(() => disk.remove(recording.id));
  }

  return {
    /** Writes rows and ends what is over; called about once a second. @param {number} nowMs */
    tick(nowMs) {
      flush();
      if (running && nowMs >= running.started_ms + limits.lastsMs) end(nowMs, 'time');
      for (const { recording } of kept.values()) {
        if (nowMs < recording.started_ms + limits.keptMs) continue;
        bus.emit('recordingEnded', 'recording_deleted', recording, 'its time was over');
        erase(recording).catch((error) => warn(`recording ${recording.name} could not be deleted: ${error.message}`));
      }
    },
    /**
     * @param {{staffId: string, name: string, by: string}} what @param {BuildingFile} file in use
     * @returns {Promise<Recording>}
     * @throws {RecordingConflict}
     */
    async start({ staffId, name, by }, file) {
      if (running) throw new RecordingConflict(`"${running.name}" is being recorded: stop it first`);
      if (kept.size >= limits.recordings) throw new RecordingConflict(`${limits.recordings} recordings are kept: delete some first`);
      if ([...kept.values()].some(({ recording }) => recording.name === name)) throw new RecordingConflict(`there is a recording "${name}" already`);
      /** @type {Recording} */
      const recording = { id: randomBytes(6).toString('hex'), name, staff_id: staffId, by, started_ms: clock(), stopped_ms: null,
        stopped_because: null, gateway_readings: 0, phone_readings: 0, last_reading_ms: null, lost_readings: 0, outside_readings: 0,
        bytes: 0, taps: [] };
      const building = buildingOf(file, staffId);
      kept.set(recording.id, { recording, building });
      running = recording;
      selection = createSelection(building);
      await serialize(() => disk.create(recording, building)).catch((error) => erase(recording).finally(() => { throw error; }));
      return recording;
    },
    /**
     * @param {Recording} recording @param {{tap: string, room: string|null, ageMs: number}} tap ageMs: how long ago it was made
     * @throws {RecordingConflict}
     */
    async addTap(recording, { tap, room, ageMs }) {
      const ts = Math.max(recording.started_ms, clock() - ageMs);
      if (recording.stopped_ms !== null && ts > recording.stopped_ms) throw new RecordingConflict(`"${recording.name}" is over`);
      const taps = withTap(recording.taps, { tap, ts, room });
      if (taps.length > limits.taps) throw new RecordingConflict(`"${recording.name}" has ${limits.taps} taps already, more are not possible`);
      recording.taps = taps;
      await save(recording);
    },
    /** @param {Recording} recording @param {string} tap id; an unknown one is removed already */
    async removeTap(recording, tap) {
      recording.taps = recording.taps.filter((one) => one.tap !== tap);
      await save(recording);
    },
    /** @param {Recording} recording nothing happens to one that is over */
    async stop(recording) {
      if (recording === running) await end(clock(), 'asked');
    },
    /** @param {Recording} recording that is over @returns {Promise<Record<string, string>>} texts by file name */
    files: async (recording) => filesOf(recording, buildingFor(recording), await readingsOf(recording)),
    /** Input of a calibration. @param {Recording} recording that is over */
    walk: async (recording) => walkOf(recording, buildingFor(recording), await readingsOf(recording)),
    /** The building at the time of the recording. */
    buildingFor,
    erase,
    /** @param {string} id @returns {Recording|null} */
    get: (id) => kept.get(id)?.recording ?? null,
    /** Whether the building of a recording has this room. @param {Recording} recording @param {string} room */
    hasRoom: (recording, room) => buildingFor(recording).levels.some(({ rooms }) => rooms.some(({ id }) => id === room)),
    /** All, the newest first. */
    list: () => [...kept.values()].map(({ recording }) => recording).sort((a, b) => b.started_ms - a.started_ms),
    /** When it will be deleted, epoch ms. @param {Recording} recording */
    expiresMs: (recording) => recording.started_ms + limits.keptMs,
    /** @returns {Promise<unknown>} when all rows are written */
    close() {
      bus.off('batch', addBatch);
      flush();
      return serialize(async () => {});
    },
  };
}

/**
 * Recordings on disk: a folder each, with its metadata, its building, and the readings as they came. Only the owner of the files
 * may read them.
 */

const [METADATA, BUILDING, READINGS] = ['recording.json', 'building.json', 'readings.csv'];
const ID = /^[0-9a-f]{12}$/;

/** @param {string} folder parent of all recordings */
function createFolder(folder) {
  /** @param {string} id @param {string} file */
  const at = (id, file) => path.join(folder, id, file);

  return {
    /**
     * Reads all recordings; called at the start. @param {(text: string) => void} warn
     * @returns {{recording: Recording, building: BuildingFile}[]}
     */
    load(warn) {
      const ids = fs.existsSync(folder) ? fs.readdirSync(folder).filter((id) => ID.test(id)) : [];
      return ids.flatMap((id) => {
        try {
          const recording = JSON.parse(fs.readFileSync(at(id, METADATA), 'utf8'));
          const building = JSON.parse(fs.readFileSync(at(id, BUILDING), 'utf8'));
          return [{ recording: recording.stopped_ms === null ? withCounts(recording, at(id, READINGS)) : recording, building }];
        } catch (error) {
          warn(`${path.join(folder, id)}: this recording cannot be read: ${error}`);
          return [];
        }
      });
    },
    /** @param {Recording} recording @param {BuildingFile} building */
    async create(recording, building) {
      await fs.promises.mkdir(path.join(folder, recording.id), { recursive: true, mode: 0o700 });
      await fs.promises.writeFile(at(recording.id, BUILDING), JSON.stringify(building), { mode: 0o600 });
      await fs.promises.writeFile(at(recording.id, READINGS), '', { mode: 0o600 });
      await this.save(recording);
    },
    /** @param {Recording} recording */
    save: (recording) => replaceFile(at(recording.id, METADATA), `${JSON.stringify(recording)}\n`, 0o600),
    /** @param {string} id @param {string} rows */
    append: (id, rows) => fs.promises.appendFile(at(id, READINGS), rows, { mode: 0o600 }),
    /** @param {string} id */
    readings: (id) => fs.promises.readFile(at(id, READINGS), 'utf8'),
    /** @param {string} id */
    remove: (id) => fs.promises.rm(path.join(folder, id), { recursive: true, force: true }),
  };
}

/**
 * Counts the written rows of a recording that was running when the flows ended, and cuts off half a row at the end.
 * @param {Recording} recording @param {string} file
 * @returns {Recording}
 */
function withCounts(recording, file) {
  const text = fs.readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) fs.truncateSync(file, whole.length);
  const all = whole.split('\n').length - 1;
  const ofPhones = whole.split(',phone,').length - 1;
  return { ...recording, bytes: whole.length, gateway_readings: all - ofPhones, phone_readings: ofPhones };
}

module.exports = { createRecordings, RecordingConflict, LIMITS, createFolder };
