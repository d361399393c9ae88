/**
 * Ulid-Flakes of the scalable version: 64-bit IDs in the order of time that are hard to guess, unique
 * among up to 32 generators.
 *
 * An ID is its canonical text: 13 characters of Crockford's base-32 in upper case. The texts of the two
 * versions look alike: a program has to know which of the two a text is. This module reads scalable IDs. A
 * generator needs a scalability that no other generator has, and leases of scalabilities are a part of the
 * Go package.
 *
 * The zero ID stands for "no ID". Go writes the zero ID as null in JSON; see {@link fromJSON}.
 *
 * @module
 */

import { compareIds, type Id, isCanonical, isParsed, jsonOf } from "./id.js";
import { bytesInt64, bytesOfInt64, checkInt64, decimalInt64, hexInt64, hexOfInt64 } from "./int64.js";
import { randomBits } from "./random.js";
import { checkField, checkSettings } from "./settings.js";
import {
  ULIDFLAKE_SCALABLE_LARGEST,
  ULIDFLAKE_SCALABLE_RANDOMNESS_BITS,
  ULIDFLAKE_SCALABLE_SCALABILITY_BITS,
} from "./shapes.js";
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

export { ConfigError, ParseError, TimeError } from "./errors.js";
export type { Time } from "./time.js";

/** A scalable Ulid-Flake: the canonical text of 13 characters. */
export type ScalableUlidFlake = Id<"ulidflake-scalable", string>;

/** The fields of a scalable Ulid-Flake, under the names of `firn inspect --json`. */
export interface ScalableUlidFlakeFields {
  /** Milliseconds from the epoch; 43 bits. */
  readonly timestamp: number;
  /** The random part, 0 to 2^15-1. */
  readonly randomness: number;
  /** The number of the generator, 0 to 31. */
  readonly scalability: number;
}

const FORMAT = "ulidflake-scalable";
const RANDOMNESS_BITS = ULIDFLAKE_SCALABLE_RANDOMNESS_BITS;
const SCALABILITY_BITS = ULIDFLAKE_SCALABLE_SCALABILITY_BITS;

/** The largest randomness. */
export const MAX_RANDOMNESS = 2 ** RANDOMNESS_BITS - 1;
/** The largest scalability. */
export const MAX_SCALABILITY = 2 ** SCALABILITY_BITS - 1;
/** The epoch of the specification: 2024-01-01T00:00:00Z in Unix milliseconds. */
export const DEFAULT_EPOCH = EPOCH;
/** The last timestamp. */
export const MAX_TIMESTAMP = LAST_TIMESTAMP;
/** The zero ID, which stands for "no ID". */
export const ZERO = "0000000000000" as ScalableUlidFlake;
/** The largest ID. */
export const MAX = ULIDFLAKE_SCALABLE_LARGEST as ScalableUlidFlake;

/**
 * Reads the canonical text of an ID: 13 characters of Crockford's base-32, in either case. I, L, O and U
 * do not stand for other characters. Any other text is a {@link ParseError}, with the kind `range` for a
 * text beyond 7ZZZZZZZZZZZZ.
 *
 * Specification: "Encoding" and "Timestamp and Over All".
 */
export function parse(text: string): ScalableUlidFlake {
  return parseUlid(FORMAT, text) as ScalableUlidFlake;
}

/** Reads an ID as a decimal integer: 1 to 19 digits and nothing else, such as some drivers return for BIGINT. */
export function parseDecimal(text: string): ScalableUlidFlake {
  return write(decimalInt64(FORMAT, text));
}

/** Reads the binary form in 16 hexadecimal digits of either case. */
export function parseHex(text: string): ScalableUlidFlake {
  return write(hexInt64(FORMAT, text));
}

/** Returns the ID of an integer, or throws a {@link ParseError} for an integer out of range. */
export function fromBigInt(value: bigint): ScalableUlidFlake {
  return write(checkInt64(FORMAT, value));
}

/** Reads the binary form: 8 bytes, the most significant first. */
export function fromBytes(bytes: Uint8Array): ScalableUlidFlake {
  return write(bytesInt64(FORMAT, bytes));
}

