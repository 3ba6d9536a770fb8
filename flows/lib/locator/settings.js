// @ts-check
'use strict';

/** The numbers of the rule. They were chosen on recordings with known rooms (docs/decisions/024); all are flat near these values. */
const TUNED = Object.freeze({
  smoothScans: 0.8, // a level fades with this time: less than a scan, since the sum below evens out more
  silence: 0.04, // each level is mixed with so many readings at SILENT_DBM: what falls silent sinks gently
  capDb: 8, // a room weaker than the strongest by more counts no less: one deep fade decides nothing
  changeDb: 8, // dB · scans by which another room must win: 4 dB louder for two scans …
  halfHeard: 2, // … where many devices are compared: with so many heard in a scan, evidence counts half
  gapReadings: 100, // the scan period is a mean over so many readings …
  gapScans: 20, // … of gaps no longer than this: a longer one is another visit
  natDb: 1.4, // dB · scans of lead that make a room e times likelier: calibrates probabilities
  lapse: 0.09, // … and so rarely nothing heard explains where somebody is
  adviceDb: 4, // a measured plan takes at most so much from a room
  misfitDb: 0.06, // … this much for each dB² by which the levels fit worse there than elsewhere
  unheardDb: 8, // a room without a device is taken for so much weaker than what people usually hear best
});

/** Names of the numbers above, for those who choose them anew. */
const TUNABLE = Object.freeze(/** @type {(keyof typeof TUNED)[]} */ (Object.keys(TUNED)));

/** Physics and times of the contract. */
const CONSTANTS = Object.freeze({
  txDbm: -59, // calibrated power of a beacon of which the building says nothing else (the schema's default)
  touchDbm: -35, // measured within a hand's breadth only: held to a beacon on purpose, decides alone …
  touchAboveDb: 20, // … where it is so much above all else: some transmitters are strong
  exponent: 2.2, // path loss: 10 · exponent · log10(metres); offices measure 1.6 to 3.3 (Rappaport, Wireless Communications, 4.9)
  storeyM: 4, // usual height of a storey
  aboveM: 1.2, // a device is so far above or below a tag or phone
  cellM: 2, // about the accuracy that RSSI allows; smaller rooms have smaller cells
  levelDb: 12, // standard deviation of how far tags and phones are from their calibrated power

  windowMs: 1000, // a gateway's default window: before it is over its silence says nothing
  tickMs: 500, // readings of several gateways are taken together in steps of this event time
  holdMs: 150, // so long a step waits for slower gateways: network and broker take 10 to 100 ms
  reorderMs: 1000, // … or until this much newer readings came (in a replay faster than time)
  lateMs: 5000, // gateway clocks differ by 2 s, so readings 4 s apart may belong together; older ones are late
  lookaheadS: 8, // the room of a second is final once so many more are known
  arriveMs: 1750, // whoever appears is shown after this: each gateway has said by then what it heard …
  sureShare: Object.freeze({ phone: 0.5, gateway: 0.7 }), // … or at once in a room that is so likely (a phone says all at once)
  sureDevices: 3, // … by so many devices
  sayAgainMs: 5000, // contract: that a room became probable, or sure, is said once in so long
  staleMs: 30_000, // contract
  lostMs: 60_000, // contract
  goneMs: 15 * 60_000, // people are forgotten: as long as /retrieveformonitoring reaches back
});

/** @typedef {typeof CONSTANTS & {-readonly [name in keyof typeof TUNED]: number}} Settings all numbers a locator works with */

/** @type {Readonly<Settings>} */
const DEFAULTS = Object.freeze({ ...CONSTANTS, ...TUNED });

const SILENT_DBM = -100; // about where receivers hear nothing

module.exports = { DEFAULTS, SILENT_DBM, TUNABLE };
