// Times, epochs and timestamps.

import { ConfigError, type FormatName, shown, TimeError, timeText } from "./errors.js";

/** A time: a Date, or Unix milliseconds. */
export type Time = Date | number;

/** The largest distance of a Date from 1970, in milliseconds. */
const HORIZON = 8.64e15;
/** The last epoch: a Date holds the time of every timestamp after this epoch. No timestamp has more than 43 bits. */
const LAST_EPOCH = HORIZON - 2 ** 43;

/** Returns a time in Unix milliseconds. The result is NaN for a value that is no time. */
function numberOf(time: Time): number {
  if (typeof time === "number") return time;
  try {
    return Date.prototype.getTime.call(time); // a Date of another realm, too, and no object that becomes a number
  } catch {
    return Number.NaN;
  }
}

/** Returns a time in whole Unix milliseconds, rounded down. The parameter setting names the time. */
export function millisOf(format: FormatName, time: Time, setting = "time"): number {
  const ms = Math.floor(numberOf(time));
  if (Math.abs(ms) <= HORIZON) return ms;
  throw new ConfigError(format, setting, shown(time), "a valid Date or Unix milliseconds in -8.64e15 to 8.64e15");
}

/** Returns an epoch in Unix milliseconds, or the default if the epoch is undefined. */
export function epochOf(format: FormatName, epoch: Time | undefined, byDefault: number): number {
  if (epoch === undefined) return byDefault;
  const ms = numberOf(epoch);
  if (Number.isInteger(ms) && ms >= -HORIZON && ms <= LAST_EPOCH) return ms;
  const want = `a valid Date or whole Unix milliseconds in -8.64e15 to ${LAST_EPOCH}`;
  throw new ConfigError(format, "epoch", shown(epoch), want);
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

export { timeText };
