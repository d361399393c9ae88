/**
 * Snowflake-SI: 53-bit IDs in the order of time, which JavaScript numbers hold exactly.
 *
 * An ID is a number: 0 to Number.MAX_SAFE_INTEGER. IDs compare with `===` and `<`, and JSON carries an ID
 * as a number. The text is decimal, without padding: only texts of one length sort as the IDs do.
 *
 * All generators of a system have the same {@link Layout} and epoch. An ID carries neither.
 *
 * A {@link Generator} takes a machine ID by hand. Generators with one machine ID make equal IDs: nothing in
 * JavaScript leases machine IDs, so the program gives each process, worker and tab a machine ID of its own.
 *
 * The zero ID stands for "no ID". Go writes the zero ID as null in JSON; see {@link fromJSON}.
 *
 * @module
 */

import { hexOf, checkBytes } from "./bytes.js";
import { badRange, badType, ConfigError, ParseError, shown, tooLarge } from "./errors.js";
import { compareIds, type Id, isParsed, jsonOf } from "./id.js";
import { bytesOfInt64, hexOfInt64 } from "./int64.js";
import { CLOCK_SETTINGS, type ClockConfig, Mint, type NextOptions } from "./mint.js";
import { checkField, checkSettings, zeroId } from "./settings.js";
import {
  SNOWFLAKESI_EPOCH,
  SNOWFLAKESI_LENGTH,
  SNOWFLAKESI_MACHINE_ID_BITS,
  SNOWFLAKESI_SEQUENCE_BITS,
  SNOWFLAKESI_TIMESTAMP_BITS,
} from "./shapes.js";
import { check, DECIMAL, HEX } from "./text.js";
import { epochOf, limitedTimestamp, type Time, timestampOf, timeText } from "./time.js";

export { ClockError, ConfigError, ExhaustedError, ParseError, TimeError } from "./errors.js";
export type { ClockConfig, NextOptions, Signal } from "./mint.js";
export type { Time } from "./time.js";

/** A Snowflake-SI ID: a safe integer. */
export type SnowflakeSI = Id<"snowflakesi", number>;

/** The fields of a Snowflake-SI ID, under the names of `firn inspect --json`. */
export interface SnowflakeSIFields {
  /** Milliseconds from the epoch (MAB). */
  readonly timestamp: number;
  /** The machine ID (MID); 0 if the layout has no machine ID. */
  readonly machine_id: number;
  /** The low bits of the machine's count of IDs (UIN). */
  readonly sequence: number;
}

/**
 * Says how an ID shares its 53 bits among the timestamp, the machine ID and the sequence (UIN). The
 * sequence has the bits that the others leave.
 *
 * Specification: "Algorithm Adjustment".
 */
export interface Layout {
  /** The width of the timestamp: 40, the default, or 41. */
  readonly clockBits?: number | undefined;
  /** The width of the machine ID: 5 by default, 0 for none, at most the bits beside the timestamp. */
  readonly machineBits?: number | undefined;
}

const FORMAT = "snowflakesi";
const TOTAL_BITS = SNOWFLAKESI_TIMESTAMP_BITS + SNOWFLAKESI_MACHINE_ID_BITS + SNOWFLAKESI_SEQUENCE_BITS;
/** The bound of the specification for 40 bits of timestamp: later epochs reach the year 2038. */
const MIN_EPOCH = 1047972019224;

/** The epoch of Go's package by default: 2021-01-01T00:00:00Z in Unix milliseconds. The application chooses the epoch. */
export const DEFAULT_EPOCH = SNOWFLAKESI_EPOCH;
/** The zero ID, which stands for "no ID". */
export const ZERO = 0 as SnowflakeSI;
/** The largest ID. */
export const MAX = Number.MAX_SAFE_INTEGER as SnowflakeSI;

const ALLOWED = `0 to ${MAX}`;

/** Reads an ID in decimal: 1 to 16 digits, up to 9007199254740991. Any other text is a {@link ParseError}. */
export function parse(text: string): SnowflakeSI {
  check(FORMAT, DECIMAL, text, 1, SNOWFLAKESI_LENGTH, "1 to 16");
  return limit(Number(text), text);
}

