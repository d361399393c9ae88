// The vectors of the Go packages.

import {
  nanoflake,
  ParseError,
  scru160,
  sno,
  snowflakesi,
  TimeError,
  ConfigError,
  ulidflake,
  ulidflakeScalable,
} from "@firn-id/firn";
import type { Check, Tally } from "./harness.js";

interface NanoflakeVector {
  readonly value: string;
  readonly base36: string;
  readonly epoch_ms: number;
  readonly unix_ms: number;
  readonly timestamp: number;
  readonly generator_id: number;
  readonly sequence: number;
}

interface UlidVector {
  readonly string: string;
  readonly int: string;
  readonly timestamp: number;
  readonly unix_ms: number;
  readonly randomness: number;
  readonly scalable: { readonly randomness: number; readonly scalability: number };
}

interface SnowflakeVector {
  readonly value: number;
  readonly epoch_ms: number;
  readonly clock_bits: number;
  readonly machine_bits: number;
  readonly sequence_bits: number;
  readonly unix_ms: number;
  readonly machine_id: number;
  readonly sequence: number;
}

interface ScruVector {
  readonly base32hex: string;
  readonly hex: string;
  readonly timestamp: number;
  readonly counter: number;
  readonly random16: number;
  readonly random80: string;
}

interface SnoVector {
  readonly string: string;
  readonly hex: string;
  readonly unix_ns: string;
  readonly tick_tock: number;
  readonly meta: number;
  readonly partition: number;
  readonly sequence: number;
}

/** An input that must be refused. */
export interface Reject {
  readonly why: string;
  readonly form: string;
  readonly input: string;
  readonly hex?: string;
  readonly repeat?: number;
  readonly error: string;
  readonly offset: number;
}

/** The vectors of all formats: vectors.json and reject.json of the Go package vectors. */
export interface Vectors {
  readonly nanoflake: readonly NanoflakeVector[];
  readonly ulidflake: readonly UlidVector[];
  readonly snowflakesi: readonly SnowflakeVector[];
  readonly scru160: readonly ScruVector[];
  readonly sno: readonly SnoVector[];
  readonly rejects: {
    readonly nanoflake: readonly Reject[];
    readonly ulidflake: readonly Reject[];
    readonly snowflakesi: readonly Reject[];
    readonly scru160: readonly Reject[];
  };
}

/** Fractions of a millisecond, which numbers of 48 bits have room for. */
const LATE = [0, 0.25, 0.875];

/** The functions that all formats with texts have. */
interface TextFormat<ID extends string> {
  readonly ZERO: ID;
  readonly MAX: ID;
  parse(text: string): ID;
  parseHex(text: string): ID;
  fromBytes(bytes: Uint8Array): ID;
  fromJSON(value: unknown): ID | null;
  toJSON(id: ID): string | null;
  toHex(id: ID): string;
  toBytes(id: ID): Uint8Array;
  compare(a: ID, b: ID): number;
  isValid(value: unknown): boolean;
  isZero(id: ID): boolean;
}

/** Checks the forms of one ID. */
function forms<ID extends string>(t: Tally, f: TextFormat<ID>, text: string, hex: string, cases: boolean): ID {
  const id = f.parse(text);
  const bytes = f.toBytes(id);
  t.equal(id, text, "parse");
  t.equal(f.toHex(id), hex, `toHex(${text})`);
  t.equal([...bytes].map((b) => b.toString(16).padStart(2, "0")).join(""), hex, `toBytes(${text})`);
  t.equal(f.fromBytes(bytes), id, "fromBytes");
  t.equal(f.fromBytes(new Uint8Array([1, ...bytes, 1]).subarray(1, bytes.length + 1)), id, "fromBytes of a part of a buffer");
  t.equal(f.parseHex(hex), id, "parseHex");
  t.equal(f.parseHex(hex.toUpperCase()), id, "parseHex of upper case");
  if (cases) {
    t.equal(f.parse(text.toLowerCase()), id, "parse of lower case");
    t.equal(f.parse(text.toUpperCase()), id, "parse of upper case");
  }
  const zero = !/[^0]/.test(hex);
  t.equal(f.isZero(id), zero, "isZero");
  t.equal(f.toJSON(id), zero ? null : text, "toJSON");
  t.equal(f.fromJSON(JSON.parse(JSON.stringify(f.toJSON(id)))), zero ? null : id, "fromJSON");
  t.equal(f.fromJSON(JSON.parse(JSON.stringify(id))), id, "fromJSON of the text");
  t.equal(f.isValid(text), true, "isValid");
  t.equal(f.compare(id, id), 0, "compare");
  t.equal(f.compare(f.ZERO, id), zero ? 0 : -1, "compare with ZERO");
  t.equal(f.compare(f.MAX, id), f.MAX === id ? 0 : 1, "compare with MAX");
  return id;
}