/**
 * Reads a value of JSON.parse that Go's package wrote: the text, or null for the zero ID. A number is read
 * as an integer. A number beyond 2^53 is a {@link ParseError}, because JSON.parse has rounded the number to
 * another ID. A number whose digits are also the text of another ID is a ParseError, too.
 */
export function fromJSON(value: unknown): ScalableUlidFlake | null {
  if (value === null) return null;
  return typeof value === "number" ? (numberUlid(FORMAT, value) as ScalableUlidFlake) : parse(value as string);
}

/** Returns what Go's package writes in JSON: the text, or null for the zero ID. */
export function toJSON(id: ScalableUlidFlake): string | null {
  return jsonOf(parse, ZERO, id);
}

function write(value: bigint): ScalableUlidFlake {
  return textOfUlid(value) as ScalableUlidFlake;
}

/** Returns the ID as an integer, for BIGINT columns. */
export function toBigInt(id: ScalableUlidFlake): bigint {
  return bigIntOfUlid(FORMAT, id);
}

/** Returns the ID as a decimal integer, without padding. */
export function toDecimal(id: ScalableUlidFlake): string {
  return String(toBigInt(id));
}

/** Returns the binary form in 16 lower-case hexadecimal digits. */
export function toHex(id: ScalableUlidFlake): string {
  return hexOfInt64(toBigInt(id));
}

/** Returns the binary form: 8 bytes, the most significant first. Binary forms sort as the IDs do. */
export function toBytes(id: ScalableUlidFlake): Uint8Array {
  return bytesOfInt64(toBigInt(id));
}

/** Returns the time of an ID, for the epoch of its generator. */
export function time(id: ScalableUlidFlake, epoch?: Time): Date {
  return timeOfUlid(FORMAT, id, epoch);
}

/**
 * Returns the smallest ID of the millisecond of a time. A scan from first(a) to last(b), both included,
 * finds all IDs from a to b. A time before the epoch or after the last timestamp counts as the nearest
 * time in range.
 */
export function first(time: Time, epoch?: Time): ScalableUlidFlake {
  return boundOfUlid(FORMAT, time, epoch, 0) as ScalableUlidFlake;
}

/** Returns the largest ID of the millisecond of a time; see {@link first}. */
export function last(time: Time, epoch?: Time): ScalableUlidFlake {
  return boundOfUlid(FORMAT, time, epoch, BELOW - 1) as ScalableUlidFlake;
}

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compare(a: ScalableUlidFlake, b: ScalableUlidFlake): -1 | 0 | 1 {
  return compareIds(parse, a, b);
}

/** Reports whether {@link parse} reads a value. */
export function isValid(value: unknown): boolean {
  return isParsed(parse, value);
}

/** Reports whether a value is an ID: the canonical text, in upper case. */
export function isScalableUlidFlake(value: unknown): value is ScalableUlidFlake {
  return isCanonical(parse, value);
}

/** Reports whether an ID is the zero ID, which stands for "no ID". */
export function isZero(id: ScalableUlidFlake): boolean {
  return parse(id) === ZERO;
}

/** Returns the fields of an ID. */
export function fields(id: ScalableUlidFlake): ScalableUlidFlakeFields {
  const { timestamp, below } = unpackUlid(FORMAT, id);
  return { timestamp, randomness: below >> SCALABILITY_BITS, scalability: below & MAX_SCALABILITY };
}

/**
 * Returns an ID of a time and a scalability, with strong random bits, to back-fill rows that are older than
 * their IDs. The IDs of one millisecond have no order and can be equal: the promises of a generator do not
 * hold. A time before the epoch or after the last timestamp is a {@link TimeError}. A scalability out of
 * range is a {@link ConfigError}. The result is never the zero ID.
 */
export function fromTime(time: Time, fields: { readonly scalability: number }, epoch?: Time): ScalableUlidFlake {
  const { scalability } = checkSettings(FORMAT, "fields", fields, ["scalability"]);
  checkField(FORMAT, "scalability", scalability, MAX_SCALABILITY);
  const timestamp = timestampOf(FORMAT, time, epochOf(FORMAT, epoch, DEFAULT_EPOCH), 0, MAX_TIMESTAMP);
  for (;;) {
    const id = packUlid(timestamp, (randomBits(RANDOMNESS_BITS) << SCALABILITY_BITS) | scalability) as ScalableUlidFlake;
    if (id !== ZERO) return id;
  }
}
