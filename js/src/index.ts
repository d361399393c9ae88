/**
 * Firn: time-ordered unique IDs in six published formats.
 *
 * Each format has a module of its own, under its own path and as a namespace here:
 *
 * ```ts
 * import * as nanoflake from "@firn-id/firn/nanoflake";
 * import { nanoflake, inspect } from "@firn-id/firn";
 * ```
 *
 * @module
 */

export {
  ClockError,
  ConfigError,
  ExhaustedError,
  type FormatName,
  ParseError,
  type ParseErrorKind,
  TimeError,
} from "./errors.js";
export {
  type CandidateOptions,
  candidates,
  detect,
  type Form,
  type Format,
  formats,
  type Info,
  inspect,
  type InspectOptions,
  lookup,
  type Settings,
} from "./inspect.js";
export type { ClockConfig, NextOptions, Signal } from "./mint.js";
export type { Time } from "./time.js";

export * as nanoflake from "./nanoflake.js";
export * as ulidflake from "./ulidflake.js";
export * as ulidflakeScalable from "./ulidflake-scalable.js";
export * as snowflakesi from "./snowflakesi.js";
export * as scru160 from "./scru160.js";
export * as sno from "./sno.js";

export type { Nanoflake } from "./nanoflake.js";
export type { UlidFlake } from "./ulidflake.js";
export type { ScalableUlidFlake } from "./ulidflake-scalable.js";
export type { SnowflakeSI } from "./snowflakesi.js";
export type { Scru160 } from "./scru160.js";
export type { Sno } from "./sno.js";