interface IntFormat<ID extends string> extends TextFormat<ID> {
  parseDecimal(text: string): ID;
  fromBigInt(value: bigint): ID;
  toBigInt(id: ID): bigint;
  toDecimal(id: ID): string;
}

function intForms<ID extends string>(t: Tally, f: IntFormat<ID>, text: string, decimal: string): ID {
  const value = BigInt(decimal);
  const id = forms(t, f, text, value.toString(16).padStart(16, "0"), true);
  t.equal(f.toBigInt(id), value, "toBigInt");
  t.equal(f.fromBigInt(value), id, "fromBigInt");
  t.equal(f.toDecimal(id), decimal, "toDecimal");
  t.equal(f.parseDecimal(decimal), id, "parseDecimal");
  t.equal(f.parseDecimal(decimal.padStart(19, "0")), id, "parseDecimal with zeros");
  return id;
}

function nanoflakes(t: Tally, vectors: readonly NanoflakeVector[]): void {
  for (const v of vectors) {
    const text = v.base36.padStart(13, "0");
    const id = intForms(t, nanoflake, text, v.value);
    t.equal(nanoflake.isNanoflake(text), true, "isNanoflake");
    t.equal(nanoflake.isNanoflake(text.toUpperCase()), !/[a-z]/.test(text), "isNanoflake of upper case");
    t.equal(nanoflake.parseBase36(v.base36), id, "parseBase36");
    t.equal(nanoflake.parseBase36(v.base36.toUpperCase()), id, "parseBase36 of upper case");
    for (let n = 0; n < text.length; n++)
      t.equal(
        nanoflake.isValid(text.slice(0, n)) || nanoflake.isValid(text.slice(n + 1)),
        false,
        `isValid of ${text}, cut off`,
      );
    t.equal(nanoflake.fields(id), { timestamp: v.timestamp, generator_id: v.generator_id, sequence: v.sequence }, "fields");
    t.equal(nanoflake.time(id, v.epoch_ms).getTime(), v.unix_ms, "time");
    t.equal(nanoflake.time(id, new Date(v.epoch_ms)).getTime(), v.unix_ms, "time for a Date");
    t.equal(nanoflake.time(id).getTime(), v.timestamp + nanoflake.DEFAULT_EPOCH, "time of the default epoch");
    for (const late of LATE) {
      const make = (): string =>
        nanoflake.fromTime(v.unix_ms + late, { generatorId: v.generator_id, sequence: v.sequence }, v.epoch_ms);
      if (nanoflake.isZero(id)) t.throws(make, ConfigError, "fromTime of the zero ID");
      else t.equal(make(), id, "fromTime");
      const [first, last] = [nanoflake.first(v.unix_ms + late, v.epoch_ms), nanoflake.last(v.unix_ms + late, v.epoch_ms)];
      t.ok(
        first <= id && id <= last && nanoflake.toBigInt(last) - nanoflake.toBigInt(first) === 0x3fffffn,
        `${id} is not within ${first} and ${last}`,
      );
      t.equal(
        [nanoflake.time(first, v.epoch_ms).getTime(), nanoflake.time(last, v.epoch_ms).getTime()],
        [v.unix_ms, v.unix_ms],
        "times of the bounds",
      );
    }
  }
}

