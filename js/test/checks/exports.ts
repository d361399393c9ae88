// Every function of the package checks its arguments. The check finds the functions by itself: a new export without a
// row here fails, and so does an export that takes a value which the row refuses.

import * as firn from "@firn-id/firn";
import type { Check, Tally } from "./harness.js";

const { ConfigError, nanoflake, ParseError, scru160, sno, snowflakesi, TimeError, ulidflake, ulidflakeScalable } = firn;

/** What must come of a value that a parameter refuses. */
type Refusal = typeof ParseError | typeof ConfigError | "undefined" | "[]";

/** The values that a parameter takes. The reading is written here a second time, without the package. */
interface Kind {
  /** A value that the parameter takes. */
  readonly good: unknown;
  /** Returns the canonical form of a value in a list, or undefined for a value that the parameter refuses. */
  readonly read: (value: unknown) => readonly [unknown] | undefined;
  readonly refusal: Refusal;
  /** The settings of an object. */
  readonly members?: Readonly<Record<string, Kind>>;
}

/** The parameters of a function. */
interface Row {
  readonly kinds: readonly Kind[];
  /** Returns the part of a result that two calls have in common. */
  readonly same: (result: never) => unknown;
}

const row = (...kinds: Kind[]): Row => ({ kinds, same: (result: unknown) => result });
const alike = (same: Row["same"], ...kinds: Kind[]): Row => ({ kinds, same });

function kind(refusal: Refusal, good: unknown, read: (value: unknown) => unknown): Kind {
  return {
    good,
    refusal,
    read: (value) => {
      const canonical = read(value);
      return canonical === undefined ? undefined : [canonical];
    },
  };
}

const optional = (k: Kind): Kind => ({ ...k, read: (value) => (value === undefined ? [undefined] : k.read(value)) });
const answers = (refusal: Refusal, k: Kind): Kind => ({ ...k, refusal });

/** The kind of texts that match, with the canonical text. */
function textual(good: string, pattern: RegExp, canonical: (text: string) => string | undefined = (text) => text): Kind {
  return kind(ParseError, good, (value) => (typeof value === "string" && pattern.test(value) ? canonical(value) : undefined));
}

function number(refusal: Refusal, good: unknown, fits: (value: number) => boolean): Kind {
  return kind(refusal, good, (value) => (typeof value === "number" && fits(value) ? value : undefined));
}

const within = (good: number, most: number): Kind =>
  number(ConfigError, good, (value) => Number.isInteger(value) && value >= 0 && value <= most);
const oneOf = (...values: unknown[]): Kind =>
  kind(ConfigError, values[0], (value) => (values.includes(value) ? value : undefined));
const flag = oneOf(true, false);

function settings(members: Record<string, Kind>): Kind {
  const good = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, member.good]));
  const read = (value: unknown): unknown => {
    if (Object.prototype.toString.call(value) !== "[object Object]") return undefined;
    const given = value as Record<string, unknown>;
    if (Object.keys(given).some((name) => !Object.hasOwn(members, name))) return undefined;
    const all = Object.entries(members).map(([name, member]) => [name, member.read(given[name])] as const);
    if (all.some(([, canonical]) => canonical === undefined)) return undefined;
    return Object.fromEntries(all.map(([name, canonical]) => [name, canonical?.[0]]));
  };
  return { ...kind(ConfigError, good, read), members };
}

const anything: Kind = { good: undefined, refusal: ParseError, read: (value) => [value] };
const anyText = (good: string): Kind => kind(ParseError, good, (value) => (typeof value === "string" ? value : undefined));

const FAR = 8.64e15;
const NOW = 1.8e12;

function isDate(value: unknown): value is Date {
  try {
    Date.prototype.getTime.call(value as Date); // refuses an object that only says that it is a Date
    return true;
  } catch {
    return false;
  }
}

