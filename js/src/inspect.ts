import { ConfigError, type FormatName, notText, ParseError, shown, timeText } from "./errors.js";
import * as nanoflake from "./nanoflake.js";
import * as scru160 from "./scru160.js";
import { checkSettings } from "./settings.js";
import * as sno from "./sno.js";
import * as snowflakesi from "./snowflakesi.js";
import { epochOf, millisOf, type Time } from "./time.js";
import * as ulidflake from "./ulidflake.js";
import * as scalable from "./ulidflake-scalable.js";

/**
 * A way to write an ID.
 *
 * - `text`: the canonical text, or another text that parse reads
 * - `int`: the decimal integer, for formats of up to 64 bits
 * - `hex`: the big-endian binary form in hexadecimal
 * - `base36`: Nanoflake's text with or without leading zeros
 */
export type Form = "text" | "int" | "hex" | "base36";

/** What a reader of IDs has to know beside the ID. */
export interface Settings {
  /** The time of timestamp 0, for formats without a fixed epoch. The default is the format's own. */
  readonly epoch?: Time | undefined;
  /** The layout of snowflakesi. */
  readonly layout?: snowflakesi.Layout | undefined;
}

/** An ID taken apart. JSON.stringify writes exactly the line of `firn inspect --json`. */
export interface Info {
  readonly format: FormatName;
  /** The canonical text. */
  readonly id: string;
  /** The decimal integer; missing for formats of more than 64 bits. */
  readonly int?: string;
  /** The big-endian binary form. */
  readonly hex: string;
  /** The time in the form of RFC 3339, or null outside the years 0 to 9999. */
  readonly time: string | null;
  /** The time in Unix milliseconds. */
  readonly unix_ms: number;
  /** The fields, from the most significant. */
  readonly fields: Readonly<Record<string, number | string>>;
}

/** One of the published formats. */
export interface Format {
  readonly name: FormatName;
  /** The name of the worker number in this format, or "" if the format has no workers. */
  readonly worker: string;
  /** The forms that the format's IDs have. */
  readonly forms: readonly Form[];
  /** Takes apart an ID in the given form. The error is the error of the format's own functions. */
  readonly inspect: (input: string, form: Form, settings?: Settings) => Info;
}

/** What an Info needs of a format whose IDs have the type ID. */
interface Reader<ID> {
  readonly name: FormatName;
  readonly worker: string;
  readonly forms: Partial<Record<Form, (input: string) => ID>>;
  readonly text: (id: ID) => string;
  readonly int?: (id: ID) => bigint;
  readonly hex: (id: ID) => string;
  readonly time: (id: ID, settings: Settings) => Date;
  readonly fields: (id: ID, settings: Settings) => object;
}

const SETTINGS = ["epoch", "layout"] as const satisfies readonly (keyof Settings)[];

function format<ID>(reader: Reader<ID>): Format {
  const forms = Object.keys(reader.forms) as Form[];
  const inspect = (input: string, form: Form, settings: Settings = {}): Info => {
    checkSettings(reader.name, "settings", settings, SETTINGS);
    epochOf(reader.name, settings.epoch, 0);
    snowflakesi.widths(settings.layout);
    const read = forms.includes(form) ? reader.forms[form] : undefined;
    if (read === undefined) throw new ConfigError(reader.name, "form", shown(form), `one of ${forms.join(", ")}`);
    const id = read(input);
    const date = reader.time(id, settings);
    const year = date.getUTCFullYear();
    return {
      format: reader.name,
      id: reader.text(id),
      ...(reader.int && { int: String(reader.int(id)) }),
      hex: reader.hex(id),
      time: year >= 0 && year <= 9999 ? timeText(date.getTime()) : null,
      unix_ms: date.getTime(),
      fields: { ...reader.fields(id, settings) },
    };
  };
  return { name: reader.name, worker: reader.worker, forms, inspect };
}

const same = (id: string): string => id;

/** All formats, in the order of listings and of detection. */
export const formats: readonly Format[] = /* @__PURE__ */ list();

function list(): readonly Format[] {
  return [
    format<nanoflake.Nanoflake>({
      name: "nanoflake",
      worker: "generator ID",
      forms: { text: nanoflake.parse, int: nanoflake.parseDecimal, hex: nanoflake.parseHex, base36: nanoflake.parseBase36 },
      text: same,
      int: nanoflake.toBigInt,
      hex: nanoflake.toHex,
      time: (id, { epoch }) => nanoflake.time(id, epoch),
      fields: nanoflake.fields,
    }),
    format<ulidflake.UlidFlake>({
      name: "ulidflake",
      worker: "",
      forms: { text: ulidflake.parse, int: ulidflake.parseDecimal, hex: ulidflake.parseHex },
      text: same,
      int: ulidflake.toBigInt,
      hex: ulidflake.toHex,
      time: (id, { epoch }) => ulidflake.time(id, epoch),
      fields: ulidflake.fields,
    }),
    format<scalable.ScalableUlidFlake>({
      name: "ulidflake-scalable",
      worker: "scalability",
      forms: { text: scalable.parse, int: scalable.parseDecimal, hex: scalable.parseHex },
      text: same,
      int: scalable.toBigInt,
      hex: scalable.toHex,
      time: (id, { epoch }) => scalable.time(id, epoch),
      fields: scalable.fields,
    }),
    format<snowflakesi.SnowflakeSI>({
      name: "snowflakesi",
      worker: "machine ID",
      forms: { text: snowflakesi.parse, int: snowflakesi.parse, hex: snowflakesi.parseHex },
      text: snowflakesi.toText,
      int: snowflakesi.toBigInt,
      hex: snowflakesi.toHex,
      time: (id, { epoch, layout }) => snowflakesi.time(id, epoch, layout),
      fields: (id, { layout }) => snowflakesi.fields(id, layout),
    }),
    format<scru160.Scru160>({
      name: "scru160",
      worker: "",
      forms: { text: scru160.parse, hex: scru160.parseHex },
      text: same,
      hex: scru160.toHex,
      time: (id) => scru160.time(id),
      fields: scru160.fields,
    }),
    format<sno.Sno>({
      name: "sno",
      worker: "partition",
      forms: { text: sno.parse, hex: sno.parseHex },
      text: same,
      hex: sno.toHex,
      time: (id) => sno.time(id),
      fields: sno.fields,
    }),
  ];
}

