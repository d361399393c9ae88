// Settings, and the fields that a program gives an ID.

import { ConfigError, type FormatName, shown } from "./errors.js";

/**
 * Checks that a value is an object with known settings alone: a misspelt setting, and a setting of another format,
 * must not be ignored. The parameter name says what the object is.
 */
export function checkSettings<S extends object>(format: FormatName, name: string, settings: S, known: readonly (keyof S)[]): S {
  const wrong = (value: string): ConfigError => new ConfigError(format, name, value, `an object of ${known.join(", ")}`);
  // The tag is the same for objects of another realm, such as a frame, and differs for arrays, dates and signals.
  if (Object.prototype.toString.call(settings) !== "[object Object]") throw wrong(shown(settings));
  for (const key of Object.keys(settings)) if (!known.includes(key as keyof S)) throw wrong(`with ${shown(key)}`);
  return settings;
}

/** Checks that a field is an integer in 0 to most. A field with a default may be undefined. */
export function checkField(
  format: FormatName,
  setting: string,
  value: number | undefined,
  most: number,
  byDefault?: number,
): number {
  if (value === undefined && byDefault !== undefined) return byDefault;
  if (Number.isInteger(value) && value! >= 0 && value! <= most) return value!;
  throw new ConfigError(format, setting, shown(value), `in 0 to ${most}`);
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
