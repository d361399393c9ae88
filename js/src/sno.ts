/**
 * Snos: 80-bit IDs in the order of time with a byte of metadata, unique among up to 65536 partitions.
 *
 * A sno is its canonical text: 16 characters of [2-9a-x], such as `cufsekaqqudbobiw`. Texts sort as the IDs
 * do, compare with `===`, and are the JSON that Firn's Go package writes. This module reads snos. A
 * generator needs a partition that no other generator has, and leases of partitions are a part of the Go
 * package.
 *
 * The zero ID stands for "no ID". Go writes the zero ID as null in JSON; see {@link fromJSON}.
 *
 * @module
 */

import { bytesOf32, bytesOfHex, checkBytes, hexOf, putUint, text32Of, uintAt } from "./bytes.js";
import { compareIds, type Id, isCanonical, isParsed, jsonOf } from "./id.js";
import { checkField, checkSettings, zeroId } from "./settings.js";
import {
  SNO_DIGITS,
  SNO_EPOCH,
  SNO_LENGTH,
  SNO_META_BITS,
  SNO_PARTITION_BITS,
  SNO_SEQUENCE_BITS,
  SNO_SIZE,
  SNO_TIMESTAMP_BITS,
  SNO_UNIT,
} from "./shapes.js";
import { alphabet, check } from "./text.js";
import { limitedTimestamp, type Time, timestampOf } from "./time.js";

export { ConfigError, ParseError, TimeError } from "./errors.js";
export type { Time } from "./time.js";

/** A sno: the canonical text of 16 characters. */
export type Sno = Id<"sno", string>;

/** The fields of a sno, under the names of `firn inspect --json`. */
export interface SnoFields {
  /** Units of 4 ms from 2010; 39 bits. */
  readonly timestamp: number;
  /** The bit that a generator toggles when the clock goes back. */
  readonly tick_tock: number;
  /** The metabyte. */
  readonly meta: number;
  /** The number of the generator. */
  readonly partition: number;
  readonly sequence: number;
}

const FORMAT = "sno";
const DIGITS = /* @__PURE__ */ alphabet(SNO_DIGITS, false, "in [2-9a-x]");
const LENGTH = SNO_LENGTH;

/** The length of an ID in bytes. */
export const SIZE = SNO_SIZE;
/** The time of timestamp 0: 2010-01-01T00:00:00Z in Unix milliseconds. */
export const EPOCH = SNO_EPOCH;
/** The unit of timestamps, in milliseconds. */
export const TIME_UNIT = SNO_UNIT;
/** The last timestamp, in units. */
export const MAX_TIMESTAMP = 2 ** SNO_TIMESTAMP_BITS - 1;
export const MAX_META = 2 ** SNO_META_BITS - 1;
export const MAX_PARTITION = 2 ** SNO_PARTITION_BITS - 1;
export const MAX_SEQUENCE = 2 ** SNO_SEQUENCE_BITS - 1;
/** The zero ID, which stands for "no ID". */
export const ZERO = "2222222222222222" as Sno;
/** The largest ID. */
export const MAX = "xxxxxxxxxxxxxxxx" as Sno;

/** Reads the canonical text: 16 characters of [2-9a-x], in lower case. Any other text is a {@link ParseError}. */
export function parse(text: string): Sno {
  check(FORMAT, DIGITS, text, LENGTH, LENGTH, "16");
  return text as Sno;
}

/** Reads the binary form in 20 hexadecimal digits of either case. */
export function parseHex(text: string): Sno {
  return write(bytesOfHex(FORMAT, text, SIZE));
}

/** Reads the binary form: the ID's 10 bytes. */
export function fromBytes(bytes: Uint8Array): Sno {
  return write(checkBytes(FORMAT, bytes, SIZE));
}

/** Reads a value of JSON.parse that Go's package wrote: the text, or null for the zero ID. */
export function fromJSON(value: unknown): Sno | null {
  return value === null ? null : parse(value as string);
}

/** Returns what Go's package writes in JSON: the text, or null for the zero ID. */
export function toJSON(id: Sno): string | null {
  return jsonOf(parse, ZERO, id);
}

