// @ts-check
'use strict';

const { TUNING } = require('./tuning');

/** Numbers of the method that no building needs to change, and times of the contract. */
const CONSTANTS = Object.freeze({
  // Geometry
  txDbm: -59, // calibrated power of a beacon that says nothing else (the building schema's default)
  storeyM: 4, // usual height of a storey
  aboveM: 1.2, // a device of unknown height is so far above or below a tag or phone
  nearestM: 1, // the calibrated power is measured here; closer, the distance to the middle of a cell means nothing
  weakestDbm: -105, // walls add up to less than their sum: signals come round corners
  cellM: 2, // about the accuracy that RSSI allows; smaller rooms have smaller cells
  paceM: 1.5, // walking speed in metres a second, as the spread of one step
  doorFactor: 0.7, // a step into another room is less likely than one within: walls are in the way
  liftShare: 0.05, // of a second in a lift lobby, people change level

  // Evidence
  remembered: 12, // so many devices of each person; further ones add little
  gaps: 4, // a device that is heard rarely is averaged over so many of its gaps
  fadesOut: 10 / 3, // … and forgotten after so many averaging times
  lastingAtMost: 30, // what is heard while somebody stands evens out over so many readings at most
  movedSigma: 1, // they moved when what is heard of late is so many standard deviations off
  walkLooks: 3, // who moves is somewhere else with each reading: evidence counts so much more
  powerNats: 0.6, // a room whose devices are heard with e times the power is so much likelier: what walls and distances say may be wrong
  unplacedPowerNats: 1.2, // … where it is not known where in their rooms the devices are
  powerFolds: 4, // … down to so many factors of e; a room without a device of its own counts as one factor below the strongest
  lostShare: 0.15, // windows lost although the transmitter is near
  hearableDbm: -94, // weaker ones are received by half at most
  quietSources: 6, // so many strongest devices of a cell are asked for
  wholeReadings: 3, // a phone with so many readings may have left out weaker ones
  levelS: 5, // readings nearer in time than this say the same about the level of a tag
  levelDriftDb: 0.03, // a level changes by so much in a second (a random walk): batteries and pockets
  aliveMs: 10 * 60_000, // a gateway of unknown status that delivered nothing for so long may be out
  beaconDeadMs: 24 * 3_600_000, // a fixed beacon nobody heard for a day has an empty battery

  // Beliefs
  appearDb: 25, // somebody new may be wherever the strongest device should be no weaker than so much below the reading
  strayShare: 1e-3, // of a second, people appear elsewhere (a tag handed over, a phone back from a pocket of bad reception)
  strayCells: 24, // … near the devices they are heard by: that many cells of each
  strayFrom: 3, // … of the strongest so many devices
  keptCells: 45, // a belief is that many cells at most; less likely ones are dropped: each costs 3 bytes a person
  keptShare: 3e-4, // … and so are those below this probability
  stepsAtMost: 5, // after a longer silence than so many seconds the belief is as wide as it gets
  forgetMs: 30_000, // after that nothing is known any more, like at the start
  touchDbm: -35, // measured within a hand's breadth only: held to a beacon on purpose, decides alone
  least: 1e-4, // no room is less likely than this

  // Live and history
  liveShare: 0.5, // live takes so much of changeNats: what it says too early, history corrects some seconds later …
  liveGaps: 4, // … and as much for each window between two readings, so many at most: a single reading says little
  lookaheadS: 8, // the room of a second is chosen with so many more known: as long as it takes to walk through a room
  lookaheadRooms: 4, // … by so many likeliest rooms of each

  // Time
  windowMs: 1000, // a reading belongs to the middle of its window: a gateway's default, and the shortest of a phone
  arriveMs: 2000, // whoever appears is shown after this: each gateway has said by then what it heard …
  sureShare: 0.9, // … or at once in a room that is so likely
  sureDevices: 3, // … by so many devices: one alone is strongest wherever it was heard first
  tickMs: 500, // readings of several gateways are taken together in steps of this event time: half a gateway's window, so that
  //   several have their say, and nobody waits long for it
  holdMs: 150, // so long a step waits for slower gateways: network and broker take 10 to 100 ms
  reorderMs: 1000, // … or until this much newer readings came (in a replay faster than time)
  aheadMs: 5000, // a clock further ahead than this is not believed; the arrival counts
  lateMs: 5000, // gateway clocks differ by 2 s, so readings 4 s apart may belong together; older ones are late
  staleMs: 30_000, // contract
  lostMs: 60_000, // contract
  probableMs: 5000, // contract: so far apart are reports that somebody is only probably there, or is so no more
  goneMs: 15 * 60_000, // people are forgotten: as long as /retrieveformonitoring reaches back
});

/** @typedef {typeof CONSTANTS & import('./tuning').Tuning} Settings all numbers a locator works with */

/** @type {Readonly<Settings>} as they are where a building sets none */
const DEFAULTS = Object.freeze({ ...CONSTANTS, ...TUNING });

module.exports = { DEFAULTS };