function ulids(t: Tally, vectors: readonly UlidVector[]): void {
  for (const v of vectors) {
    const id = intForms(t, ulidflake, v.string, v.int);
    const scaled = intForms(t, ulidflakeScalable, v.string, v.int);
    t.equal(ulidflake.isUlidFlake(v.string), true, "isUlidFlake");
    t.equal(
      ulidflakeScalable.isScalableUlidFlake(v.string.toLowerCase()),
      !/[A-Z]/.test(v.string),
      "isScalableUlidFlake of lower case",
    );
    t.equal(ulidflake.fields(id), { timestamp: v.timestamp, randomness: v.randomness }, "fields");
    t.equal(ulidflakeScalable.fields(scaled), { timestamp: v.timestamp, ...v.scalable }, "fields of the scalable ID");
    t.equal([ulidflake.time(id).getTime(), ulidflakeScalable.time(scaled).getTime()], [v.unix_ms, v.unix_ms], "time");
    t.equal(ulidflake.time(id, 0).getTime(), v.timestamp, "time for another epoch");
    for (const late of LATE) {
      const at = v.unix_ms + late;
      const [first, last] = [ulidflake.first(at), ulidflake.last(at)];
      t.ok(
        first <= id && id <= last && ulidflake.toBigInt(last) - ulidflake.toBigInt(first) === 0xfffffn,
        `${id} is not within ${first} and ${last}`,
      );
      t.equal([ulidflakeScalable.first(at), ulidflakeScalable.last(at)], [first, last], "bounds of scalable IDs");
      const made = ulidflake.fromTime(at);
      t.ok(first <= made && made <= last, `fromTime is ${made}`);
      const madeScaled = ulidflakeScalable.fromTime(at, { scalability: v.scalable.scalability });
      t.ok(String(first) <= madeScaled && madeScaled <= String(last), `fromTime is ${madeScaled}`);
      t.equal(ulidflakeScalable.fields(madeScaled).scalability, v.scalable.scalability, "scalability");
    }
  }
}

function snowflakes(t: Tally, vectors: readonly SnowflakeVector[]): void {
  for (const v of vectors) {
    const layout = { clockBits: v.clock_bits, machineBits: v.machine_bits };
    const id = snowflakesi.parse(String(v.value));
    const hex = v.value.toString(16).padStart(16, "0");
    t.equal(id, v.value, "parse");
    t.equal(snowflakesi.parse(String(v.value).padStart(16, "0")), v.value, "parse with zeros");
    t.equal(
      [
        snowflakesi.fromNumber(v.value),
        snowflakesi.fromBigInt(BigInt(v.value)),
        snowflakesi.parseHex(hex),
        snowflakesi.parseHex(hex.toUpperCase()),
        snowflakesi.fromBytes(snowflakesi.toBytes(id)),
      ],
      [id, id, id, id, id],
      "forms",
    );
    t.equal(
      [snowflakesi.toText(id), snowflakesi.toHex(id), String(snowflakesi.toBigInt(id))],
      [String(v.value), hex, String(v.value)],
      "texts",
    );
    t.equal(
      [snowflakesi.fromJSON(JSON.parse(JSON.stringify(id))), snowflakesi.fromJSON(String(id)), snowflakesi.toJSON(id)],
      [id, id, id === 0 ? null : id],
      "JSON",
    );
    t.equal(snowflakesi.isSnowflakeSI(v.value) && snowflakesi.isValid(String(v.value)), true, "isValid");
    t.equal(snowflakesi.widths(layout), { clock: v.clock_bits, machine: v.machine_bits, sequence: v.sequence_bits }, "widths");
    t.equal(
      snowflakesi.fields(id, layout),
      { timestamp: v.unix_ms - v.epoch_ms, machine_id: v.machine_id, sequence: v.sequence },
      "fields",
    );
    t.equal(snowflakesi.time(id, v.epoch_ms, layout).getTime(), v.unix_ms, "time");
    for (const late of LATE) {
      t.equal(
        snowflakesi.fromTime(v.unix_ms + late, { machineId: v.machine_id, sequence: v.sequence }, v.epoch_ms, layout),
        id,
        "fromTime",
      );
      const [first, last] = [
        snowflakesi.first(v.unix_ms + late, v.epoch_ms, layout),
        snowflakesi.last(v.unix_ms + late, v.epoch_ms, layout),
      ];
      t.ok(
        first <= id && id <= last && last - first === 2 ** (53 - v.clock_bits) - 1,
        `${id} is not within ${first} and ${last}`,
      );
      t.equal([snowflakesi.compare(first, id) <= 0, snowflakesi.compare(last, id) >= 0], [true, true], "compare");
    }
    if (v.clock_bits === 40 && v.machine_bits === 5)
      t.equal(snowflakesi.fields(id), snowflakesi.fields(id, layout), "fields of the default layout");
  }
}

