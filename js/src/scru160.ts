/**
 * SCRU160: 160-bit IDs in the order of time that need no coordination, unique by at least 80 random bits.
 *
 * An ID is its canonical text: 32 characters of base32hex in upper case, such as
 * `05TTUP1HNCPNH30VEK64KDQT9BSNU4C4`. Texts sort as the IDs do, compare with `===`, and are the JSON that
 * Firn's Go package writes.
 *
 * The IDs of different generators are distinct by their random bits: any number of tabs, workers and
 * processes can have generators.
 *
 * The zero ID stands for "no ID". Go writes the zero ID as null in JSON; see {@link fromJSON}.
 *
 * @module
 */

import { bytesOf32, bytesOfHex, checkBytes, hexOf, putUint, text32Of, uintAt } from "./bytes.js";
import { ConfigError, shown } from "./errors.js";
import { compareIds, type Id, isCanonical, isParsed, jsonOf } from "./id.js";
import { CLOCK_SETTINGS, type ClockConfig, Mint, type NextOptions } from "./mint.js";
import { random32, randomBits } from "./random.js";
import { checkField, checkSettings } from "./settings.js";
import {
  SCRU160_COUNTER_BITS,
  SCRU160_DIGITS,
  SCRU160_LENGTH,
  SCRU160_RANDOM16_BITS,
  SCRU160_SIZE,
  SCRU160_TIMESTAMP_BITS,
} from "./shapes.js";
import { alphabet, byteLength, check } from "./text.js";
import { limitedTimestamp, type Time, timestampOf } from "./time.js";

export { ClockError, ConfigError, ExhaustedError, ParseError, TimeError } from "./errors.js";
export type { ClockConfig, NextOptions, Signal } from "./mint.js";
export type { Time } from "./time.js";

/** A SCRU160 ID: the canonical text of 32 characters. */
export type Scru160 = Id<"scru160", string>;

/** The fields of a SCRU160 ID, under the names of `firn inspect --json`. */
export interface Scru160Fields {
  /** Unix milliseconds; 48 bits. */
  readonly timestamp: number;
  /** The counter; 16 bits. */
  readonly counter: number;
  /** From high bits to low bits: more counter bits, the node ID, and random bits. */
  readonly random16: number;
  /** 80 random bits as a decimal integer, which a number does not hold. */
  readonly random80: string;
}

const FORMAT = "scru160";
const BASE32HEX = /* @__PURE__ */ alphabet(SCRU160_DIGITS, true, "in base32hex");
const LENGTH = SCRU160_LENGTH;
const COUNTER_BITS = SCRU160_COUNTER_BITS;
const RANDOM16_BITS = SCRU160_RANDOM16_BITS;

/** The length of an ID in bytes. */
export const SIZE = SCRU160_SIZE;
/** The largest timestamp. The timestamps 0 and MAX_TIMESTAMP are reserved: IDs are read with them, and never made. */
export const MAX_TIMESTAMP = 2 ** SCRU160_TIMESTAMP_BITS - 1;
/** The zero ID, which stands for "no ID". */
export const ZERO = "00000000000000000000000000000000" as Scru160;
/** The largest ID. */
export const MAX = "VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV" as Scru160;

/**
 * Reads an ID in either encoding of the specification: 32 characters of base32hex or 40 hexadecimal digits,
 * in either case. Any other text is a {@link ParseError}.
 *
 * Specification: "Encodings".
 */
export function parse(text: string): Scru160 {
  if (typeof text === "string" && text.length > LENGTH && byteLength(text) === 2 * SIZE) return parseHex(text);
  const canonical = check(FORMAT, BASE32HEX, text, LENGTH, LENGTH, "32 (base32hex) or 40 (hex)");
  return (canonical ? text : text.toUpperCase()) as Scru160;
}

/** Reads 40 hexadecimal digits of either case, and no base32hex. */
export function parseHex(text: string): Scru160 {
  return write(bytesOfHex(FORMAT, text, SIZE));
}

/** Reads the binary form: the ID's 20 bytes. */
export function fromBytes(bytes: Uint8Array): Scru160 {
  return write(checkBytes(FORMAT, bytes, SIZE));
}

