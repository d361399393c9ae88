// What the formats of 63-bit integers share: integers, decimal, hexadecimal, bytes, JSON numbers.

import { checkBytes, hexOf } from "./bytes.js";
import { badRange, badType, type FormatName, ParseError, tooLarge } from "./errors.js";
import { check, DECIMAL, HEX } from "./text.js";

const MAX_INT64 = 0x7fff_ffff_ffff_ffffn;
const ALLOWED = "0 to 9223372036854775807";

/** Checks that an integer is in the range of IDs. */
export function checkInt64(format: FormatName, value: bigint): bigint {
  if (typeof value !== "bigint") throw badType(format, value, "bigint");
  return inRange(format, value, String(value));
}

function inRange(format: FormatName, value: bigint, input: string): bigint {
  if (value < 0n || value > MAX_INT64) throw badRange(format, input, ALLOWED);
  return value;
}

/** Reads 1 to 19 decimal digits. */
export function decimalInt64(format: FormatName, text: string): bigint {
  check(format, DECIMAL, text, 1, 19, "1 to 19");
  return inRange(format, BigInt(text), text);
}

/** Reads 16 hexadecimal digits. */
export function hexInt64(format: FormatName, text: string): bigint {
  check(format, HEX, text, 16, 16, "16");
  return inRange(format, BigInt(`0x${text}`), text);
}

/** Returns 16 hexadecimal digits. */
export function hexOfInt64(value: bigint): string {
  return value.toString(16).padStart(16, "0");
}

/** Reads 8 bytes, the most significant first. */
export function bytesInt64(format: FormatName, bytes: Uint8Array): bigint {
  const hex = hexOf(checkBytes(format, bytes, 8));
  return inRange(format, BigInt(`0x${hex}`), hex);
}

/** Returns 8 bytes, the most significant first. */
export function bytesOfInt64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value);
  return bytes;
}

/**
 * Reads a number of JSON as an integer. The parameter ambiguous reports whether decimal digits are also
 * the text of another ID.
 */
export function numberInt64(format: FormatName, value: number, ambiguous: (digits: string) => boolean): bigint {
  const digits = String(value);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw tooLarge(format, value);
  const integer = decimalInt64(format, digits);
  if (!ambiguous(digits)) return integer;
  throw new ParseError(format, digits, {
    kind: "character",
    offset: 0,
    reason: "the JSON number is also the text of another ID: write IDs as text",
  });
}
