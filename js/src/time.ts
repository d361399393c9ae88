// Times, epochs and timestamps.

import { ConfigError, type FormatName, TimeError, timeText } from "./errors.js";

/** A time: a Date, or Unix milliseconds. */
export type Time = Date | number;

/** The largest distance of a Date from 1970, in milliseconds. */
const HORIZON = 8.64e15;

/** Returns a time in whole Unix milliseconds, rounded down. */
export function millisOf(format: FormatName, time: Time): number {
  const ms = Math.floor(Number(time));
  if (Math.abs(ms) <= HORIZON) return ms;
  throw new ConfigError(format, "time", String(time), "a Date or a number of Unix milliseconds");
}

/** Returns an epoch in Unix milliseconds, or the default if the epoch is undefined. */
export function epochOf(format: FormatName, epoch: Time | undefined, byDefault: number): number {
  if (epoch === undefined) return byDefault;
  const ms = Number(epoch);
  if (Number.isInteger(ms) && Math.abs(ms) <= HORIZON) return ms;
  throw new ConfigError(format, "epoch", String(epoch), "a time in whole milliseconds");
}

/** Returns the timestamp of a time, limited to 0 to last. Range scans use the limited timestamp. */
export function limitedTimestamp(format: FormatName, time: Time, epoch: number, last: number): number {
  return Math.min(Math.max(millisOf(format, time) - epoch, 0), last);
}

/** Returns the timestamp of a time, or throws a TimeError for a time outside the timestamps first to last. */
export function timestampOf(format: FormatName, time: Time, epoch: number, first: number, last: number): number {
  const ms = millisOf(format, time);
  const timestamp = ms - epoch;
  if (timestamp < first || timestamp > last) throw new TimeError(format, ms, epoch + first, epoch + last);
  return timestamp;
}

/** Checks that a field is an integer in 0 to most. */
export function checkField(format: FormatName, setting: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new ConfigError(format, setting, String(value), `in 0 to ${most}`);
}

/** Returns the error of a sequence that would make the zero ID. The parameter others names the other fields. */
export function zeroId(format: FormatName, others: string): ConfigError {
  return new ConfigError(
    format,
    "sequence",
    "0",
    `1 or more, as ${others} needs at the epoch: the ID would be zero, which means no ID`,
  );
}

export { timeText };