/** Reads a value of JSON.parse that Go's package wrote: either text, or null for the zero ID. */
export function fromJSON(value: unknown): Scru160 | null {
  return value === null ? null : parse(value as string);
}

/** Returns what Go's package writes in JSON: the text, or null for the zero ID. */
export function toJSON(id: Scru160): string | null {
  return jsonOf(parse, ZERO, id);
}

function write(bytes: Uint8Array): Scru160 {
  return text32Of(BASE32HEX, bytes) as Scru160;
}

/** Returns the binary form: 20 bytes. Binary forms sort as the IDs do. */
export function toBytes(id: Scru160): Uint8Array {
  return bytesOf32(BASE32HEX, parse(id));
}

/** Returns the alternative text: 40 hexadecimal digits in lower case. */
export function toHex(id: Scru160): string {
  return hexOf(toBytes(id));
}

/** Returns the fields of an ID. */
export function fields(id: Scru160): Scru160Fields {
  const bytes = toBytes(id);
  return {
    timestamp: uintAt(bytes, 0, 6),
    counter: uintAt(bytes, 6, 2),
    random16: uintAt(bytes, 8, 2),
    random80: String(BigInt(`0x${hexOf(bytes.subarray(10))}`)),
  };
}

/** Returns the time of an ID. */
export function time(id: Scru160): Date {
  return new Date(uintAt(toBytes(id), 0, 6));
}

/** Returns the ID of the fields: the bits of counter and random16 are one integer of 32 bits. */
function pack(timestamp: number, middle: number, tail: (bytes: Uint8Array) => void): Scru160 {
  const bytes = new Uint8Array(SIZE);
  putUint(bytes, 0, 6, timestamp);
  putUint(bytes, 6, 4, middle);
  tail(bytes);
  return write(bytes);
}

function putRandom80(bytes: Uint8Array): void {
  putUint(bytes, 10, 4, random32());
  putUint(bytes, 14, 4, random32());
  putUint(bytes, 18, 2, randomBits(16));
}

/**
 * Returns an ID of the millisecond of a time, to back-fill rows that are older than their IDs. The counter
 * starts as in a generator, and the random bits are strong. The IDs of one millisecond have no order. A time
 * whose timestamp is reserved or out of range is a {@link TimeError}.
 */
export function fromTime(time: Time): Scru160 {
  const timestamp = timestampOf(FORMAT, time, 0, 1, MAX_TIMESTAMP - 1);
  return pack(timestamp, randomBits(COUNTER_BITS + RANDOM16_BITS - 1), putRandom80);
}

/**
 * Returns the smallest ID of the millisecond of a time. A scan from first(a) to last(b), both included,
 * finds all IDs from a to b. A time out of the range of timestamps counts as the nearest time in range.
 */
export function first(time: Time): Scru160 {
  return pack(limitedTimestamp(FORMAT, time, 0, MAX_TIMESTAMP), 0, () => undefined);
}

/** Returns the largest ID of the millisecond of a time; see {@link first}. */
export function last(time: Time): Scru160 {
  return pack(limitedTimestamp(FORMAT, time, 0, MAX_TIMESTAMP), 2 ** 32 - 1, (bytes) => bytes.fill(255, 10));
}

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compare(a: Scru160, b: Scru160): -1 | 0 | 1 {
  return compareIds(parse, a, b);
}

/** Reports whether {@link parse} reads a value. */
export function isValid(value: unknown): boolean {
  return isParsed(parse, value);
}

/** Reports whether a value is an ID: the canonical text, in upper case. */
export function isScru160(value: unknown): value is Scru160 {
  return isCanonical(parse, value);
}

/** Reports whether an ID is the zero ID, which stands for "no ID". */
export function isZero(id: Scru160): boolean {
  return parse(id) === ZERO;
}

