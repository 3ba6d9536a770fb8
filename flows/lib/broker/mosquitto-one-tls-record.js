// @ts-check
'use strict';

/**
 * Works around a trait of Mosquitto: it reads one TLS record of a client, then serves all other clients
 * (`packet__read` in https://github.com/eclipse-mosquitto/mosquitto/blob/master/lib/packet_mosq.c, called once for each ready socket by
 * `loop_handle_reads_writes` in src/mux_epoll.c). With 8,000 publishing clients each client gets a few turns a second, too few for the
 * flows' acknowledgements. No release up to 2.1.2 reads on; where one does, this file goes.
 *
 * Within one MQTT packet Mosquitto reads record after record until it has all data. So each large write ends with the first byte of a
 * PINGREQ, and the next write begins with the second byte. The PINGRESP is ignored.
 */

const [PING_BEGIN, PING_END] = [Buffer.from([0xc0]), Buffer.from([0x00])];
const MANY_BYTES = 64; // sixteen acknowledgements in one turn of the event loop: the broker sends faster than it is answered

class RecordChain {
  #stream;
  #isWithinPing = false;
  #before = 0;

  /** @param {import('node:stream').Writable & {bytesWritten?: number}} stream TLS socket, written to between `begin` and `end` alone */
  constructor(stream) {
    this.#stream = stream;
  }

  /** The stream is corked, and whole packets follow. */
  begin() {
    if (this.#isWithinPing) this.#stream.write(PING_END);
    this.#isWithinPing = false;
    this.#before = this.#written();
  }

  /** All packets of this turn are written; the stream is about to be uncorked. */
  end() {
    this.#isWithinPing = this.#stream.writable && this.#written() - this.#before >= MANY_BYTES;
    if (this.#isWithinPing) this.#stream.write(PING_BEGIN);
  }

  /** Bytes so far, with those that wait in the stream. */
  #written() {
    return this.#stream.bytesWritten ?? this.#stream.writableLength;
  }
}

module.exports = { RecordChain };
