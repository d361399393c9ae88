/**
 * Nanoflakes: 64-bit IDs in the order of time, unique among up to 1024 generators with the same epoch.
 *
 * A Nanoflake is its canonical text: 13 base-36 digits in lower case, such as `07en9rb30swmf`. Texts sort
 * as the IDs do, compare with `===`, and are the JSON that Firn's Go package writes. This module reads
 * Nanoflakes. A generator needs a generator ID that no other generator has, and leases of generator IDs
 * are a part of the Go package.
 *
 * The zero ID stands for "no ID". Go writes the zero ID as null in JSON; see {@link fromJSON}.
 *
 * @module
 */

import { badRange } from "./errors.js";
import { compareIds, type Id, isCanonical, isParsed, jsonOf } from "./id.js";
import { bytesInt64, bytesOfInt64, checkInt64, decimalInt64, hexInt64, hexOfInt64, numberInt64 } from "./int64.js";
import { checkField, checkSettings, zeroId } from "./settings.js";
import {
  NANOFLAKE_DIGITS,
  NANOFLAKE_EPOCH,
  NANOFLAKE_GENERATOR_ID_BITS,
  NANOFLAKE_LARGEST,
  NANOFLAKE_LENGTH,
  NANOFLAKE_SEQUENCE_BITS,
  NANOFLAKE_TIMESTAMP_BITS,
} from "./shapes.js";
import { alphabet, check } from "./text.js";
import { epochOf, limitedTimestamp, type Time, timestampOf } from "./time.js";

export { ConfigError, ParseError, TimeError } from "./errors.js";
export type { Time } from "./time.js";

/** A Nanoflake: the canonical text of 13 base-36 digits. */
export type Nanoflake = Id<"nanoflake", string>;

/** The fields of a Nanoflake, under the names of `firn inspect --json`. */
export interface NanoflakeFields {
  /** Milliseconds from the epoch; 41 bits. */
  readonly timestamp: number;
  /** The generator's number, 0 to 1023. */
  readonly generator_id: number;
  /** The number of the ID within its millisecond, 0 to 4095. */
  readonly sequence: number;
}

const FORMAT = "nanoflake";
const DIGITS = /* @__PURE__ */ alphabet(NANOFLAKE_DIGITS, true, "a base-36 digit");
const LENGTH = NANOFLAKE_LENGTH;
/** The bits below the timestamp. */
const BELOW = /* @__PURE__ */ BigInt(NANOFLAKE_GENERATOR_ID_BITS + NANOFLAKE_SEQUENCE_BITS);
/** 36^6, the value of the digit before the last six. */
const POW6 = 2176782336n;

/** The epoch of Go's package by default: 2021-01-01T00:00:00Z in Unix milliseconds. The application chooses the epoch. */
export const DEFAULT_EPOCH = NANOFLAKE_EPOCH;
/** The last timestamp. */
export const MAX_TIMESTAMP = 2 ** NANOFLAKE_TIMESTAMP_BITS - 1;
export const MAX_GENERATOR_ID = 2 ** NANOFLAKE_GENERATOR_ID_BITS - 1;
export const MAX_SEQUENCE = 2 ** NANOFLAKE_SEQUENCE_BITS - 1;
/** The zero ID, which stands for "no ID". */
export const ZERO = "0000000000000" as Nanoflake;
/** The largest ID. */
export const MAX = NANOFLAKE_LARGEST as Nanoflake;

/**
 * Reads the text of an ID: exactly 13 base-36 digits, with letters in either case. Any other text is a
 * {@link ParseError}. A text that lost a character is thus an error, and not another ID.
 *
 * Specification: "Encoding of Nanoflakes".
 */
export function parse(text: string): Nanoflake {
  const canonical = check(FORMAT, DIGITS, text, LENGTH, LENGTH, wantLength);
  return limit(canonical ? text : text.toLowerCase(), text);
}

function wantLength(length: number): string {
  return length > 0 && length < LENGTH ? "13: if its leading zeros were left out, read it as base36" : "13";
}

/** Texts sort as the IDs do, so the largest text is the largest ID. */
function limit(id: string, input: string): Nanoflake {
  if (id > MAX) throw badRange(FORMAT, input, `0 to ${MAX}`);
  return id as Nanoflake;
}

/**
 * Reads base-36 digits with or without padding: 1 to 13 digits. Other implementations write IDs without
 * padding. A text without padding is another ID after the loss of a character, so use {@link parse} for
 * texts of this package.
 */
export function parseBase36(text: string): Nanoflake {
  check(FORMAT, DIGITS, text, 1, LENGTH, "1 to 13");
  return limit(text.toLowerCase().padStart(LENGTH, "0"), text);
}

/** Reads an ID as a decimal integer: 1 to 19 digits and nothing else, such as some drivers return for BIGINT. */
export function parseDecimal(text: string): Nanoflake {
  return write(decimalInt64(FORMAT, text));
}

/** Reads the binary form in 16 hexadecimal digits of either case. */
export function parseHex(text: string): Nanoflake {
  return write(hexInt64(FORMAT, text));
}

/** Returns the ID of an integer, or throws a {@link ParseError} for an integer out of range. */
export function fromBigInt(value: bigint): Nanoflake {
  return write(checkInt64(FORMAT, value));
}