/** Says how a {@link Generator} makes its IDs. */
export interface GeneratorConfig extends ClockConfig {
  /**
   * The number of random bits at which the counter of a millisecond starts. The default is all bits but the
   * most significant bit of the counter, 15 of 16: at least 32 769 IDs in a millisecond. Fewer bits leave
   * more IDs; 0 bits start each millisecond at 0.
   */
  readonly startBits?: number | undefined;
  /** The bits of random16 that extend the counter, from the most significant bit on: 0 to 16. */
  readonly extraCounterBits?: number | undefined;
  /**
   * The bits of random16 next to extraCounterBits that hold nodeId: 0 to the rest of the 16. Generators with
   * the same widths and different node IDs never make equal IDs.
   */
  readonly nodeBits?: number | undefined;
  readonly nodeId?: number | undefined;
  /**
   * The distance of the clock behind the last ID up to which the generator continues in the millisecond of
   * the last ID, for as long as the millisecond has counter left. The default is 5000; 0 means no distance.
   */
  readonly maxBackward?: number | undefined;
  /**
   * Start afresh at the time of a clock that is further behind than maxBackward. Without restart, the
   * generator throws a ClockError. IDs do not increase at such a point, and are distinct by their random
   * bits alone.
   */
  readonly restart?: boolean | undefined;
}

/**
 * Makes SCRU160 IDs in the default counter usage of the specification. The IDs of one generator are
 * distinct and increase in the order of issue, by the timestamp and the counter alone, for any steps of the
 * clock. The option restart gives up the order. Random bits come from crypto.getRandomValues.
 */
export class Generator {
  readonly #mint: Mint<Scru160>;

  /**
   * Throws a {@link ConfigError} for a setting that is out of range, and a {@link TimeError} if the clock
   * is not after 1970.
   */
  constructor(config: GeneratorConfig = {}) {
    checkSettings(FORMAT, "config", config, [
      "startBits",
      "extraCounterBits",
      "nodeBits",
      "nodeId",
      "restart",
      ...CLOCK_SETTINGS,
    ]);
    const extra = checkField(FORMAT, "extraCounterBits", config.extraCounterBits, RANDOM16_BITS, 0);
    const nodeBits = checkField(FORMAT, "nodeBits", config.nodeBits, RANDOM16_BITS - extra, 0);
    const nodeId = checkField(FORMAT, "nodeId", config.nodeId, 2 ** nodeBits - 1, 0);
    const width = COUNTER_BITS + extra;
    const startBits = checkField(FORMAT, "startBits", config.startBits, width - 1, width - 1);
    const { restart = false } = config;
    if (typeof restart !== "boolean") throw new ConfigError(FORMAT, "restart", shown(restart), "true or false");
    const noiseBits = RANDOM16_BITS - extra - nodeBits;
    const node = nodeId * 2 ** noiseBits;
    const unit = 2 ** (RANDOM16_BITS - extra);
    this.#mint = new Mint({
      format: FORMAT,
      epoch: 0,
      last: MAX_TIMESTAMP - 1,
      limit: 2 ** width,
      start: () => randomBits(startBits),
      step: () => 1,
      hold: true,
      rewind: restart,
      make: (timestamp, counter) => pack(timestamp, counter * unit + node + randomBits(noiseBits), putRandom80),
      maxBackward: config.maxBackward,
      clock: config.clock,
    });
    this.#mint.checkClock();
  }

  /**
   * Returns a new ID, greater than all IDs before by the timestamp and the counter, or throws the reason for
   * having none. The error is an {@link ExhaustedError} if the counter of this millisecond is used up, or if
   * callers of {@link next} wait for the IDs that are left. The error is a {@link ClockError} if the clock
   * is further behind the last ID than maxBackward, or if the millisecond of the last ID is used up.
   *
   * Specification: "Binary Layout and Byte Order", "Scope of guaranteed monotonicity".
   */
  tryNext(): Scru160 {
    return this.#mint.tryNext();
  }

  /**
   * Returns a new ID, greater than all IDs before by the timestamp and the counter. Waits for the next
   * millisecond once the counter of this millisecond is used up. With a clock that is behind the last ID by
   * up to maxBackward, the generator continues in the millisecond of the last ID. Waiters get IDs in turn.
   * The promise is rejected with a {@link ClockError} or a {@link TimeError}, or with the reason of the
   * signal.
   */
  next(options?: NextOptions): Promise<Scru160> {
    return this.#mint.next(options);
  }
}
