/**
 * A locator as the rest of the flows knows it. The locator itself is typed under a tsconfig of its own (numerics over
 * typed arrays, where an index is never checked for undefined), and is held to this page there.
 */
import type { Building } from './building';
import type { Batch } from './intake/readings';
import type { Settings } from './locator/settings';
import type { Work } from './shared/pieces';

export type { Settings };
/** Made of a building, for locators alone. */
export type Prepared = any;
/** A locator's knowledge; only locators read it. */
export type Saved = any;
export type State = 'present' | 'stale' | 'lost';

/**
 * probability: that they are in this room, 0 to 1, two decimals; null: not known (located by an earlier version, or not heard since a
 * start). runner_up: id of the likeliest other room; null where there is none, and always where probability is null, or 0.9 and more.
 */
export type Sureness = { probability: number | null; runner_up: string | null };
/**
 * ts: the second it is about, epoch ms; beacon and rssi (dBm) of the strongest reading from that room, or of all. One sent
 * again for the same second replaces the earlier one. corrected: history, which knows what came after it, replaces what was said of that
 * second live; only where that is so, and from then on always.
 */
export type Location = {
  ts: number; staff_id: string; level: string; room: string; beacon: string; rssi: number; corrected?: true;
} & Sureness;
/** ts = enter_ms; sent again with a later leave_ms when it turns out to have gone on. */
export type Stay = {
  ts: number; staff_id: string; level: string; room: string; enter_ms: number; leave_ms: number; duration_s: number;
};
export type LocationEvent = { ts: number; type: 'enter' | 'leave' | 'lost'; staff_id: string; level: string; room: string };
/** since, ts: epoch ms; ts: of the newest reading, and the probability is of then. */
export type Presence = { staff_id: string; level: string; room: string; since: number; ts: number; state: State } & Sureness;
/** Readings of a time that is over for this person: its history may be located anew. */
export type Late = { staff_id: string; ts: number };
/**
 * News; presences only where room, its beginning or state changed, or the probability crossed 0.7 in either direction; of one
 * person not twice within 5 s of event time for that alone.
 */
export type Outcome = {
  locations: Location[]; late: Late[]; stays: Stay[]; events: LocationEvent[]; presences: Presence[];
};

/**
 * Why somebody is said to be where they are. rooms: the likeliest, with their probabilities; heard: what is remembered of each
 * beacon or gateway: its mean level (dBm), of how many readings, how old, and how strong it should be at the best place of
 * each of `rooms` by the measured plan (null: there is none); level_db: how much stronger than calibrated the tag or phone is, with its
 * standard deviation (null: not known); change: which other room comes next, and by how much it leads (natural log of the odds).
 */
export type Trace = {
  staff_id: string; ts: number; room: string | null; rooms: { room: string; level: string; probability: number }[];
  heard: { id: string; room: string; rssi: number; readings: number; age_s: number; expected: (number | null)[] }[];
  level_db: number | null; level_sd_db: number | null; change: { room: string; lead_nats: number; needed_nats: number } | null;
};

export type LearnedStrength = { staff_id: string; level_db: number | null; level_sd_db: number | null };
type DeviceName = { kind: 'gateway' | 'beacon'; id: string };
/** By how much more (negative: less) than others a gateway hears people, or a beacon is heard; it is subtracted from readings. place: by `placementKey`. */
export type Offset = DeviceName & { place: string; offset_db: number };
/**
 * from_ms: event time, epoch ms, from which it holds; silent: devices that are silent though they should be heard; plan: ids of the levels
 * whose measured plan has shown its worth.
 */
export type LearnedVersion = { from_ms: number; offsets: Offset[]; silent?: DeviceName[]; plan?: string[] };
/**
 * One person's readings at one moment. room, advised: by the rule alone, and as the measured plan advises; devices: that are heard, with their
 * mean level, dBm, without learned offsets.
 */
export type Sample = {
  staff_id: string; ms: number; level: string; room: string; advised: string;
  devices: (DeviceName & { place: string; room: string; rssi: number })[];
};

export interface Locator {
  /** Take one checked batch. */
  hear(batch: Batch, nowMs: number, outcome: Outcome): void;
  /** Let time pass: steps come to their end, people grow stale, get lost and are forgotten. Several times a second. */
  tick(nowMs: number, outcome: Outcome): void;
  /** Prepares for another building, which takes its time; to be done before `setBuilding`, in pieces. */
  prepare(next: Building): Work<Prepared>;
  /**
   * Use another building from now on. What was heard up to now is located with the old one; whoever is in a room that
   * still exists stays there. prepared: by this locator or by another one with the same overrides; else it is done now.
   */
  setBuilding(next: Building, nowMs: number, outcome: Outcome, prepared?: Prepared): void;
  /**
   * The broker's word about a gateway; silence of one that is out means nothing. ms: when, epoch ms: what it hears some seconds
   * later shows that it is not out. Not given: it stays out until another call.
   */
  setGateway(id: string, up: boolean, ms?: number): void;
  /** Forget who was heard later than now: our clock was set back, and what comes would be late until it is there again. */
  forgetAfter(nowMs: number): void;
  /** From when on it is open where somebody is, epoch ms: locations since then may be sent again. Infinity: it is not. */
  doubtedSince(staffId: string): number;
  /** Everybody heard within the last quarter of an hour. */
  presences(): Presence[];
  /**
   * The same people, with the room and beginning of the stay that history has open: some seconds behind `presences`, and in
   * agreement with the stays that were sent.
   */
  openStays(): Presence[];
  /** Why somebody is said to be where they are; null where nothing is known of them. */
  trace(staffId: string): Trace | null;
  /** Expected levels of measured devices in a room, on average over its places, by device id, dBm. */
  expectedIn(room: string): Map<string, number>;
  /** How much stronger than calibrated each tag or phone is, dB. */
  learnedStrengths(): LearnedStrength[];
  /** Who learns of devices and of the plan gets samples. */
  onSample(listener: ((sample: Sample) => void) | null): void;
  /** All that is known of these people (of everybody, if not given), as data that `v8.serialize` takes; outcome is added to. */
  save(nowMs: number, outcome: Outcome, ids?: Iterable<string>): Saved;
  /** Goes on from there, as the saved one would; isChosen: people to restore, everybody if not given. False: another building or release. */
  restore(saved: Saved, isChosen?: (staffId: string) => boolean): boolean;
  /**
   * Somebody is known to be in a room since some time: where a rebuilt history leaves off, or where it begins; its ts: up to
   * when that is known.
   */
  resume(presence: Presence): void;
  /** Somebody is where they are since another time than it seemed, epoch ms. Null: they are not in that room. */
  correctStayStart(staffId: string, room: string, sinceMs: number): Presence | null;
}

/** overrides: of single numbers of `settings.js`; prepared: what follows from the building, if that is known; versions: of the
 * what was learned, ascending, may grow at the end. */
export function createLocator(building: Building, overrides?: Partial<Settings>, prepared?: Prepared,
  versions?: readonly LearnedVersion[]): Locator;
export function emptyOutcome(): Outcome;
/** All that the expected level of a gateway or beacon depends on, as text. */
export function placementKey(
  device: { id: string; level: string; room: string; x_m: number; y_m: number; tx?: number; rssi_offset?: number }): string;
/** The numbers where overrides say nothing else. */
export const DEFAULTS: Readonly<Settings>;
/** Names of those that were chosen on recordings; the others are physics, or times of the contract. */
export const TUNABLE: readonly (keyof Settings)[];