function write(bytes: Uint8Array): Sno {
  return text32Of(DIGITS, bytes) as Sno;
}

/** Returns the binary form: 10 bytes. Binary forms sort as the IDs do. */
export function toBytes(id: Sno): Uint8Array {
  return bytesOf32(DIGITS, parse(id));
}

/** Returns the binary form in 20 lower-case hexadecimal digits. */
export function toHex(id: Sno): string {
  return hexOf(toBytes(id));
}

/** Returns the fields of an ID. */
export function fields(id: Sno): SnoFields {
  const bytes = toBytes(id);
  const stamp = uintAt(bytes, 0, 5);
  return {
    timestamp: Math.floor(stamp / 2),
    tick_tock: stamp % 2,
    meta: uintAt(bytes, 5, 1),
    partition: uintAt(bytes, 6, 2),
    sequence: uintAt(bytes, 8, 2),
  };
}

/** Returns the time of an ID, to the unit of 4 ms. */
export function time(id: Sno): Date {
  return new Date(EPOCH + fields(id).timestamp * TIME_UNIT);
}

/** Returns the ID of a timestamp above the tick-tock bit, and of the other fields. */
function pack(stamp: number, meta: number, partition: number, sequence: number): Sno {
  const bytes = new Uint8Array(SIZE);
  putUint(bytes, 0, 5, stamp);
  putUint(bytes, 5, 1, meta);
  putUint(bytes, 6, 2, partition);
  putUint(bytes, 8, 2, sequence);
  return write(bytes);
}

/** The last millisecond after the epoch. */
const LAST = (MAX_TIMESTAMP + 1) * TIME_UNIT - 1;

function unit(ms: number): number {
  return Math.floor(ms / TIME_UNIT);
}

/**
 * Returns the ID of a time and of the other fields, with the tick-tock bit clear, to back-fill rows that are
 * older than their IDs. The caller makes the IDs unique. A time out of the range of timestamps is a
 * {@link TimeError}. Another field out of range is a {@link ConfigError}, and so is the zero ID, which
 * stands for "no ID".
 */
export function fromTime(
  time: Time,
  fields: { readonly meta: number; readonly partition: number; readonly sequence: number },
): Sno {
  const stamp = unit(timestampOf(FORMAT, time, EPOCH, 0, LAST)) * 2;
  const { meta, partition, sequence } = checkSettings(FORMAT, "fields", fields, ["meta", "partition", "sequence"]);
  checkField(FORMAT, "meta", meta, MAX_META);
  checkField(FORMAT, "partition", partition, MAX_PARTITION);
  checkField(FORMAT, "sequence", sequence, MAX_SEQUENCE);
  const id = pack(stamp, meta, partition, sequence);
  if (id === ZERO) throw zeroId(FORMAT, "metabyte 0 of partition 0");
  return id;
}

/**
 * Returns the smallest ID of the time unit of a time. A scan from first(a) to last(b), both included, finds
 * all IDs from a to b. A time out of the range of timestamps counts as the nearest time in range.
 */
export function first(time: Time): Sno {
  return pack(unit(limitedTimestamp(FORMAT, time, EPOCH, LAST)) * 2, 0, 0, 0);
}

/** Returns the largest ID of the time unit of a time; see {@link first}. */
export function last(time: Time): Sno {
  return pack(unit(limitedTimestamp(FORMAT, time, EPOCH, LAST)) * 2 + 1, MAX_META, MAX_PARTITION, MAX_SEQUENCE);
}

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compare(a: Sno, b: Sno): -1 | 0 | 1 {
  return compareIds(parse, a, b);
}

/** Reports whether a value is an ID: the canonical text. */
export function isSno(value: unknown): value is Sno {
  return isCanonical(parse, value);
}

/** Reports whether {@link parse} reads a value. */
export function isValid(value: unknown): boolean {
  return isParsed(parse, value);
}

/** Reports whether an ID is the zero ID, which stands for "no ID". */
export function isZero(id: Sno): boolean {
  return parse(id) === ZERO;
}
