// What both versions of Ulid-Flake share: texts of 13 characters, whose last 4 are below the timestamp.

import { badRange, type FormatName } from "./errors.js";
import { numberInt64 } from "./int64.js";
import {
  ULIDFLAKE_DIGITS,
  ULIDFLAKE_EPOCH,
  ULIDFLAKE_LARGEST,
  ULIDFLAKE_LENGTH,
  ULIDFLAKE_RANDOMNESS_BITS,
  ULIDFLAKE_TIMESTAMP_BITS,
} from "./shapes.js";
import { alphabet, check, digitAt } from "./text.js";
import { epochOf, limitedTimestamp, type Time } from "./time.js";

const LENGTH = ULIDFLAKE_LENGTH;
/** The characters of the timestamp. */
const STAMP = 9;
const MAX_TEXT = ULIDFLAKE_LARGEST;

/** The epoch of the specification, 2024-01-01T00:00:00Z. */
export const EPOCH = ULIDFLAKE_EPOCH;
export const LAST_TIMESTAMP = 2 ** ULIDFLAKE_TIMESTAMP_BITS - 1;
/** The number of values below a timestamp. */
export const BELOW = 2 ** ULIDFLAKE_RANDOMNESS_BITS;

/** Says which character belongs in place of a letter that looks like a digit. */
function hint(character: string): string {
  if ("IiLl".includes(character)) return ", which has 1 in its place";
  return "Oo".includes(character) ? ", which has 0 in its place" : "";
}

const CROCKFORD = /* @__PURE__ */ alphabet(ULIDFLAKE_DIGITS, true, "in Crockford's base-32", hint);

/** Reads a text of either version. */
export function parseUlid(format: FormatName, text: string): string {
  const canonical = check(format, CROCKFORD, text, LENGTH, LENGTH, "13");
  const id = canonical ? text : text.toUpperCase();
  if (id > MAX_TEXT) throw badRange(format, text, "0000000000000 to 7ZZZZZZZZZZZZ");
  return id;
}

/** Reads a number of JSON. A number of 13 digits is also a text, unless the text is out of range. */
export function numberUlid(format: FormatName, value: number): string {
  return textOfUlid(numberInt64(format, value, (digits) => digits.length === LENGTH && digits <= MAX_TEXT));
}

/** Returns the text of a timestamp and of the 20 bits below. */
export function packUlid(timestamp: number, below: number): string {
  return digits(Math.floor(timestamp / BELOW), 5) + digits(timestamp % BELOW, 4) + digits(below, 4);
}

function digits(value: number, length: number): string {
  let text = "";
  for (let shift = 5 * (length - 1); shift >= 0; shift -= 5) text += CROCKFORD.digits.charAt((value >> shift) & 31);
  return text;
}

/** Returns the text of an integer. */
export function textOfUlid(value: bigint): string {
  return packUlid(Number(value >> 20n), Number(value & 0xfffffn));
}

/** Returns the timestamp of an ID, and the 20 bits below. Nothing else takes an ID apart. */
export function unpackUlid(format: FormatName, id: string): { readonly timestamp: number; readonly below: number } {
  const text = parseUlid(format, id);
  return { timestamp: numberAt(text, 0, STAMP), below: numberAt(text, STAMP, LENGTH) };
}

/** Returns the integer of an ID. */
export function bigIntOfUlid(format: FormatName, id: string): bigint {
  const { timestamp, below } = unpackUlid(format, id);
  return (BigInt(timestamp) << 20n) | BigInt(below);
}

function numberAt(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) value = value * 32 + digitAt(CROCKFORD, text, i);
  return value;
}

/** Returns the time of an ID. */
export function timeOfUlid(format: FormatName, id: string, epoch: Time | undefined): Date {
  return new Date(epochOf(format, epoch, EPOCH) + unpackUlid(format, id).timestamp);
}

/** Returns the text of the millisecond of a time, with the given bits below. */
export function boundOfUlid(format: FormatName, time: Time, epoch: Time | undefined, below: number): string {
  return packUlid(limitedTimestamp(format, time, epochOf(format, epoch, EPOCH), LAST_TIMESTAMP), below);
}
