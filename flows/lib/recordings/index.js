// @ts-check
'use strict';

const { randomBytes } = require('node:crypto');
const { createFolder } = require('./folder');
const { buildingOf, createSelection, filesOf, rowOf, walkOf, withTap } = require('./recording');

/**
 * Recordings with known rooms: what receivers send about one person while somebody taps the rooms. One runs at a time, an hour
 * and 4 MiB at most; each is kept for 30 days, 20 at most. On disk, so that a restart of the flows costs none.
 * @typedef {ReturnType<typeof createRecordings>} Recordings
 * @typedef {import('./recording').Recording} Recording
 * @typedef {import('../building').BuildingFile} BuildingFile
 */

/** bytes: 24 receivers that hear somebody every second for an hour; making files of them takes a tenth of a second. */
const LIMITS = Object.freeze({ lastsMs: 60 * 60_000, bytes: 4 * 1024 * 1024, keptMs: 30 * 86_400_000, recordings: 20, taps: 2000 });
/** A phone's clock may be ahead by as much as readings may. */
const AHEAD_MS = 5 * 60_000;

/** It cannot be done now; the message says why and what to do. */
class RecordingConflict extends Error {}

/**
 * @param {object} means
 * @param {string} means.folder
 * @param {() => number} means.clock
 * @param {(text: string) => void} means.warn
 * @param {(kind: 'recording_stopped'|'recording_deleted', recording: Recording, why: string) => void} [means.ended] by itself
 * @param {typeof LIMITS} [means.limits]
 */
function createRecordings({ folder, clock, warn, ended = () => {}, limits = LIMITS }) {
  const disk = createFolder(folder);
  const kept = new Map(disk.load(warn).map((one) => [one.recording.id, one]));
  let running = [...kept.values()].find(({ recording }) => recording.stopped_ms === null)?.recording ?? null;
  let selection = running ? createSelection(buildingFor(running)) : null;
  /** @type {string[]} rows that are not handed to the disk yet */
  let waiting = [];
  /** One after the other, as they were asked for. @type {Promise<unknown>} */
  let writing = Promise.resolve();

  /** @param {Recording} recording */
  function buildingFor({ id }) {
    return /** @type {{building: BuildingFile}} */ (kept.get(id)).building;
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  function inTurn(work) {
    const done = writing.then(work);
    writing = done.catch(() => {});
    return done;
  }

  /** @param {Recording} recording as it is when its turn comes */
  const save = (recording) => inTurn(() => disk.save(recording));

  /** One accepted batch of any receiver. @param {import('../intake/readings').Batch} batch @param {number} nowMs */
  function hear(batch, nowMs) {
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

  /** Hand what came to the disk. */
  function flush() {
    const recording = running;
    if (!recording || waiting.length === 0) return;
    const rows = waiting;
    waiting = [];
    inTurn(() => disk.append(recording.id, rows.join(''))).catch((error) => {
      if (recording.lost_readings === 0) warn(`recording ${recording.name}: readings could not be written: ${error.message}`);
      recording.lost_readings += rows.length;
    });
  }

  /** @param {number} nowMs @param {'asked'|'time'|'full'} why @returns {Promise<void>} when it is kept */
  function end(nowMs, why) {
    const recording = /** @type {Recording} */ (running);
    flush();
    running = null;
    selection = null;
    recording.stopped_ms = Math.min(nowMs, recording.started_ms + limits.lastsMs);
    recording.stopped_because = why;
    const saved = save(recording);
    if (why === 'asked') return saved;
    ended('recording_stopped', recording, why === 'time' ? 'its time was over' : 'it was full');
    return saved.catch((error) => warn(`recording ${recording.name}: that it ended is not written: ${error.message}`));
  }

  /** @param {Recording} recording @returns {Promise<string>} */
  async function readingsOf(recording) {
    if (recording.stopped_ms === null) throw new RecordingConflict(`"${recording.name}" is being recorded: stop it first`);
    return inTurn(() => disk.readings(recording.id));
  }

  /** @param {Recording} recording */
  async function erase(recording) {
    if (recording === running) {
      running = null;
      selection = null;
      waiting = [];
    }
    kept.delete(recording.id);
    await inTurn(() => disk.remove(recording.id));
  }

  return {
    hear,
    /** About once a second. @param {number} nowMs */
    tick(nowMs) {
      flush();
      if (running && nowMs >= running.started_ms + limits.lastsMs) end(nowMs, 'time');
      for (const { recording } of kept.values()) {
        if (nowMs < recording.started_ms + limits.keptMs) continue;
        ended('recording_deleted', recording, 'its time was over');
        erase(recording).catch((error) => warn(`recording ${recording.name} is not erased: ${error.message}`));
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
      await inTurn(() => disk.create(recording, building)).catch((error) => erase(recording).finally(() => { throw error; }));
      return recording;
    },
    /**
     * @param {Recording} recording @param {{tap: string, room: string|null, ageMs: number}} tap made so long ago
     * @throws {RecordingConflict}
     */
    async addTap(recording, { tap, room, ageMs }) {
      const ts = Math.max(recording.started_ms, clock() - ageMs);
      if (recording.stopped_ms !== null && ts > recording.stopped_ms) throw new RecordingConflict(`"${recording.name}" is over`);
      const taps = withTap(recording.taps, { tap, ts, room });
      if (taps.length > limits.taps) throw new RecordingConflict(`"${recording.name}" has ${limits.taps} taps already, which is all it may`);
      recording.taps = taps;
      await save(recording);
    },
    /** @param {Recording} recording @param {string} tap one that there is not is gone already */
    async removeTap(recording, tap) {
      recording.taps = recording.taps.filter((one) => one.tap !== tap);
      await save(recording);
    },
    /** @param {Recording} recording one that is over stays as it is */
    async stop(recording) {
      if (recording === running) await end(clock(), 'asked');
    },
    /** @param {Recording} recording that is over @returns {Promise<Record<string, string>>} texts by file name */
    files: async (recording) => filesOf(recording, buildingFor(recording), await readingsOf(recording)),
    /** To be played once more. @param {Recording} recording that is over */
    walk: async (recording) => walkOf(recording, buildingFor(recording), await readingsOf(recording)),
    /** Its building, as it was then. */
    buildingFor,
    erase,
    /** @param {string} id @returns {Recording|null} */
    get: (id) => kept.get(id)?.recording ?? null,
    /** Whether it has such a room. @param {Recording} recording @param {string} room */
    hasRoom: (recording, room) => buildingFor(recording).levels.some(({ rooms }) => rooms.some(({ id }) => id === room)),
    /** The newest first. */
    list: () => [...kept.values()].map(({ recording }) => recording).sort((a, b) => b.started_ms - a.started_ms),
    /** When it goes by itself, epoch ms. @param {Recording} recording */
    expiresMs: (recording) => recording.started_ms + limits.keptMs,
    /** @returns {Promise<unknown>} when all that came is on the disk */
    close() {
      flush();
      return writing;
    },
  };
}

module.exports = { createRecordings, RecordingConflict, LIMITS };
