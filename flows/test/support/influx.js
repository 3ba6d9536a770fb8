'use strict';

const { once } = require('node:events');
const http = require('node:http');
const { encode } = require('@msgpack/msgpack');
const { createInflux } = require('../../lib/store');

/** A database that answers by `answer(request, response, form)`. */
async function playInflux(t, answer, options = {}) {
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => answer(request, response, new URLSearchParams(body)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const influx = createInflux({ url: `http://127.0.0.1:${server.address().port}`, token: 'secret', ...options });
  t.after(() => {
    influx.close();
    server.closeAllConnections();
    server.close();
  });
  return influx;
}

/** One piece of an answer, as InfluxDB sends it. */
const piece = (series, partial = false) => Buffer.from(encode({ results: [{ statement_id: 0, series, ...(partial ? { partial } : {}) }] }));
/** The same for one series without tags. */
const rows = (values, partial = false) => piece(values.length > 0 ? [{ name: 'x', columns: ['time'], values, ...(partial ? { partial } : {}) }] : [], partial);
const fault = (text) => Buffer.from(encode({ results: [{ statement_id: 0, error: text }] }));

module.exports = { playInflux, piece, rows, fault };