function scrus(t: Tally, vectors: readonly ScruVector[]): void {
  for (const v of vectors) {
    const id = forms(t, scru160, v.base32hex, v.hex, true);
    t.equal([scru160.parse(v.hex), scru160.parse(v.hex.toUpperCase())], [id, id], "parse of hex");
    t.equal(scru160.isScru160(v.base32hex) && !scru160.isScru160(v.hex), true, "isScru160");
    t.equal(
      scru160.fields(id),
      { timestamp: v.timestamp, counter: v.counter, random16: v.random16, random80: v.random80 },
      "fields",
    );
    t.equal(scru160.time(id).getTime(), v.timestamp, "time");
    for (const late of LATE) {
      const at = v.timestamp + late;
      const [first, last] = [scru160.first(at), scru160.last(at)];
      t.ok(first <= id && id <= last, `${id} is not within ${first} and ${last}`);
      t.equal(
        [first.slice(10), last.slice(10)],
        [/^(0|[GO8])*0{21}$/.test(first.slice(10)) ? first.slice(10) : "zeros", "V".repeat(22)],
        "bits below the timestamp",
      );
      t.equal([scru160.time(first).getTime(), scru160.time(last).getTime()], [v.timestamp, v.timestamp], "times of the bounds");
      if (v.timestamp === 0 || v.timestamp === scru160.MAX_TIMESTAMP) {
        t.throws(() => scru160.fromTime(at), TimeError, "fromTime of a reserved timestamp");
      } else {
        const made = scru160.fromTime(at);
        t.ok(first <= made && made <= last && scru160.fields(made).counter < 2 ** 15, `fromTime is ${made}`);
      }
    }
  }
}

function snos(t: Tally, vectors: readonly SnoVector[]): void {
  for (const v of vectors) {
    const id = forms(t, sno, v.string, v.hex, false);
    const ms = Number(BigInt(v.unix_ns) / 1000000n);
    t.equal(sno.isSno(v.string), true, "isSno");
    const { timestamp, ...rest } = sno.fields(id);
    t.equal(timestamp * sno.TIME_UNIT + sno.EPOCH, ms, "timestamp");
    t.equal(rest, { tick_tock: v.tick_tock, meta: v.meta, partition: v.partition, sequence: v.sequence }, "fields");
    t.equal(sno.time(id).getTime(), ms, "time");
    for (const late of [...LATE, 3.875]) {
      const [first, last] = [sno.first(ms + late), sno.last(ms + late)];
      t.ok(
        first <= id && id <= last && sno.time(first).getTime() === ms && sno.time(last).getTime() === ms,
        `${id} is not within ${first} and ${last}`,
      );
      const make = (): sno.Sno => sno.fromTime(ms + late, { meta: v.meta, partition: v.partition, sequence: v.sequence });
      if (sno.isZero(id)) t.throws(make, ConfigError, "fromTime of the zero ID");
      else t.equal(sno.fields(make()), { ...sno.fields(id), tick_tock: 0 }, "fromTime");
    }
  }
}

/** The functions that read the forms of a reject. */
interface Readers {
  readonly text: (input: string) => unknown;
  readonly decimal?: (input: string) => unknown;
  readonly base36?: (input: string) => unknown;
  readonly hex: (input: string) => unknown;
  readonly binary: (bytes: Uint8Array) => unknown;
  readonly int?: (value: bigint) => unknown;
  readonly json: (value: unknown) => unknown;
}

