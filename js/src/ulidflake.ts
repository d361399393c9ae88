/**
 * Ulid-Flakes of the stand-alone version: 64-bit IDs in the order of time that are hard to guess.
 *
 * A Ulid-Flake is its canonical text: 13 characters of Crockford's base-32 in upper case, such as
 * `00CMXB6TAK4SA`. Texts sort as the IDs do, compare with `===`, and are the JSON that Firn's Go package
 * writes.
 *
 * A {@link Generator} is for a system with ONE generator. Stand-alone IDs have no number of a generator,
 * and 20 random bits do not keep generators apart: 1200 generators that make an ID in the same millisecond
 * make two equal IDs with probability one half. A browser's tab is a generator, and so is each worker.
 *
 * The zero ID stands for "no ID". Go writes the zero ID as null in JSON; see {@link fromJSON}.
 *
 * @module
 */

import { compareIds, type Id, isCanonical, isParsed, jsonOf } from "./id.js";
import { bytesInt64, bytesOfInt64, checkInt64, decimalInt64, hexInt64, hexOfInt64 } from "./int64.js";
import { CLOCK_SETTINGS, type ClockConfig, Mint, type NextOptions } from "./mint.js";
import { randomBits, randomStep } from "./random.js";
import { checkField, checkSettings } from "./settings.js";
import { ULIDFLAKE_LARGEST, ULIDFLAKE_RANDOMNESS_BITS } from "./shapes.js";
import { epochOf, type Time, timestampOf } from "./time.js";
import {
  BELOW,
  bigIntOfUlid,
  boundOfUlid,
  EPOCH,
  LAST_TIMESTAMP,
  numberUlid,
  packUlid,
  parseUlid,
  textOfUlid,
  timeOfUlid,
  unpackUlid,
} from "./ulid.js";

export { ClockError, ConfigError, ExhaustedError, ParseError, TimeError } from "./errors.js";
export type { ClockConfig, NextOptions, Signal } from "./mint.js";
export type { Time } from "./time.js";

/** A stand-alone Ulid-Flake: the canonical text of 13 characters. */
export type UlidFlake = Id<"ulidflake", string>;

/** The fields of a Ulid-Flake, under the names of `firn inspect --json`. */
export interface UlidFlakeFields {
  /** Milliseconds from the epoch; 43 bits. */
  readonly timestamp: number;
  /** The random part, 0 to 2^20-1. */
  readonly randomness: number;
}

const FORMAT = "ulidflake";
/** The bits of the specification's reference implementation, which adds a random byte. */
const DEFAULT_INCREMENT_BITS = 8;

/** The largest randomness. */
export const MAX_RANDOMNESS = 2 ** ULIDFLAKE_RANDOMNESS_BITS - 1;
/** The epoch of the specification: 2024-01-01T00:00:00Z in Unix milliseconds. */
export const DEFAULT_EPOCH = EPOCH;
/** The last timestamp. */
export const MAX_TIMESTAMP = LAST_TIMESTAMP;
/** The zero ID, which stands for "no ID". */
export const ZERO = "0000000000000" as UlidFlake;
/** The largest ID. */
export const MAX = ULIDFLAKE_LARGEST as UlidFlake;

/**
 * Reads the canonical text of an ID: 13 characters of Crockford's base-32, in either case. I, L, O and U
 * do not stand for other characters. Any other text is a {@link ParseError}, with the kind `range` for a
 * text beyond 7ZZZZZZZZZZZZ.
 *
 * Specification: "Encoding" and "Timestamp and Over All".
 */
export function parse(text: string): UlidFlake {
  return parseUlid(FORMAT, text) as UlidFlake;
}

/** Reads an ID as a decimal integer: 1 to 19 digits and nothing else, such as some drivers return for BIGINT. */
export function parseDecimal(text: string): UlidFlake {
  return write(decimalInt64(FORMAT, text));
}

/** Reads the binary form in 16 hexadecimal digits of either case. */
export function parseHex(text: string): UlidFlake {
  return write(hexInt64(FORMAT, text));
}

