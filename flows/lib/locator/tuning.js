// @ts-check
'use strict';

/**
 * Every number of the locator, each with its reason. Any of them may be overridden when a locator is made.
 * dB and dBm are of one reading (a window's median).
 */
const TUNING = Object.freeze({
  // What a reading should be: tx - carriedDb - 10·exponent·log10(distance) - walls - floors
  txDbm: -59, // calibrated power of a beacon that says nothing else (the building schema's default)
  carriedDb: 3.5, // a body takes up to 7 dB from behind (ITU-R P.1238: 6 to 8 dB), none from the front: on average so much
  exponent: 2, // free space; indoors 1.8 to 2.2 on one floor once walls are counted by themselves (COST 231, 4.7)
  wallDb: 6.9, // COST 231: 3.4 dB a light wall, 6.9 dB a heavy one; no wall where rooms open into each other (plan.js)
  floorDb: 18, // COST 231: 18.3 dB the first floor
  storeyM: 4, // usual height of a storey
  aboveM: 1.5, // what hangs under a ceiling of 2.7 m is so far above a tag or phone; a device's own z_m goes before
  carriedM: 1.2, // height at which tags and phones are carried, for devices with z_m
  nearestM: 1, // closer than this the distance to the middle of a cell means nothing
  weakestDbm: -105, // walls add up to less than their sum: signals come round corners
  spreadDb: 5, // standard deviation around that: fading and shadowing; 5.5 dB on the recorded walks, body included
  commonDb: 1.5, // what all readings of one moment share: how the tag hangs, how the phone is built
  facingDb: 2.5, // how much the way somebody faces matters in each direction: 7 dB between front and back is ±3.5 dB, / √2

  // What was not heard
  lostShare: 0.15, // windows lost although the transmitter is near
  hearableDbm: -94, // weaker ones are received by half at most
  quietSpreadDb: 5, // as spreadDb
  quietSources: 6, // so many strongest sources of a cell are asked for; further ones hardly tell more
  wholeReadings: 4, // a phone with so many readings may have left out weaker ones
  aliveMs: 10 * 60_000, // a gateway of unknown status that delivered nothing for so long may be out
  beaconDeadMs: 24 * 3_600_000, // a fixed beacon nobody heard for a day has an empty battery

  // Where one can be and go
  cellM: 2, // about the accuracy that RSSI allows; finer costs more and finds no more
  paceM: 2, // walking speed in metres a second, as the spread of one step
  doorFactor: 0.7, // a step into another room is less likely than one within: walls are in the way
  liftShare: 0.05, // of a second in a lift lobby, people change level
  appearDb: 25, // somebody new may be wherever the strongest source should be no weaker than so much below the reading
  strayShare: 5e-4, // people appear elsewhere (a tag handed over, a phone back from a pocket of bad reception)
  strayCells: 12, // … near the sources they are heard by: that many cells of each
  strayFrom: 3, // … of the strongest so many sources
  keptCells: 56, // a belief is that many cells at most; less likely ones are dropped: each costs 3 bytes a person
  keptShare: 3e-4, // … and so are those below this probability
  stepsAtMost: 5, // after a longer silence than so many seconds the belief is as wide as it gets
  forgetMs: 30_000, // after that nothing is known any more, like at the start

  // Whether somebody stands
  remembered: 8, // so many sources; more tell hardly more
  rememberAtMost: 60, // readings: some turns of the body even out, and slow changes (a battery, the weather) are followed
  fadeShare: 0.5, // … and a phone's are forgotten with this power of the chance that somebody stood: a turn of the body is no walk
  noiseDb: 4, // readings of one place at one moment and the next
  changeDb: 4, // … and what comes on top at another place a few steps away
  goneShare: 0.5, // … where a phone does not hear half of what it heard before
  standS: 5, // mean time between two movements: short, so that a change is seen at once
  walkS: 4, // … and of a movement
  settledS: 60, // so long beyond doubt in one room, it grows with that time (stays are log-normal) …
  settledAtMostS: 600, // … up to this: shorter than what a rebuild reads beforehand, so that it finds the same
  stoodS: 4, // whoever walked remains a walker for so long: behind the door it takes some readings to find the room, …
  stoodShare: 0.95, // … stood all that time when standing was so likely on average, …
  phoneWalkShare: 0.25, // … and walked when it was no likelier than this (a phone's four beacons tell it clearly,
  gatewayWalkShare: 0.45, //    gateways less so)

  // When to say so
  winNats: 0.25, // evidence (log odds, added up over decisions) that a challenger needs
  openNats: 2, // … and in open areas, where no wall tells a step from fading
  levelNats: 1.5, // … and so much more on another level
  stickyNats: 10, // … and more the longer somebody stayed, while they stand: the chance to leave within the next second falls
  stickyS: 60, //    with the time already spent in a room (stays are log-normal), as log(1 + stay / stickyS)
  backNats: 20, // … and so much more for each time that they came back without having walked: then the rooms are hard to tell
  //   apart from there;
  backMs: 20_000, // … it counts fully within this time: who really goes stays away longer;
  doubtsAtMost: 5, // … more often than this does not count,
  doubtMs: 600_000, // … nor what is longer ago: less than what a rebuild reads beforehand, so that it finds the same
  firstDoubts: 1.5, // … whoever appears is not taken to walk at once: what comes after the first room is mostly a mistake
  doubtsKept: 0.3, // … and a third room tells of a walk: so much of the doubts stays
  doubtNats: 2, // a challenger ahead by less than this does not gain …
  walkNats: 0, // … or, while somebody walks, by less than this: through a wall signals change at once (not so in open areas)
  touchDbm: -35, // measured within a hand's breadth only: held to a beacon on purpose, decides alone
  least: 1e-3, // no room is less likely than this, so one reading cannot weigh more than 7 nats

  // Since when
  sureShare: 0.95, // a room that is so likely is beyond doubt
  dateShare: 0.3, // a change lies so far back from where the new room began to lead to where the old one was beyond doubt
  lookBackMs: 10_000, // … which is sought so far back at most
  arriveMs: 10_000, // of somebody who appears it is told where as soon as that is sure (of a tag after each gateway's second
  //   window), at the latest then
  settleMs: 10_000, // whoever appeared so short a time ago was in the room found now all along
  windowMs: 1000, // a reading tells of the middle of its window: a gateway's default, and the shortest of a phone
  windowAtMostMs: 4000, // … and the longest (contract)

  // Time
  tickMs: 500, // readings of several gateways are taken together in steps of this event time: half a gateway's window, so that
  //   several have their say, and nobody waits long for it
  holdMs: 150, // so long a step waits for slower gateways: network and broker take 10 to 100 ms
  reorderMs: 1000, // … or until this much newer readings came (in a replay faster than time)
  aheadMs: 5000, // a clock further ahead than this is not believed; the arrival counts
  lateMs: 5000, // gateway clocks differ by 2 s, so readings 4 s apart may belong together; older ones are late
  staleMs: 30_000, // contract
  lostMs: 60_000, // contract
  goneMs: 15 * 60_000, // people are forgotten: as long as /retrieveformonitoring looks back
});

/** @typedef {typeof TUNING} Tuning */

module.exports = { TUNING };