/**
 * Returns the kind of a reject of JSON, where JavaScript and Go differ: JSON.parse has rounded large
 * numbers, and a value of another type is of the kind type.
 */
function jsonKind(v: Reject, value: unknown): string {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? "range" : v.error;
  return typeof value === "string" ? v.error : "type";
}

function rejects(t: Tally, name: string, vectors: readonly Reject[], readers: Readers): void {
  for (const v of vectors) {
    const what = `${name}: ${v.why}, as ${v.form}: ${v.input.slice(0, 40)}`;
    const input = v.input.repeat(v.repeat ?? 1);
    if (v.form === "json") {
      let value: unknown;
      try {
        value = JSON.parse(input);
      } catch {
        continue;
      }
      if (Number.isSafeInteger(value) && String(value) !== input) continue; // 1e3 is 1000 after JSON.parse
      const fault = t.throws(() => readers.json(value), ParseError, what);
      const numeric = name === "scru160" && typeof value === "number";
      t.equal(fault.kind, numeric ? "type" : jsonKind(v, value), what);
    } else if (v.form === "int" || v.form === "uint") {
      t.equal(t.throws(() => readers.int?.(BigInt(input)), ParseError, what).kind, v.error, what);
    } else if (v.form === "binary") {
      const hex = (v.hex ?? "").repeat(v.repeat ?? 1);
      const bytes = new Uint8Array(hex.length / 2);
      for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
      const fault = t.throws(() => readers.binary(bytes), ParseError, what);
      t.equal([fault.kind, fault.offset], [v.error, v.offset], what);
    } else {
      if (v.hex !== undefined) continue; // a string of JavaScript holds no lone bytes
      const read = readers[v.form as "text" | "decimal" | "base36" | "hex"];
      if (read === undefined) throw new Error(`${what}: no reader`);
      const fault = t.throws(() => read(input), ParseError, what);
      t.equal([fault.kind, fault.offset], [v.error, v.offset], what);
      t.ok(
        fault.input.length <= 64 && fault.message.length < 300 && input.startsWith(fault.input),
        `${what}: ${fault.message}`,
      );
    }
  }
}

const READERS = {
  nanoflake: {
    text: nanoflake.parse,
    decimal: nanoflake.parseDecimal,
    base36: nanoflake.parseBase36,
    hex: nanoflake.parseHex,
    binary: nanoflake.fromBytes,
    int: nanoflake.fromBigInt,
    json: nanoflake.fromJSON,
  },
  ulidflake: {
    text: ulidflake.parse,
    decimal: ulidflake.parseDecimal,
    hex: ulidflake.parseHex,
    binary: ulidflake.fromBytes,
    int: ulidflake.fromBigInt,
    json: ulidflake.fromJSON,
  },
  scalable: {
    text: ulidflakeScalable.parse,
    decimal: ulidflakeScalable.parseDecimal,
    hex: ulidflakeScalable.parseHex,
    binary: ulidflakeScalable.fromBytes,
    int: ulidflakeScalable.fromBigInt,
    json: ulidflakeScalable.fromJSON,
  },
  snowflakesi: {
    text: snowflakesi.parse,
    hex: snowflakesi.parseHex,
    binary: snowflakesi.fromBytes,
    int: snowflakesi.fromBigInt,
    json: snowflakesi.fromJSON,
  },
  scru160: { text: scru160.parse, hex: scru160.parseHex, binary: scru160.fromBytes, json: scru160.fromJSON },
} as const satisfies Record<string, Readers>;