/** Returns the ID of an integer, or throws a {@link ParseError} for an integer out of range. */
export function fromBigInt(value: bigint): UlidFlake {
  return write(checkInt64(FORMAT, value));
}

/** Reads the binary form: 8 bytes, the most significant first. */
export function fromBytes(bytes: Uint8Array): UlidFlake {
  return write(bytesInt64(FORMAT, bytes));
}

/**
 * Reads a value of JSON.parse that Go's package wrote: the text, or null for the zero ID. A number is read
 * as an integer. A number beyond 2^53 is a {@link ParseError}, because JSON.parse has rounded the number to
 * another ID. A number whose digits are also the text of another ID is a ParseError, too.
 */
export function fromJSON(value: unknown): UlidFlake | null {
  if (value === null) return null;
  return typeof value === "number" ? (numberUlid(FORMAT, value) as UlidFlake) : parse(value as string);
}

/** Returns what Go's package writes in JSON: the text, or null for the zero ID. */
export function toJSON(id: UlidFlake): string | null {
  return jsonOf(parse, ZERO, id);
}

function write(value: bigint): UlidFlake {
  return textOfUlid(value) as UlidFlake;
}

/** Returns the ID as an integer, for BIGINT columns. */
export function toBigInt(id: UlidFlake): bigint {
  return bigIntOfUlid(FORMAT, id);
}

/** Returns the ID as a decimal integer, without padding. */
export function toDecimal(id: UlidFlake): string {
  return String(toBigInt(id));
}

/** Returns the binary form in 16 lower-case hexadecimal digits. */
export function toHex(id: UlidFlake): string {
  return hexOfInt64(toBigInt(id));
}

/** Returns the binary form: 8 bytes, the most significant first. Binary forms sort as the IDs do. */
export function toBytes(id: UlidFlake): Uint8Array {
  return bytesOfInt64(toBigInt(id));
}

/** Returns the time of an ID, for the epoch of its generator. */
export function time(id: UlidFlake, epoch?: Time): Date {
  return timeOfUlid(FORMAT, id, epoch);
}

/**
 * Returns the smallest ID of the millisecond of a time. A scan from first(a) to last(b), both included,
 * finds all IDs from a to b. A time before the epoch or after the last timestamp counts as the nearest
 * time in range.
 */
export function first(time: Time, epoch?: Time): UlidFlake {
  return boundOfUlid(FORMAT, time, epoch, 0) as UlidFlake;
}

/** Returns the largest ID of the millisecond of a time; see {@link first}. */
export function last(time: Time, epoch?: Time): UlidFlake {
  return boundOfUlid(FORMAT, time, epoch, BELOW - 1) as UlidFlake;
}

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compare(a: UlidFlake, b: UlidFlake): -1 | 0 | 1 {
  return compareIds(parse, a, b);
}

/** Reports whether {@link parse} reads a value. */
export function isValid(value: unknown): boolean {
  return isParsed(parse, value);
}

/** Reports whether a value is an ID: the canonical text, in upper case. */
export function isUlidFlake(value: unknown): value is UlidFlake {
  return isCanonical(parse, value);
}

/** Reports whether an ID is the zero ID, which stands for "no ID". */
export function isZero(id: UlidFlake): boolean {
  return parse(id) === ZERO;
}

/** Returns the fields of an ID. */
export function fields(id: UlidFlake): UlidFlakeFields {
  const { timestamp, below } = unpackUlid(FORMAT, id);
  return { timestamp, randomness: below };
}

/**
 * Returns an ID of a time, with strong random bits, to back-fill rows that are older than their IDs. The
 * IDs of one millisecond have no order and can be equal: the promises of a generator do not hold. A time
 * before the epoch or after the last timestamp is a {@link TimeError}. The result is never the zero ID.
 */
