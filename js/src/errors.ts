/** The name of a format, as errors and the command `firn` show the name. */
export type FormatName = "nanoflake" | "ulidflake" | "ulidflake-scalable" | "snowflakesi" | "scru160" | "sno";

/**
 * The kind of a {@link ParseError}.
 *
 * - `length`: the input is too short or too long
 * - `character`: a character is not in the format's alphabet
 * - `range`: the value is too large for the format, or negative
 * - `type`: the type of the value cannot hold an ID
 */
export type ParseErrorKind = "length" | "character" | "range" | "type";

/** The number of characters of an input that a {@link ParseError} keeps. Inputs may be huge. */
const MAX_INPUT = 64;

/** The details of a {@link ParseError}. */
export interface ParseFault {
  /** The fault, in words. */
  readonly reason: string;
  readonly kind: ParseErrorKind;
  /** The offset of the wrong character. Leave the offset out if the fault is not in one place. */
  readonly offset?: number;
}

/** An input is not an ID. The error says what is wrong, and where. */
export class ParseError extends Error {
  /** The format that was expected. */
  readonly format: FormatName;
  /** The first 64 characters of the input, with bytes in hexadecimal; empty for the kind `type`. */
  readonly input: string;
  /** The offset of the wrong character; -1 if the fault is not in one place. */
  readonly offset: number;
  /** The fault, in words. */
  readonly reason: string;
  readonly kind: ParseErrorKind;

  constructor(format: FormatName, input: string, fault: ParseFault) {
    const kept = input.slice(0, MAX_INPUT);
    const offset = fault.offset ?? -1;
    const shown = fault.kind === "type" ? "" : `${JSON.stringify(kept)}${kept === input ? "" : "…"}: `;
    super(`${format}: ${shown}${offset < 0 ? "" : `offset ${offset}: `}${fault.reason}`);
    this.name = "ParseError";
    this.format = format;
    this.input = kept;
    this.offset = offset;
    this.reason = fault.reason;
    this.kind = fault.kind;
  }
}

/**
 * A setting, a field or a time is out of range or of another type, or a setting is not known. The error names
 * the valid values.
 */
export class ConfigError extends RangeError {
  readonly format: FormatName;
  /** The name of the setting. */
  readonly setting: string;
  /** The value of the setting. */
  readonly value: string;
  /** The valid values, in words. */
  readonly want: string;

  constructor(format: FormatName, setting: string, value: string, want: string, cause?: TimeError) {
    super(`${format}: ${setting} ${value} is not ${want}`, cause && { cause });
    this.name = "ConfigError";
    this.format = format;
    this.setting = setting;
    this.value = value;
    this.want = want;
  }
}

/** The timestamp of a format cannot hold a time. */
export class TimeError extends RangeError {
  readonly format: FormatName;
  /** The time that does not fit, in Unix milliseconds. */
  readonly time: number;
  /** The earliest time that fits, in Unix milliseconds. */
  readonly first: number;
  /** The latest time that fits, in Unix milliseconds. */
  readonly last: number;

  constructor(format: FormatName, time: number, first: number, last: number) {
    const side = time < first ? "before the first timestamp" : "after the last timestamp";
    super(`${format}: time ${timeText(time)} is ${side}: use a time from ${timeText(first)} to ${timeText(last)}`);
    this.name = "TimeError";
    this.format = format;
    this.time = time;
    this.first = first;
    this.last = last;
  }
}

/** The tick has no sequence left. Retry in the next millisecond, or call `next`, which waits. */
export class ExhaustedError extends Error {
  readonly format: FormatName;

  constructor(format: FormatName) {
    super(`${format}: sequence exhausted in this millisecond`);
    this.name = "ExhaustedError";
    this.format = format;
  }
}

/** The clock is behind the last ID. */
export class ClockError extends Error {
  readonly format: FormatName;
  /** The milliseconds from the clock's tick to the last ID's tick. */
  readonly by: number;

  constructor(format: FormatName, by: number) {
    super(`${format}: clock went backwards: the last ID is ${by} ms ahead of the clock: check the clock, or retry in ${by} ms`);
    this.name = "ClockError";
    this.format = format;
    this.by = by;
  }
}

/** Returns a time in the form of RFC 3339 with as many digits as needed, as in Go. */
export function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString().replace(/\.?0+Z$/, "Z");
}

/** Returns a value in words, whatever the value is: objects are not asked for a text of their own. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, MAX_INPUT));
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" || typeof value === "symbol" ? `a ${typeof value}` : String(value).slice(0, MAX_INPUT);
}

/** Returns the error of a value whose type cannot hold an ID. The parameter type names the right type. */
export function badType(format: FormatName, value: unknown, type: string): ParseError {
  const article = typeof value === "object" || typeof value === "undefined" ? "an" : "a";
  const name = value === null ? "a null" : `${article} ${typeof value}`;
  return new ParseError(format, "", { kind: "type", reason: `${name} holds no ID: use a ${type}` });
}

/** Returns the error of an input with a wrong length. */
export function badLength(format: FormatName, input: string, length: number, want: string): ParseError {
  return new ParseError(format, input, { kind: "length", reason: `length is ${length}, not ${want}` });
}

/** Returns the error of a well-formed value outside the format's range. */
export function badRange(format: FormatName, input: string, allowed: string): ParseError {
  return new ParseError(format, input, { kind: "range", reason: `value is not in ${allowed}` });
}

/** Returns the error of an input with a foreign character at the offset. */
export function badCharacter(format: FormatName, input: string, offset: number, alphabet: string): ParseError {
  const character = String.fromCodePoint(input.codePointAt(offset) ?? 0xfffd);
  return new ParseError(format, input, {
    kind: "character",
    offset,
    reason: `character ${quote(character)} is not ${alphabet}`,
  });
}

/** Quotes a character as Go does. */
function quote(character: string): string {
  if (character === "'") return "'\\''";
  return character === '"' ? "'\"'" : `'${JSON.stringify(character).slice(1, -1)}'`;
}

/** Returns the error of a number that JavaScript cannot hold exactly. */
export function tooLarge(format: FormatName, value: number): ParseError {
  return new ParseError(format, String(value), {
    kind: "range",
    reason: "number is beyond 2^53 - 1, where JavaScript rounds integers to other IDs: have IDs written as text",
  });
}

/** Returns the error of a value that is not a text. A number beyond 2^53 - 1 has its own reason. */
export function notText(format: FormatName, value: unknown): ParseError {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER
    ? tooLarge(format, value)
    : badType(format, value, "string");
}