/** Sno has no file of rejects: foreign characters at each offset, other lengths, the other case. */
function snoRejects(t: Tally): void {
  const text = "cufsekaqqudbobiw";
  for (let i = 0; i < text.length; i++) {
    for (const foreign of ["0", "1", "y", "z", "C", "U", "-", " ", "@", "`", "\u0000", "\u0131"]) {
      const input = text.slice(0, i) + foreign + text.slice(foreign === "\u0131" ? i + 2 : i + 1);
      if (input.length + (foreign === "\u0131" ? 1 : 0) !== text.length) continue;
      const fault = t.throws(() => sno.parse(input), ParseError, input);
      t.equal([fault.kind, fault.offset], ["character", i], input);
    }
    t.equal(t.throws(() => sno.parse(text.slice(0, i)), ParseError, "cut off").kind, "length", "cut off");
  }
  t.equal(t.throws(() => sno.parse(`${text}2`), ParseError, "too long").kind, "length", "too long");
  t.equal(t.throws(() => sno.parseHex("0".repeat(19)), ParseError, "too short").kind, "length", "too short");
  t.equal(t.throws(() => sno.fromBytes(new Uint8Array(9)), ParseError, "too short").kind, "length", "too short");
}

/** Values that are no text: the types of TypeScript do not reach values of JSON.parse. */
function otherTypes(t: Tally): void {
  const all = [nanoflake, ulidflake, ulidflakeScalable, snowflakesi, scru160, sno];
  for (const f of all) {
    for (const value of [
      undefined,
      null,
      true,
      1,
      1n,
      {},
      [],
      ["07en9rb30swmf"],
      Symbol("id"),
      () => "07en9rb30swmf",
      new Uint8Array(8),
      Number.NaN,
      Infinity,
    ]) {
      const fault = t.throws(() => f.parse(value as string), ParseError, String(typeof value));
      t.equal(fault.kind, value === Infinity ? "range" : "type", String(typeof value));
      t.equal(f.isValid(value), false, "isValid");
    }
    for (const value of [2 ** 53, 974901554009075751, -(2 ** 53)]) {
      for (const read of [f.parse, f.fromJSON]) {
        const fault = t.throws(() => read(value as unknown as string), ParseError, String(value));
        t.ok(fault.kind === "range" && fault.message.includes("2^53"), fault.message);
      }
    }
    for (const bytes of ["12345678", [1, 2, 3, 4, 5, 6, 7, 8], new Uint16Array(8), new ArrayBuffer(8), null]) {
      t.equal(t.throws(() => f.fromBytes(bytes as unknown as Uint8Array), ParseError, "bytes").kind, "type", "bytes");
    }
    t.equal(f.fromJSON(null), null, "fromJSON of null");
  }
  // Characters that a change of case turns into letters, and the first character beyond ASCII.
  for (const foreign of ["\u0080", "\u00ff", "\u0130", "\u0131", "\u017f", "\u212a", "\ud83d", "\udc00", "\ud83d\ude00"]) {
    for (const text of [nanoflake.ZERO, ulidflake.ZERO, snowflakesi.toText(snowflakesi.MAX), scru160.ZERO, sno.ZERO]) {
      for (const at of [0, text.length - foreign.length]) {
        const same = text.slice(0, at) + foreign + text.slice(at + foreign.length);
        for (const f of all) t.ok(t.throws(() => f.parse(same), ParseError, same).kind !== "range", same);
      }
    }
  }
  for (const value of [0.5, -1, Number.NaN, Infinity, 2 ** 53])
    t.throws(() => snowflakesi.fromNumber(value), ParseError, String(value));
  t.equal(
    [nanoflake.fromJSON(7), ulidflake.fromJSON(7), nanoflake.fromJSON(12345678901234)],
    ["0000000000007", "0000000000007", nanoflake.fromBigInt(12345678901234n)],
    "numbers of JSON",
  );
}