/** Returns the format of a name, or undefined. */
export function lookup(name: string): Format | undefined {
  return formats.find((f) => f.name === name);
}

/** The functions that read an ID whose form is not known, in the order of their turns. */
const GUESSES: readonly ((f: Format, input: string, settings?: Settings) => Info)[] = [
  (f, input, settings) => f.inspect(input, "text", settings),
  (f, input, settings) => f.inspect(input, "int", settings),
  (f, input, settings) => f.inspect(input, "hex", settings),
  (f, input, settings) => f.inspect(prefixed(f, input), "hex", settings),
];

/** Returns the digits behind 0x. Programs print integers without leading zeros, so short digits are padded. */
function prefixed(f: Format, input: string): string {
  if (typeof input !== "string") throw notText(f.name, input);
  const lower = input.toLowerCase();
  if (!lower.startsWith("0x"))
    throw new ParseError(f.name, lower, { kind: "character", offset: 0, reason: "hexadecimal digits begin with 0x" });
  const digits = lower.slice(2);
  return digits !== "" && f.forms.includes("int") ? digits.padStart(16, "0") : digits;
}

const isRange = (fault: unknown): boolean => fault instanceof ParseError && fault.kind === "range";

/** Says which form an ID has, and what the reader has to know. */
export interface InspectOptions extends Settings {
  /** The form of the input. Without a form, text is tried first, then decimal, hexadecimal, and 0x. */
  readonly form?: Form | undefined;
}

/**
 * Takes apart an ID of a known format, as `firn inspect FORMAT ID` does. Behind 0x, formats of up to 64 bits
 * need no leading zeros. For a value out of range the error says so; otherwise the error is about the text.
 *
 * An input with the length and the alphabet of the canonical text is read as the text or is an error, even if all
 * characters are digits: 8000000000000 is no Ulid-Flake. The form `int` reads a decimal of that length.
 */
export function inspect(format: FormatName, input: string, options: InspectOptions = {}): Info {
  const f = lookup(format);
  if (f === undefined) {
    const name = shown(format);
    throw new ConfigError(name as FormatName, "format", name, `one of ${formats.map((known) => known.name).join(", ")}`);
  }
  const { form, ...settings } = checkSettings(f.name, "options", options, ["form", ...SETTINGS]);
  epochCheck(f, settings);
  if (form !== undefined) return f.inspect(input, form, settings);
  let first: unknown;
  for (const guess of GUESSES) {
    try {
      return guess(f, input, settings);
    } catch (fault) {
      // The input has the length and the characters of a text: the decimal reading would be another ID.
      if (guess === GUESSES[0] && isRange(fault)) throw fault;
      if (first === undefined || (isRange(fault) && !isRange(first))) first = fault;
    }
  }
  throw first;
}

/** Throws the ConfigError of settings that a format cannot have, which would look like a wrong ID. */
function epochCheck(f: Format, settings: Settings): void {
  const zero = {
    nanoflake: nanoflake.ZERO,
    ulidflake: ulidflake.ZERO,
    "ulidflake-scalable": scalable.ZERO,
    snowflakesi: "0",
    scru160: scru160.ZERO,
    sno: sno.ZERO,
  };
  f.inspect(zero[f.name], "text", settings);
}

/** Says what {@link candidates} knows beside the ID. */
export interface CandidateOptions extends InspectOptions {
  /** The present time. The default is Date.now. */
  readonly now?: Time | undefined;
}

/**
 * Returns what an ID of an unknown format can be, as `firn inspect ID` does. The forms are tried in the order
 * of {@link inspect} in all formats, up to the first form that fits a format. Past times stand before future
 * times, and each nearest to now first. The next 24 hours count as past, because clocks differ.
 */
export function candidates(input: string, options: CandidateOptions = {}): Info[] {
  const { form, now, ...settings } = checkSettings(formats[0]!.name, "options", options, ["form", "now", ...SETTINGS]);
  const present = millisOf(formats[0]!.name, now === undefined ? Date.now() : now, "now");
  for (const f of formats) epochCheck(f, settings);
  const guesses = form === undefined ? GUESSES : [(f: Format) => f.inspect(input, form, settings)];
  for (const guess of guesses) {
    const fits = formats.flatMap((f) => {
      try {
        return [guess(f, input, settings)];
      } catch {
        return [];
      }
    });
    if (fits.length > 0) return rank(fits, present);
  }
  return [];
}

function rank(fits: Info[], now: number): Info[] {
  const skew = 24 * 60 * 60 * 1000;
  const future = (info: Info): number => (info.unix_ms > now + skew ? 1 : 0);
  const distance = (info: Info): number => Math.abs(info.unix_ms - now);
  return fits.sort((a, b) => future(a) - future(b) || distance(a) - distance(b));
}

/**
 * Returns the formats that can read an input in the given form. Several formats may fit: every Ulid-Flake is
 * both stand-alone and scalable.
 */
export function detect(input: string, form: Form = "text"): FormatName[] {
  const fits = (f: Format): boolean => {
    try {
      f.inspect(input, form);
      return true;
    } catch {
      return false;
    }
  };
  return formats.filter(fits).map((f) => f.name);
}