/** A number above MAX stays above MAX when JavaScript rounds the number. */
function limit(value: number, input: string): SnowflakeSI {
  if (value < 0 || value > MAX) throw badRange(FORMAT, input, ALLOWED);
  return value as SnowflakeSI;
}

/** Reads the binary form in 16 hexadecimal digits of either case. */
export function parseHex(text: string): SnowflakeSI {
  check(FORMAT, HEX, text, 16, 16, "16");
  return limit(Number.parseInt(text, 16), text);
}

/** Returns the ID of a number, or throws a {@link ParseError} for a number that is no integer or out of range. */
export function fromNumber(value: number): SnowflakeSI {
  if (typeof value !== "number") throw badType(FORMAT, value, "number");
  if (value > MAX) throw tooLarge(FORMAT, value);
  if (!Number.isInteger(value) || value < 0)
    throw new ParseError(FORMAT, String(value), { kind: "range", reason: `value is no integer in ${ALLOWED}` });
  return (value + 0) as SnowflakeSI; // -0 becomes 0
}

/** Returns the ID of an integer, or throws a {@link ParseError} for an integer out of range. */
export function fromBigInt(value: bigint): SnowflakeSI {
  if (typeof value !== "bigint") throw badType(FORMAT, value, "bigint");
  return limit(Number(value), String(value));
}

/** Reads the binary form: 8 bytes, the most significant first. */
export function fromBytes(bytes: Uint8Array): SnowflakeSI {
  const hex = hexOf(checkBytes(FORMAT, bytes, 8));
  return limit(Number.parseInt(hex, 16), hex);
}

/**
 * Reads a value of JSON.parse that Go's package wrote: a number, or null for the zero ID. A text of digits
 * is read, too. A number beyond 2^53 - 1 is a {@link ParseError}.
 */
export function fromJSON(value: unknown): SnowflakeSI | null {
  if (value === null) return null;
  if (typeof value !== "number") return parse(value as string);
  if (Math.abs(value) > MAX) throw tooLarge(FORMAT, value);
  return parse(String(value));
}

/** Returns what Go's package writes in JSON: the number, or null for the zero ID. */
export function toJSON(id: SnowflakeSI): number | null {
  return jsonOf(fromNumber, ZERO, id);
}

/** Returns the canonical text: decimal, without padding. */
export function toText(id: SnowflakeSI): string {
  return String(fromNumber(id));
}

/** Returns the ID as a bigint. */
export function toBigInt(id: SnowflakeSI): bigint {
  return BigInt(fromNumber(id));
}

/** Returns the binary form in 16 lower-case hexadecimal digits. */
export function toHex(id: SnowflakeSI): string {
  return hexOfInt64(toBigInt(id));
}

/** Returns the binary form: 8 bytes, the most significant first. Binary forms sort as the IDs do. */
export function toBytes(id: SnowflakeSI): Uint8Array {
  return bytesOfInt64(toBigInt(id));
}

/** The number of values of each field, for arithmetic beyond 32 bits. */
interface Counts {
  readonly timestamps: number;
  readonly machines: number;
  readonly sequences: number;
}

/** Returns the widths of a layout, or throws a {@link ConfigError} for a layout that is not valid. */
export function widths(layout: Layout = {}): { readonly clock: number; readonly machine: number; readonly sequence: number } {
  const { clockBits: clock = SNOWFLAKESI_TIMESTAMP_BITS, machineBits } = checkSettings(FORMAT, "layout", layout, ["clockBits", "machineBits"]);
  if (clock !== 40 && clock !== 41) throw new ConfigError(FORMAT, "clockBits", shown(clock), "40 or 41");
  const machine = checkField(FORMAT, "machineBits", machineBits, TOTAL_BITS - clock, SNOWFLAKESI_MACHINE_ID_BITS);
  return { clock, machine, sequence: TOTAL_BITS - clock - machine };
}

function countsOf(layout: Layout | undefined): Counts {
  const { clock, machine, sequence } = widths(layout);
  return { timestamps: 2 ** clock, machines: 2 ** machine, sequences: 2 ** sequence };
}