/** The bounds of times, epochs and fields. */
function bounds(t: Tally): void {
  const far = [-8.64e15, 8.64e15];
  for (const at of far) {
    t.equal(
      nanoflake.first(at),
      at < 0 ? nanoflake.ZERO : nanoflake.fromBigInt(BigInt(nanoflake.MAX_TIMESTAMP) << 22n),
      "first",
    );
    t.equal(
      [ulidflake.last(8.64e15), sno.last(8.64e15), scru160.last(8.64e15), snowflakesi.last(8.64e15)],
      [ulidflake.last(10500160222207), sno.MAX, scru160.MAX, snowflakesi.MAX],
      "last",
    );
    for (const run of [
      () => nanoflake.fromTime(at, { generatorId: 1, sequence: 1 }),
      () => ulidflake.fromTime(nanoflake.DEFAULT_EPOCH),
      () => ulidflakeScalable.fromTime(2e13, { scalability: 1 }),
      () => snowflakesi.fromTime(at, { machineId: 1, sequence: 1 }),
      () => scru160.fromTime(at),
      () => sno.fromTime(at, { meta: 1, partition: 1, sequence: 1 }),
    ]) {
      t.throws(run, TimeError, "fromTime");
    }
  }
  const now = 1.8e12;
  for (const run of [
    () => nanoflake.fromTime(now, { generatorId: 1024, sequence: 0 }),
    () => nanoflake.fromTime(now, { generatorId: 0, sequence: 4096 }),
    () => nanoflake.fromTime(now, { generatorId: 0.5, sequence: 0 }),
    () => nanoflake.fromTime(now, { generatorId: -1, sequence: 0 }),
    () => nanoflake.fromTime(Number.NaN, { generatorId: 1, sequence: 0 }),
    () => nanoflake.first(new Date(Number.NaN)),
    () => nanoflake.first(now, 0.5),
    () => nanoflake.time(nanoflake.MAX, Number.NaN),
    () => ulidflake.time(ulidflake.MAX, Infinity),
    () => ulidflakeScalable.fromTime(now, { scalability: 32 }),
    () => snowflakesi.fields(snowflakesi.MAX, { clockBits: 39 }),
    () => snowflakesi.fields(snowflakesi.MAX, { machineBits: 14 }),
    () => snowflakesi.fields(snowflakesi.MAX, { clockBits: 41, machineBits: 13 }),
    () => snowflakesi.first(now, 1047972019224),
    () => snowflakesi.fromTime(now, { machineId: 32, sequence: 0 }),
    () => snowflakesi.fromTime(now, { machineId: 0, sequence: 256 }),
    () => snowflakesi.fromTime(snowflakesi.DEFAULT_EPOCH, { machineId: 0, sequence: 0 }),
    () => sno.fromTime(now, { meta: 256, partition: 0, sequence: 0 }),
    () => sno.fromTime(now, { meta: 0, partition: 65536, sequence: 0 }),
    () => sno.fromTime(now, { meta: 0, partition: 0, sequence: 65536 }),
  ]) {
    const fault = t.throws(run, ConfigError, String(run));
    t.ok(fault instanceof RangeError && fault.name === "ConfigError" && fault.message.includes(fault.setting), fault.message);
  }
  t.equal(snowflakesi.first(now, 1047972019225) > 0, true, "first of the least epoch");
}

export function vectorChecks(vectors: Vectors): Check[] {
  return [
    { name: "vectors: nanoflake", run: (t) => nanoflakes(t, vectors.nanoflake) },
    { name: "vectors: ulidflake and ulidflake-scalable", run: (t) => ulids(t, vectors.ulidflake) },
    { name: "vectors: snowflakesi", run: (t) => snowflakes(t, vectors.snowflakesi) },
    { name: "vectors: scru160", run: (t) => scrus(t, vectors.scru160) },
    { name: "vectors: sno", run: (t) => snos(t, vectors.sno) },
    { name: "rejects: nanoflake", run: (t) => rejects(t, "nanoflake", vectors.rejects.nanoflake, READERS.nanoflake) },
    { name: "rejects: ulidflake", run: (t) => rejects(t, "ulidflake", vectors.rejects.ulidflake, READERS.ulidflake) },
    {
      name: "rejects: ulidflake-scalable",
      run: (t) => rejects(t, "ulidflake-scalable", vectors.rejects.ulidflake, READERS.scalable),
    },
    { name: "rejects: snowflakesi", run: (t) => rejects(t, "snowflakesi", vectors.rejects.snowflakesi, READERS.snowflakesi) },
    { name: "rejects: scru160", run: (t) => rejects(t, "scru160", vectors.rejects.scru160, READERS.scru160) },
    { name: "rejects: sno", run: snoRejects },
    { name: "values of other types", run: otherTypes },
    { name: "bounds of times, epochs and fields", run: bounds },
  ];
}