const msOf = (value: unknown): number => (isDate(value) ? value.getTime() : typeof value === "number" ? value : Number.NaN);
const time = kind(ConfigError, NOW, (value) => (Math.abs(msOf(value)) <= FAR ? Math.floor(msOf(value)) : undefined));
const epoch = optional(
  kind(ConfigError, 1.7e12, (value) => {
    const ms = msOf(value);
    return Number.isInteger(ms) && Math.abs(ms) <= FAR && ms + 2 ** 43 <= FAR ? ms : undefined;
  }),
);
const layout = optional(settings({ clockBits: optional(oneOf(41, 40)), machineBits: optional(within(4, 13)) }));

const MAX_INT64 = 2n ** 63n - 1n;
const int64 = (value: bigint): bigint | undefined => (value >= 0n && value <= MAX_INT64 ? value : undefined);
const bigint = (good: bigint, most: bigint): Kind =>
  kind(ParseError, good, (value) => (typeof value === "bigint" && value >= 0n && value <= most ? value : undefined));
const decimal = textual("4985", /^[0-9]{1,19}$/, (text) => int64(BigInt(text))?.toString());
const hex = (length: number): Kind =>
  textual("0".repeat(length), new RegExp(`^[0-9a-fA-F]{${length}}$`), (text) => text.toLowerCase());
const hex64 = (most: bigint): Kind => {
  const fits = (text: string): string | undefined => (BigInt(`0x${text}`) <= most ? text.toLowerCase() : undefined);
  return textual("0000000000001379", /^[0-9a-fA-F]{16}$/, fits);
};
const REAL_TAG = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;
const bytes = (size: number, fits: (value: Uint8Array) => boolean = () => true): Kind =>
  kind(ParseError, new Uint8Array(size).fill(0, 0, 2).fill(1, 2), (value) => {
    const is = REAL_TAG?.call(value) === "Uint8Array" && (value as Uint8Array).length === size && fits(value as Uint8Array);
    return is ? value : undefined;
  });