/** Returns an epoch in Unix milliseconds, or throws a ConfigError for an epoch that the layout cannot have. */
function epochFor(layout: Layout | undefined, epoch: Time | undefined): number {
  const ms = epochOf(FORMAT, epoch, DEFAULT_EPOCH);
  if (ms > epochsAfter(layout)) return ms;
  throw new ConfigError(FORMAT, "epoch", timeText(ms), `after ${timeText(MIN_EPOCH)}, as 40 clock bits ask`);
}

function epochsAfter(layout: Layout | undefined): number {
  return widths(layout).clock > 40 ? -Infinity : MIN_EPOCH;
}

function pack({ machines, sequences }: Counts, timestamp: number, machine: number, sequence: number): SnowflakeSI {
  return ((timestamp * machines + machine) * sequences + sequence) as SnowflakeSI;
}

/** Returns the fields of an ID, for the layout of its generator. */
export function fields(id: SnowflakeSI, layout?: Layout): SnowflakeSIFields {
  const { machines, sequences } = countsOf(layout);
  const value = fromNumber(id);
  const above = Math.floor(value / sequences);
  return { timestamp: Math.floor(above / machines), machine_id: above % machines, sequence: value % sequences };
}

/** Returns the time of an ID, for the epoch and the layout of its generator. */
export function time(id: SnowflakeSI, epoch?: Time, layout?: Layout): Date {
  return new Date(epochOf(FORMAT, epoch, DEFAULT_EPOCH) + fields(id, layout).timestamp);
}

/**
 * Returns the ID of a time and of the other fields, to back-fill rows that are older than their IDs. The
 * caller makes the IDs unique. A time before the epoch or after the last timestamp is a {@link TimeError}.
 * A layout, an epoch or another field out of range is a {@link ConfigError}, and so is the zero ID, which
 * stands for "no ID".
 */
export function fromTime(
  time: Time,
  fields: { readonly machineId: number; readonly sequence: number },
  epoch?: Time,
  layout?: Layout,
): SnowflakeSI {
  const counts = countsOf(layout);
  const timestamp = timestampOf(FORMAT, time, epochFor(layout, epoch), 0, counts.timestamps - 1);
  const { machineId, sequence } = checkSettings(FORMAT, "fields", fields, ["machineId", "sequence"]);
  checkField(FORMAT, "machineId", machineId, counts.machines - 1);
  checkField(FORMAT, "sequence", sequence, counts.sequences - 1);
  const id = pack(counts, timestamp, machineId, sequence);
  if (id === 0) throw zeroId(FORMAT, "machine ID 0");
  return id;
}

/**
 * Returns the smallest ID of the millisecond of a time. A scan from first(a) to last(b), both included,
 * finds all IDs from a to b. A time before the epoch or after the last timestamp counts as the nearest
 * time in range.
 */
export function first(time: Time, epoch?: Time, layout?: Layout): SnowflakeSI {
  const counts = countsOf(layout);
  return pack(counts, limitedTimestamp(FORMAT, time, epochFor(layout, epoch), counts.timestamps - 1), 0, 0);
}

/** Returns the largest ID of the millisecond of a time; see {@link first}. */
export function last(time: Time, epoch?: Time, layout?: Layout): SnowflakeSI {
  const { machines, sequences } = countsOf(layout);
  return (first(time, epoch, layout) + machines * sequences - 1) as SnowflakeSI;
}

/** Returns -1, 0 or 1 as a is less than, equal to or greater than b. */
export function compare(a: SnowflakeSI, b: SnowflakeSI): -1 | 0 | 1 {
  return compareIds(fromNumber, a, b);
}

/** Reports whether {@link parse} reads a value. */
export function isValid(value: unknown): boolean {
  return isParsed(parse, value);
}