export function fromTime(time: Time, epoch?: Time): UlidFlake {
  const timestamp = timestampOf(FORMAT, time, epochOf(FORMAT, epoch, DEFAULT_EPOCH), 0, MAX_TIMESTAMP);
  for (;;) {
    const id = packUlid(timestamp, randomBits(ULIDFLAKE_RANDOMNESS_BITS)) as UlidFlake;
    if (id !== ZERO) return id;
  }
}

/** Says how a {@link Generator} makes its IDs. */
export interface GeneratorConfig extends ClockConfig {
  /**
   * Each further ID of a millisecond adds a random increment in [1, 2^n) to the randomness. The default, which
   * 0 means too, is 8, so that the next ID is hard to guess: a millisecond has 4 100 IDs on average. Each bit
   * less makes the next ID easier to guess, and doubles the number of IDs. 1 means plus 1: half a million IDs
   * in a millisecond on average. At most 20.
   */
  readonly incrementBits?: number | undefined;
  /** The time of timestamp 0: a time in the past, in whole milliseconds. The default is {@link DEFAULT_EPOCH}. */
  readonly epoch?: Time | undefined;
}

/**
 * Makes Ulid-Flakes. The IDs of one generator are distinct and increase in the order of issue, for any
 * steps of the clock. A generator does not remember its last ID over a reload of the page or a restart of
 * the process. The first ID of a millisecond has a random number, drawn uniformly over all values. Random
 * bits come from crypto.getRandomValues.
 */
export class Generator {
  readonly #mint: Mint<UlidFlake>;
  /** The time of timestamp 0, in Unix milliseconds. */
  readonly epoch: number;

  /**
   * Throws a {@link ConfigError} for a setting that is out of range, and a {@link TimeError} if the clock
   * is not after the default epoch.
   */
  constructor(config: GeneratorConfig = {}) {
    checkSettings(FORMAT, "config", config, ["incrementBits", "epoch", ...CLOCK_SETTINGS]);
    const given = checkField(FORMAT, "incrementBits", config.incrementBits, ULIDFLAKE_RANDOMNESS_BITS, 0);
    const bits = given === 0 ? DEFAULT_INCREMENT_BITS : given;
    this.epoch = epochOf(FORMAT, config.epoch, DEFAULT_EPOCH);
    this.#mint = new Mint({
      format: FORMAT,
      epoch: this.epoch,
      last: MAX_TIMESTAMP,
      limit: BELOW,
      start: () => randomBits(ULIDFLAKE_RANDOMNESS_BITS),
      step: bits > 1 ? () => randomStep(bits) : () => 1,
      make: (timestamp, randomness) => packUlid(timestamp, randomness) as UlidFlake,
      maxBackward: config.maxBackward,
      clock: config.clock,
    });
    this.#mint.checkClock(config.epoch);
  }

  /**
   * Returns a new ID, greater than all IDs before, or throws the reason for having none. The error is an
   * {@link ExhaustedError} if the randomness passes its largest value, or if callers of {@link next} wait
   * for the IDs that are left. The error is a {@link ClockError} if the clock is behind the last ID, and a
   * {@link TimeError} if no timestamp fits the clock.
   *
   * Specification: "Monotonicity and Overflow Error Handling".
   */
  tryNext(): UlidFlake {
    return this.#mint.tryNext();
  }

  /**
   * Returns a new ID, greater than all IDs before. Waits for the next millisecond once the randomness
   * passes its largest value, and for a clock that is behind the last ID by up to maxBackward. Waiters get
   * IDs in turn. The promise is rejected with a {@link ClockError} or a {@link TimeError}, or with the
   * reason of the signal.
   */
  next(options?: NextOptions): Promise<UlidFlake> {
    return this.#mint.next(options);
  }

  /** Returns the time of an ID of a generator with the same epoch. */
  time(id: UlidFlake): Date {
    return time(id, this.epoch);
  }

  /** Returns the smallest ID of the millisecond of a time; see the function first. */
  first(time: Time): UlidFlake {
    return first(time, this.epoch);
  }

  /** Returns the largest ID of the millisecond of a time; see the function first. */
  last(time: Time): UlidFlake {
    return last(time, this.epoch);
  }
}