const largest = (most: string) => (text: string) => (text <= most ? text : undefined);
const CROCKFORD = /^[0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{13}$/;
const ID = {
  nanoflake: textual("07en9rb30swmf", /^[0-9a-zA-Z]{13}$/, (text) => largest("1y2p0ij32e8e7")(text.toLowerCase())),
  ulidflake: textual("00CMXB6TAK4SA", CROCKFORD, (text) => largest("7ZZZZZZZZZZZZ")(text.toUpperCase())),
  snowflakesi: number(ParseError, 1527083958403961, (value) => Number.isSafeInteger(value) && value >= 0),
  scru160: textual("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4", /^([0-9a-vA-V]{32}|[0-9a-fA-F]{40})$/, (text) =>
    text.length === 32 ? text.toUpperCase() : BigInt(`0x${text}`).toString(32).toUpperCase().padStart(32, "0"),
  ),
  sno: textual("cufsekaqqudbobiw", /^[2-9a-x]{16}$/),
};

/** Reports whether digits are the text of a Nanoflake, with or without padding. One digit is the same in both. */
const isNanoflake = (digits: string): boolean =>
  digits.length > 1 && digits.length < 14 && digits.padStart(13, "0") < "1y2p0ij32e8e8";
const isUlidFlake = (digits: string): boolean => digits.length === 13 && digits < "8";
const padded = (text: string): string | undefined => largest("1y2p0ij32e8e7")(text.toLowerCase().padStart(13, "0"));

/** A value of JSON: null, a text of the format, or an integer that is not also the text of another ID. */
function json(text: Kind, isText: ((digits: string) => boolean) | undefined): Kind {
  return kind(ParseError, text.good, (value) => {
    if (value === null) return null;
    if (typeof value !== "number" || isText === undefined) return text.read(value)?.[0];
    return Number.isSafeInteger(value) && value >= 0 && !isText(String(value)) ? value : undefined;
  });
}

const signal = optional(
  kind(ConfigError, new AbortController().signal, (value) => (value instanceof AbortSignal ? value : undefined)),
);
const options = optional(settings({ signal }));
const clock = optional(kind(ConfigError, () => NOW, (value) => (typeof value === "function" ? value : undefined)));
const maxBackward = optional(number(ConfigError, 10, (value) => value >= 0));

/** The rows that all formats have. */
function common(name: string, id: Kind): Record<string, Row> {
  const rows = {
    fields: row(id),
    time: row(id),
    toHex: row(id),
    toBytes: row(id),
    toJSON: row(id),
    isZero: row(id),
    compare: row(id, id),
    isValid: row(anything),
    first: row(time),
    last: row(time),
  };
  return under(name, rows);
}

function under(name: string, rows: Record<string, Row>): Record<string, Row> {
  return Object.fromEntries(Object.entries(rows).map(([key, value]) => [`${name}.${key}`, value]));
}

/** The rows of a format of 63-bit integers. */
function integers(name: string, id: Kind, isText: (digits: string) => boolean): Record<string, Row> {
  return {
    ...common(name, id),
    ...under(name, {
      parse: row(id),
      time: row(id, epoch),
      first: row(time, epoch),
      last: row(time, epoch),
      fromJSON: row(json(id, isText)),
      toBigInt: row(id),
      toDecimal: row(id),
      parseDecimal: row(decimal),
      parseHex: row(hex64(MAX_INT64)),
      fromBigInt: row(bigint(4985n, MAX_INT64)),
      fromBytes: row(bytes(8, (value) => value[0]! < 128)),
    }),
  };
}

const widths = { startBits: within(3, 31), extraCounterBits: within(2, 16), nodeBits: within(4, 14), nodeId: within(5, 15) };
const SI_CONFIG = {
  machineId: within(5, 15),
  layout,
  epoch,
  sequence: optional(oneOf("resets", "continues")),
  maxBackward,
  clock,
};
const formatName = oneOf(...firn.formats.map(({ name }) => name));
/** The text of an ID of each format. */
const textOfFormat = (name: firn.FormatName): string =>
  name === "snowflakesi" ? "4985" : (ID[name === "ulidflake-scalable" ? "ulidflake" : name].good as string);
const isID = (id: unknown): string => typeof id;

/** The parameters of each function. The names are paths from the index of the package. */
const ROWS: Readonly<Record<string, Row>> = {
  ...integers("nanoflake", ID.nanoflake, isNanoflake),
  "nanoflake.parseBase36": row(textual("7en9rb30swmf", /^[0-9a-zA-Z]{1,13}$/, padded)),
  "nanoflake.fromTime": row(time, settings({ generatorId: within(5, 1023), sequence: within(6, 4095) }), epoch),
  "nanoflake.isNanoflake": row(anything),

  ...integers("ulidflake", ID.ulidflake, isUlidFlake),
  "ulidflake.fromTime": alike((id: string) => id.slice(0, 9), time, epoch),
  "ulidflake.isUlidFlake": row(anything),
  "ulidflake.Generator": alike(
    (made: firn.ulidflake.Generator) => made.epoch,
    optional(settings({ incrementBits: optional(within(3, 20)), epoch, maxBackward, clock })),
  ),
  "ulidflake.Generator.tryNext": alike(isID),
  "ulidflake.Generator.next": alike(isID, options),
  "ulidflake.Generator.time": row(ID.ulidflake),
  "ulidflake.Generator.first": row(time),
  "ulidflake.Generator.last": row(time),

  ...integers("ulidflakeScalable", ID.ulidflake, isUlidFlake),
  "ulidflakeScalable.fromTime": alike(
    (id: firn.ScalableUlidFlake) => id.slice(0, 9) + ulidflakeScalable.fields(id).scalability,
    time,
    settings({ scalability: within(5, 31) }),
    epoch,
  ),
  "ulidflakeScalable.isScalableUlidFlake": row(anything),

  ...common("snowflakesi", ID.snowflakesi),
  ...under("snowflakesi", {
    parse: row(textual("4985", /^[0-9]{1,16}$/, (text) => (BigInt(text) < 2n ** 53n ? String(BigInt(text)) : undefined))),
    parseHex: row(hex64(2n ** 53n - 1n)),
    fromNumber: row(ID.snowflakesi),
    fromBigInt: row(bigint(4985n, 2n ** 53n - 1n)),
    fromBytes: row(bytes(8, (value) => value[0] === 0 && value[1]! < 32)),
    fromJSON: row(
      json(
        textual("4985", /^[0-9]{1,16}$/, (text) => (BigInt(text) < 2n ** 53n ? text : undefined)),
        () => false,
      ),
    ),
    toText: row(ID.snowflakesi),
    toBigInt: row(ID.snowflakesi),
    widths: row(layout),
    fields: row(ID.snowflakesi, layout),
    time: row(ID.snowflakesi, epoch, layout),
    first: row(time, epoch, layout),
    last: row(time, epoch, layout),
    fromTime: row(time, settings({ machineId: within(5, 15), sequence: within(6, 511) }), epoch, layout),
    isSnowflakeSI: row(anything),
    Generator: alike(
      (made: firn.snowflakesi.Generator) => [made.epoch, made.layout, made.machineId],
      settings(SI_CONFIG),
    ),
    "Generator.tryNext": alike(isID),
    "Generator.next": alike(isID, options),
    "Generator.time": row(ID.snowflakesi),
    "Generator.first": row(time),
    "Generator.last": row(time),
  }),

  ...common("scru160", ID.scru160),
  ...under("scru160", {
    parse: row(ID.scru160),
    parseHex: row(hex(40)),
    fromBytes: row(bytes(20)),
    fromJSON: row(json(ID.scru160, undefined)),
    fromTime: alike((id: firn.Scru160) => scru160.time(id), time),
    isScru160: row(anything),
    Generator: alike(
      () => "a generator",
      optional(settings({ ...mapped(widths, optional), restart: optional(flag), maxBackward, clock })),
    ),
    "Generator.tryNext": alike(isID),
    "Generator.next": alike(isID, options),
  }),

  ...common("sno", ID.sno),
  ...under("sno", {
    parse: row(ID.sno),
    parseHex: row(hex(20)),
    fromBytes: row(bytes(10)),
    fromJSON: row(json(ID.sno, undefined)),
    fromTime: row(time, settings({ meta: within(5, 255), partition: within(6, 65535), sequence: within(7, 65535) })),
    isSno: row(anything),
  }),

  inspect: row(
    formatName,
    anyText("4985"),
    optional(settings({ form: optional(oneOf("int", "text", "hex", "base36")), epoch, layout })),
  ),
  candidates: row(
    answers("[]", anyText("4985")),
    optional(settings({ form: anything, now: optional(time), epoch, layout })),
  ),
  detect: row(answers("[]", anyText("4985")), optional(answers("[]", oneOf("int", "text", "hex", "base36")))),
  lookup: alike((found: firn.Format | undefined) => found?.name, answers("undefined", formatName)),
  ...Object.fromEntries(
    firn.formats.map(({ name, forms }, i) => [
      `formats.${i}.inspect`,
      row(anyText(textOfFormat(name)), oneOf(...forms, "text"), optional(settings({ epoch, layout }))),
    ]),
  ),
};

function mapped(kinds: Record<string, Kind>, change: (k: Kind) => Kind): Record<string, Kind> {
  return Object.fromEntries(Object.entries(kinds).map(([name, k]) => [name, change(k)]));
}

type Call = (...args: unknown[]) => unknown;

/** Objects whose methods are called where a name ends in a method of a class. */
const INSTANCES: Readonly<Record<string, () => object>> = {
  ulidflake: () => new ulidflake.Generator(),
  snowflakesi: () => new snowflakesi.Generator({ machineId: 1 }),
  scru160: () => new scru160.Generator({ startBits: 0 }),
};

/** Finds the functions of a value, by their paths. Classes of errors are made by the package. */
function functionsOf(value: unknown, path: string, found: Map<string, Call>): Map<string, Call> {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  if (typeof value === "function") {
    const prototype = value.prototype as object | undefined;
    if (prototype instanceof Error) return found;
    if (!String(value).startsWith("class")) return found.set(path, value as Call);
    found.set(path, (...args) => Reflect.construct(value, args) as unknown);
    for (const name of Object.getOwnPropertyNames(prototype).filter((key) => key !== "constructor")) {
      found.set(at(name), (...args) => {
        const instance = INSTANCES[path.split(".")[0]!]?.() as Record<string, Call>;
        return instance[name]!(...args);
      });
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) functionsOf(member, at(name), found);
  }
  return found;
}

/** An object that tells if anything asks it for a text or a number. */
const asked = (): never => {
  throw new Error("the package asks an object for its text");
};

/** Texts near the texts of IDs. */
function texts(): string[] {
  const samples = [
    "07en9rb30swmf",
    "00CMXB6TAK4SA",
    "05TTUP1HNCPNH30VEK64KDQT9BSNU4C4",
    "017bdf6431bb33750751eb63beb3c3f8c5969d86",
    "cufsekaqqudbobiw",
    "571ba64918c7169b261e",
    "1527083958403961",
    "0000000000001379",
    ...[nanoflake, ulidflake, scru160, sno].flatMap(({ ZERO, MAX }) => [ZERO, MAX]),
  ];
  const near = samples.flatMap((text) => [
    text,
    text.toLowerCase(),
    text.toUpperCase(),
    text.slice(1),
    text.slice(0, -1),
    `${text}0`,
    ` ${text}`,
    `${text}\n`,
    `${text.slice(0, -1)}!`,
    `${text.slice(0, -1)}\ud800`,
    `\udc00${text.slice(1)}`,
    `${text.slice(0, -3)}\ud83d`,
    text.replace(/\d/, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  ]);
  return [...new Set(near)];
}

/** Values of all types. */
function values(): unknown[] {
  const inputs = ["07en9rb30swmf", 1527083958403961, NOW].flatMap((value) => [
    { toString: () => value, valueOf: () => value },
    { [Symbol.toPrimitive]: () => value },
    [value],
    Object(value) as unknown,
    () => value,
  ]);
  return [
    ...inputs,
    ...["", "-1", "-0", "1e3", "0x1379", "NaN", "null", "8000000000000", "1y2p0ij32e8e8", "8ZZZZZZZZZZZZ", "z".repeat(10_000)],
    ...["nanoflake", "text", "int", "hex", "base36", "resets", "toString", "__proto__", "40"],
    ...[undefined, null, true, false, Symbol("id"), {}, [], Object.create(null), new Map(), /id/, Promise.resolve(1)],
    ...[0, -0, 1, -1, 0.5, 40, 1.5e12 + 0.25, -1e12, 4e12, 1e13, FAR, -FAR, FAR + 1, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e300],
    ...[Number.NaN, Infinity, -Infinity, Number.MIN_VALUE, Number.MAX_VALUE, 8000000000000, 1234567890123, 12345],
    ...[0n, 5n, -1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n],
    ...[new Date(NOW), new Date(0), new Date(Number.NaN), new Date(FAR), new Date(-FAR)],
    ...[0, 7, 8, 9, 10, 13, 16, 20, 21].flatMap((n) => [new Uint8Array(n), new Uint8Array(n).fill(255), new Uint16Array(n)]),
    ...[new ArrayBuffer(8), new DataView(new ArrayBuffer(8)), new Uint8ClampedArray(8)],
    ...[8, 10, 20].map((n) => Object.assign(new Array<number>(n).fill(300), { [Symbol.toStringTag]: "Uint8Array" })),
    ...["Uint8Array", "Date"].map((tag) => ({ [Symbol.toStringTag]: tag, length: 8, getTime: () => 0, valueOf: () => 0 })),
    { toLowerCase: () => "0x1379", toUpperCase: () => "0X1379", slice: () => "1379", length: 13 },
    { toString: asked, valueOf: asked, toJSON: asked, [Symbol.toPrimitive]: asked },
    Object.assign(Object.create(null) as object, { aborted: false, reason: undefined }),
    new AbortController(),
    new AbortController().signal,
  ];
}

const hostile = (): unknown[] => [...texts(), ...values()];

/** Yields values for a parameter: for settings, also objects with one setting of each value, and with another setting. */
function* valuesFor({ members, good }: Kind, pool = values()): Generator<unknown> {
  yield* pool;
  if (members === undefined) return;
  yield { ...(good as object), unknown: 1 };
  yield { ...(good as object), unknown: undefined };
  for (const [name, member] of Object.entries(members)) {
    yield Object.fromEntries(Object.entries(good as object).filter(([key]) => key !== name));
    for (const value of valuesFor(member, pool)) yield { ...(good as object), [name]: value };
  }
}

interface Outcome {
  readonly fault?: unknown;
  /** The result, or the class of the error. */
  readonly text: string;
}

async function outcome(call: Call, same: Row["same"], args: readonly unknown[]): Promise<Outcome> {
  try {
    const result = call(...args);
    return { text: textOf(same((result instanceof Promise ? await result : result) as never)) };
  } catch (fault) {
    return { fault, text: fault instanceof Error ? fault.name : "no error" };
  }
}

function textOf(value: unknown): string {
  const plain = (_: string, member: unknown): unknown => (typeof member === "bigint" ? `${member}n` : member);
  if (isDate(value)) return `Date ${value.getTime()}`;
  return value instanceof Uint8Array ? `bytes ${value.join(" ")}` : (JSON.stringify(value, plain) ?? String(value));
}

/** A value for the message of a failure. */
function named(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  if (typeof value !== "object" || value === null) return `${typeof value} ${String(value)}`;
  return `${Object.prototype.toString.call(value)} with ${Object.keys(value).join(", ")}`;
}

const replaced = (list: readonly unknown[], at: number, value: unknown): unknown[] =>
  list.map((old, i) => (i === at ? value : old));

const isOurs = (fault: unknown): boolean =>
  fault instanceof ParseError || fault instanceof ConfigError || fault instanceof TimeError;

const FORMATS = ["nanoflake", "ulidflake", "ulidflakeScalable", "snowflakesi", "scru160", "sno"] as const;
const NAMES: Readonly<Record<string, string>> = { ulidflakeScalable: "ulidflake-scalable" };

async function checksArguments(t: Tally, name: string, call: Call): Promise<void> {
  const { kinds, same } = ROWS[name]!;
  const good = kinds.map((k) => k.good);
  const usual = await outcome(call, same, good);
  t.ok(usual.fault === undefined, `${name} refuses good arguments: ${String(usual.fault)}`);
  for (const [i, k] of kinds.entries()) {
    for (const value of k.members === undefined ? hostile() : valuesFor(k)) {
      const what = `argument ${i} of ${name}: ${named(value)}`;
      const got = await outcome(call, same, replaced(good, i, value));
      const canonical = k.read(value);
      if (got.fault !== undefined) {
        t.ok(isOurs(got.fault), `${what}: ${String(got.fault)}`);
        const { format, message } = got.fault as firn.ParseError;
        const [space = ""] = name.split(".");
        if (FORMATS.some((known) => known === space))
          t.equal(format, NAMES[space] ?? space, `the format in the error of ${what}`);
        t.ok(message.length < 400 && !message.includes("undefined is not a function"), `${what}: ${message}`);
      }
      if (canonical !== undefined) {
        t.equal(got.text, (await outcome(call, same, replaced(good, i, canonical[0]))).text, what);
      } else if (typeof k.refusal === "string") {
        t.equal(got.text, k.refusal, what);
      } else {
        t.ok(got.fault instanceof k.refusal, `${what}: ${got.text}, want ${k.refusal.name}`);
      }
    }
  }
}

/** A guard answers as the reader does. */
function guards(t: Tally): void {
  for (const [f, id] of [
    [{ parse: nanoflake.parse, isValid: nanoflake.isValid, is: nanoflake.isNanoflake }, ID.nanoflake],
    [{ parse: ulidflake.parse, isValid: ulidflake.isValid, is: ulidflake.isUlidFlake }, ID.ulidflake],
    [
      { parse: ulidflakeScalable.parse, isValid: ulidflakeScalable.isValid, is: ulidflakeScalable.isScalableUlidFlake },
      ID.ulidflake,
    ],
    [{ parse: scru160.parse, isValid: scru160.isValid, is: scru160.isScru160 }, ID.scru160],
    [{ parse: sno.parse, isValid: sno.isValid, is: sno.isSno }, ID.sno],
  ] as const) {
    for (const value of hostile()) {
      const canonical = id.read(value);
      t.equal(f.isValid(value), canonical !== undefined, `isValid of ${named(value)}`);
      t.equal(f.is(value), canonical !== undefined && canonical[0] === value, `the guard of ${named(value)}`);
      if (canonical !== undefined) t.equal(f.parse(value as string), canonical[0], `parse of ${named(value)}`);
    }
  }
  for (const value of hostile())
    t.equal(snowflakesi.isSnowflakeSI(value), ID.snowflakesi.read(value) !== undefined, `isSnowflakeSI of ${named(value)}`);
}

/** The functions that were at fault before they checked their arguments. */
function examples(t: Tally): void {
  const lost = "0549x5l2itvr" as firn.Nanoflake;
  for (const run of [nanoflake.toBigInt, nanoflake.toBytes, nanoflake.toHex, nanoflake.fields, nanoflake.time])
    t.equal(t.throws(() => run(lost), ParseError, run.name).kind, "length", run.name);
  t.throws(() => scru160.toBytes("not an id" as firn.Scru160), ParseError, "toBytes");
  t.throws(() => nanoflake.first(null as unknown as number), ConfigError, "first");
  const upper = "07EN9RB30SWMF" as firn.Nanoflake;
  t.equal(nanoflake.toBigInt(upper), nanoflake.toBigInt(nanoflake.parse("07en9rb30swmf")), "upper case");
  t.throws(() => nanoflake.time(nanoflake.MAX, 8.64e15), ConfigError, "an epoch whose times no Date holds");
  const twin = sno.parse("cufsekaqqudbobiw");
  t.throws(() => sno.fromTime(sno.time(twin), { ...sno.fields(twin) }), ConfigError, "fields that fromTime would drop");
}

export function exportChecks(): Check[] {
  const found = functionsOf(firn, "", new Map());
  return [
    {
      name: "exports: each function has a row",
      run: (t) => {
        t.equal([...found.keys()].sort(), Object.keys(ROWS).sort(), "the functions of the package");
        for (const [name, call] of found) {
          if (/\.Generator/.test(name)) continue; // called through another function
          t.ok(call.length <= ROWS[name]!.kinds.length, `${name} has ${call.length} parameters, and fewer in the row`);
        }
      },
    },
    { name: "exports: examples", run: examples },
    { name: "exports: guards", run: guards },
    ...[...new Set([...found.keys()].map((name) => name.split(".")[0]!))].map((space) => ({
      name: `exports: arguments of ${space}`,
      run: async (t: Tally): Promise<void> => {
        for (const [name, call] of found)
          if (name.split(".")[0] === space && ROWS[name] !== undefined) await checksArguments(t, name, call);
      },
    })),
  ];
}