/** Reads the binary form: 8 bytes, the most significant first. */
export function fromBytes(bytes: Uint8Array): Nanoflake {
  return write(bytesInt64(FORMAT, bytes));
}

/**
 * Reads a value of JSON.parse that Go's package wrote: the text, or null for the zero ID. A number is read
 * as an integer. A number beyond 2^53 is a {@link ParseError}, because JSON.parse has rounded the number to
 * another ID. A number whose digits are also the text of another ID is a ParseError, too.
 */
export function fromJSON(value: unknown): Nanoflake | null {
  if (value === null) return null;
  return typeof value === "number" ? write(numberInt64(FORMAT, value, isOtherText)) : parse(value as string);
}

/** Reports whether decimal digits are also the base-36 text of another ID. One digit is the same in both. */
function isOtherText(digits: string): boolean {
  return digits.length > 1 && digits.length <= LENGTH && digits.padStart(LENGTH, "0") <= MAX;
}

/** Returns what Go's package writes in JSON: the text, or null for the zero ID. */
export function toJSON(id: Nanoflake): string | null {
  return jsonOf(parse, ZERO, id);
}

function write(value: bigint): Nanoflake {
  return value.toString(36).padStart(LENGTH, "0") as Nanoflake;
}

/** Returns the ID as an integer, for BIGINT columns. */
export function toBigInt(id: Nanoflake): bigint {
  const text = parse(id);
  return BigInt(Number.parseInt(text.slice(0, 7), 36)) * POW6 + BigInt(Number.parseInt(text.slice(7), 36));
}

/** Returns the ID as a decimal integer, without padding. */
export function toDecimal(id: Nanoflake): string {
  return String(toBigInt(id));
}

/** Returns the binary form in 16 lower-case hexadecimal digits. */
export function toHex(id: Nanoflake): string {
  return hexOfInt64(toBigInt(id));
}

/** Returns the binary form: 8 bytes, the most significant first. Binary forms sort as the IDs do. */
export function toBytes(id: Nanoflake): Uint8Array {
  return bytesOfInt64(toBigInt(id));
}

/** Returns the fields of an ID. */
export function fields(id: Nanoflake): NanoflakeFields {
  const value = toBigInt(id);
  const low = Number(value & 0x3fffffn);
  return { timestamp: Number(value >> BELOW), generator_id: low >> NANOFLAKE_SEQUENCE_BITS, sequence: low & MAX_SEQUENCE };
}

/** Returns the time of an ID, for the epoch of its generator. */
export function time(id: Nanoflake, epoch?: Time): Date {
  return new Date(epochOf(FORMAT, epoch, DEFAULT_EPOCH) + Number(toBigInt(id) >> BELOW));
}

/**
 * Returns the ID of a time and of the other fields, to back-fill rows that are older than their IDs. The
 * caller makes the IDs unique. A time before the epoch or after the last timestamp is a {@link TimeError}.
 * Another field out of range is a {@link ConfigError}, and so is the zero ID, which stands for "no ID".
 */
export function fromTime(
  time: Time,
  fields: { readonly generatorId: number; readonly sequence: number },
  epoch?: Time,
): Nanoflake {
  const timestamp = timestampOf(FORMAT, time, epochOf(FORMAT, epoch, DEFAULT_EPOCH), 0, MAX_TIMESTAMP);
  const { generatorId, sequence } = checkSettings(FORMAT, "fields", fields, ["generatorId", "sequence"]);
  checkField(FORMAT, "generatorId", generatorId, MAX_GENERATOR_ID);
  checkField(FORMAT, "sequence", sequence, MAX_SEQUENCE);
  const id = write((BigInt(timestamp) << BELOW) | BigInt((generatorId << NANOFLAKE_SEQUENCE_BITS) | sequence));
  if (id === ZERO) throw zeroId(FORMAT, "generator ID 0");
  return id;
}

/**
 * Returns the smallest ID of the millisecond of a time. A scan from first(a) to last(b), both included,
 * finds all IDs from a to b. A time before the epoch or after the last timestamp counts as the nearest
 * time in range.
 */
export function first(time: Time, epoch?: Time): Nanoflake {
  return bound(time, epoch, 0n);
}

/** Returns the largest ID of the millisecond of a time; see {@link first}. */
export function last(time: Time, epoch?: Time): Nanoflake {
  return bound(time, epoch, 0x3fffffn);
}

function bound(time: Time, epoch: Time | undefined, below: bigint): Nanoflake {
  const timestamp = limitedTimestamp(FORMAT, time, epochOf(FORMAT, epoch, DEFAULT_EPOCH), MAX_TIMESTAMP);
  return write((BigInt(timestamp) << BELOW) | below);
}

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compare(a: Nanoflake, b: Nanoflake): -1 | 0 | 1 {
  return compareIds(parse, a, b);
}

/** Reports whether {@link parse} reads a value. */
export function isValid(value: unknown): boolean {
  return isParsed(parse, value);
}

/** Reports whether a value is an ID: the canonical text, in lower case. */
export function isNanoflake(value: unknown): value is Nanoflake {
  return isCanonical(parse, value);
}

/** Reports whether an ID is the zero ID, which stands for "no ID". */
export function isZero(id: Nanoflake): boolean {
  return parse(id) === ZERO;
}
