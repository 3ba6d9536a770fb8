// @ts-check
'use strict';

/**
 * The locator's numbers that depend on a building, its devices or what is wanted of it; a building file may set each
 * (`tuning`). All others are constants of the method (constants.js) or follow from these.
 */
const TUNING = Object.freeze({
  exponent: 2.2, // path loss: 10 · exponent · log10(metres); 2 is free space, offices measure 1.6 to 3.3 (Rappaport, Wireless
  //   Communications, 4.9)
  wallDb: 3.5, // loss of a wall; COST 231 has 3.4 dB for a light one, 6.9 dB for a heavy one
  floorDb: 18, // loss of a floor; COST 231: 18.3 dB the first one
  spreadDb: 6, // standard deviation of what lasts while nobody moves: furniture, a device's antenna, an error of the plan
  fadingDb: 4, // standard deviation from one reading of a place to the next
  carriedDb: 3, // standard deviation of what moves all readings of a person at once: how a tag hangs, which way somebody faces
  levelDb: 12, // … and of how far a tag or phone is from its calibrated power, before that is learned
  hearingS: 1.2, // readings of a device are averaged over so long, a window of 1 s each
  memoryS: 3, // evidence for a place fades with this time: about as long as it takes to walk through a door and be behind it
  looks: 4, // all evidence at hand counts as so many independent looks: furniture does the same to this reading and to the next
  changeNats: 1.6, // another room must be so much likelier (natural log of the odds) before history says that somebody is there;
  //   live takes a part of it (`liveShare`, constants.js) …
  settledNats: 1.2, // … and so much more for each factor of e in the minutes they stayed: stays are log-normal
});

/** @typedef {typeof TUNING} Tuning */

module.exports = { TUNING };
