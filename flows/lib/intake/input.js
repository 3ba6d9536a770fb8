// @ts-check
'use strict';

/**
 * What comes over the wires of a flow, which anybody may have drawn: looked at before it is used.
 * @typedef {import('./readings').Batch} Batch
 */

/**
 * A message's payload as the bytes that came from the broker; a string or an object is taken as JSON, as an inject node sends it.
 * @param {unknown} payload
 * @returns {Buffer}
 */
function bytesOf(payload) {
  if (Buffer.isBuffer(payload)) return payload;
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload) ?? '');
}

/**
 * A message as it is, or what `sda-subscribe` gathered in it. It is done when its last part is.
 * @typedef {{topic?: unknown, payload?: unknown}} Message
 * @typedef {(error?: unknown) => void} Done
 * @param {Message} message @param {Done} done
 * @returns {{message: Message, done: Done}[]}
 */
function partsOf(message, done) {
  if (message.topic !== 'messages' || !Array.isArray(message.payload)) return [{ message, done }];
  const parts = message.payload.map((part) => ({ message: part ?? {}, done: failed }));
  const last = parts.at(-1);
  if (last) last.done = done;
  else done();
  return parts;

  /** @param {unknown} [error] */
  function failed(error) { if (error) done(error); }
}

/**
 * Why something is no list of batches; '': it is one.
 * @param {unknown} payload
 * @returns {string}
 */
function batchesFault(payload) {
  if (!Array.isArray(payload)) return 'msg.payload must be an array of batches, as sda-check sends it';
  const index = payload.findIndex((batch) => !isBatch(batch));
  return index < 0 ? '' : `msg.payload[${index}] is no batch: {kind: 'gateway'|'phone', receiver, ts, readings: [{beacon, rssi}, …]}`;
}

/** @param {any} batch @returns {batch is Batch} */
const isBatch = (batch) => (batch?.kind === 'phone' || batch?.kind === 'gateway') && typeof batch.receiver === 'string' &&
  Number.isInteger(batch.ts) && Array.isArray(batch.readings) && batch.readings.every(isReading) &&
  (batch.measured === undefined || (Array.isArray(batch.measured) && batch.measured.every(isMeasured)));

/** @param {any} measured */
const isMeasured = (measured) => typeof measured?.beacon === 'string';

/** @param {any} reading */
const isReading = (reading) => typeof reading?.beacon === 'string' && Number.isFinite(reading.rssi);

module.exports = { batchesFault, bytesOf, partsOf };