/** Reports whether a value is an ID: an integer from 0 to Number.MAX_SAFE_INTEGER. */
export function isSnowflakeSI(value: unknown): value is SnowflakeSI {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Reports whether an ID is the zero ID, which stands for "no ID". */
export function isZero(id: SnowflakeSI): boolean {
  return fromNumber(id) === ZERO;
}

/** Says how a {@link Generator} makes its IDs. */
export interface GeneratorConfig extends ClockConfig {
  /** The machine ID: each generator of a system needs a machine ID of its own. 0 if the layout has none. */
  readonly machineId: number;
  /** The widths of the fields, the same for all generators of a system. */
  readonly layout?: Layout | undefined;
  /**
   * The time of timestamp 0, the same for all generators of a system: a time in the past, in whole
   * milliseconds. With 40 bits of timestamp the epoch must be later than 2003-03-18T07:20:19.224Z. The
   * default is {@link DEFAULT_EPOCH}.
   */
  readonly epoch?: Time | undefined;
  /**
   * Where the sequence of a millisecond starts. "continues", the default, continues the sequence of the
   * millisecond before while more than half of it is left, and else starts at 0: IDs at long intervals then have
   * different last bits, and any millisecond has at least half of the sequence. "resets" starts each millisecond
   * at 0: any millisecond has the whole sequence.
   */
  readonly sequence?: "continues" | "resets" | undefined;
}

/**
 * Makes the IDs of one machine ID. The IDs of one generator are distinct and increase in the order of
 * issue, for any steps of the clock. A generator does not remember its last ID over a restart: a process
 * that restarts with the clock set back can repeat IDs.
 */
export class Generator {
  readonly #mint: Mint<SnowflakeSI>;
  readonly machineId: number;
  readonly layout: Layout;
  /** The time of timestamp 0, in Unix milliseconds. */
  readonly epoch: number;

  /**
   * Throws a {@link ConfigError} for a setting that is out of range, and a {@link TimeError} if the clock
   * is not after the default epoch or is after the last timestamp.
   */
  constructor(config: GeneratorConfig) {
    checkSettings(FORMAT, "config", config, ["machineId", "layout", "epoch", "sequence", ...CLOCK_SETTINGS]);
    const { clock, machine } = widths(config.layout);
    const counts = countsOf(config.layout);
    const { sequence: rule = "continues" } = config;
    if (rule !== "continues" && rule !== "resets")
      throw new ConfigError(FORMAT, "sequence", shown(rule), '"continues" or "resets"');
    this.machineId = checkField(FORMAT, "machineId", config.machineId, counts.machines - 1);
    this.layout = { clockBits: clock, machineBits: machine };
    this.epoch = epochFor(config.layout, config.epoch);
    this.#mint = new Mint({
      format: FORMAT,
      epoch: this.epoch,
      last: counts.timestamps - 1,
      limit: counts.sequences,
      start: rule === "continues" ? (before) => (before + 1 < counts.sequences / 2 ? before + 1 : 0) : () => 0,
      step: () => 1,
      make: (timestamp, sequence) => pack(counts, timestamp, this.machineId, sequence),
      maxBackward: config.maxBackward,
      clock: config.clock,
    });
    this.#mint.checkClock(config.epoch, epochsAfter(config.layout));
  }

  /**
   * Returns a new ID, greater than all IDs before, or throws the reason for having none. The error is an
   * {@link ExhaustedError} if the sequence of this millisecond is used up, or if callers of {@link next}
   * wait for the IDs that are left. The error is a {@link ClockError} if the clock is behind the last ID,
   * and a {@link TimeError} if no timestamp fits the clock.
   *
   * Specification: "Snowflake-SI Algorithm".
   */
  tryNext(): SnowflakeSI {
    return this.#mint.tryNext();
  }

  /**
   * Returns a new ID, greater than all IDs before. Waits for the next millisecond once the sequence of this
   * millisecond is used up, and for a clock that is behind the last ID by up to maxBackward. Waiters get
   * IDs in turn. The promise is rejected with a {@link ClockError} or a {@link TimeError}, or with the
   * reason of the signal.
   */
  next(options?: NextOptions): Promise<SnowflakeSI> {
    return this.#mint.next(options);
  }

  /** Returns the time of an ID of a generator with the same epoch and layout. */
  time(id: SnowflakeSI): Date {
    return time(id, this.epoch, this.layout);
  }

  /** Returns the smallest ID of the millisecond of a time; see the function first. */
  first(time: Time): SnowflakeSI {
    return first(time, this.epoch, this.layout);
  }

  /** Returns the largest ID of the millisecond of a time; see the function first. */
  last(time: Time): SnowflakeSI {
    return last(time, this.epoch, this.layout);
  }
}
