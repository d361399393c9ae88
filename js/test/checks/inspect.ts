// Detection, inspection, and the comparison with the command firn.

import {
  candidates,
  ConfigError,
  detect,
  type Form,
  type FormatName,
  formats,
  inspect,
  lookup,
  nanoflake,
  ParseError,
  scru160,
  sno,
  snowflakesi,
  ulidflake,
  ulidflakeScalable,
} from "@firn-id/firn";
import { type Check, type Tally } from "./harness.js";

/** One line of `firn inspect FORMAT --as FORM --json`, with the input. */
export type GoLine = readonly [format: FormatName, form: Form, input: string, output: string];

/** Compares inspect with each line of the command firn: all fields of IDs, and the texts of errors. */
function sameAsGo(t: Tally, lines: readonly GoLine[]): void {
  for (const [format, form, input, output] of lines) {
    let got: string;
    try {
      got = JSON.stringify(inspect(format, input, { form }));
    } catch (fault) {
      got = JSON.stringify({ input, error: (fault as Error).message });
    }
    t.equal(got, snoLength(format, output, got), `${format} ${input} as ${form}`);
  }
  for (const f of formats) {
    const errors = lines.filter(([format, , , output]) => format === f.name && output.startsWith('{"input"')).length;
    t.ok(errors > 100 && lines.filter(([format]) => format === f.name).length > 2 * errors, `${f.name}: ${errors} errors`);
  }
}

/** The Go package of sno keeps the error of another package for wrong lengths: the words differ, the kind is the same. */
function snoLength(format: FormatName, output: string, got: string): string {
  return format === "sno" && output.includes('"sno: length of data is') && got.includes(": length is ") ? got : output;
}

function detection(t: Tally): void {
  t.equal(
    formats.map((f) => f.name),
    ["nanoflake", "ulidflake", "ulidflake-scalable", "snowflakesi", "scru160", "sno"],
    "formats",
  );
  t.equal(
    formats.map((f) => f.worker),
    ["generator ID", "", "scalability", "machine ID", "", "partition"],
    "workers",
  );
  t.equal(
    formats.map((f) => f.forms.join(" ")),
    ["text int hex base36", "text int hex", "text int hex", "text int hex", "text hex", "text hex"],
    "forms",
  );
  t.equal([lookup("sno")?.name, lookup("Sno"), lookup("toString")], ["sno", undefined, undefined], "lookup");
  const cases: [string, Form, string][] = [
    ["7en9rb30swmf", "base36", "nanoflake"],
    ["07en9rb30swmf", "base36", "nanoflake"],
    ["7en9rb30swmf", "text", ""],
    ["007en9rb30swmf", "text", ""],
    ["007en9rb30swmf", "base36", ""],
    ["00CMXB6TAK4SA", "text", "nanoflake ulidflake ulidflake-scalable"],
    ["7ZZZZZZZZZZZZ", "text", "ulidflake ulidflake-scalable"],
    ["4985", "text", "snowflakesi"],
    ["4985", "base36", "nanoflake"],
    ["4985", "int", "nanoflake ulidflake ulidflake-scalable snowflakesi"],
    ["9007199254740992", "int", "nanoflake ulidflake ulidflake-scalable"],
    ["9223372036854775808", "int", ""],
    ["0000000000001379", "hex", "nanoflake ulidflake ulidflake-scalable snowflakesi"],
    ["017bdf6431bb33750751eb63beb3c3f8c5969d86", "text", "scru160"],
    ["017bdf6431bb33750751eb63beb3c3f8c5969d86", "hex", "scru160"],
    ["cufsekaqqudbobiw", "text", "sno"],
    ["2222222222222222", "text", "snowflakesi sno"],
    ["571ba64918c7169b261e", "hex", "sno"],
    ["", "text", ""],
    ["-1", "int", ""],
    ["é", "text", ""],
    ["4985", "toString" as Form, ""],
  ];
  for (const [input, form, want] of cases) t.equal(detect(input, form).join(" "), want, `detect(${input}, ${form})`);
}

function ranking(t: Tally): void {
  const now = Date.UTC(2026, 5, 1);
  const cases: [string, string][] = [
    ["779618300421218304", "nanoflake 2026 ulidflake 2047 ulidflake-scalable 2047"],
    ["07en9rb30swmf", "nanoflake 2028 ulidflake 2032 ulidflake-scalable 2032"],
    ["00CMXB6TAK4SA", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"],
    ["14246757444195114", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"],
    ["00329D59B4A9932A", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"],
    ["0x329d59b4a9932a", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"],
    ["0X00329D59B4A9932A", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021"],
    ["1527083958403961", "snowflakesi 2026"],
    ["0x1379", "ulidflake 2024 ulidflake-scalable 2024 nanoflake 2021 snowflakesi 2021"],
    ["571ba64918c7169b261e", "sno 2033"],
    ["0x571ba64918c7169b261e", "sno 2033"],
    ["0x71ba64918c7169b261e", ""],
    ["2222222222222222", "sno 2010 snowflakesi 2029"],
    ["8000000000000", "snowflakesi 2021"],
    ["9999999999999", "snowflakesi 2021"],
    ["8zzzzzzzzzzzz", ""],
    ["1y2p0ij32e8e8", ""],
    ["017bdf6431bb33750751eb63beb3c3f8c5969d86", "scru160 2021"],
    ["0x", ""],
    ["x1379", ""],
    ["0x1379g", ""],
    ["9223372036854775808", ""],
    [" 4985", ""],
    ["", ""],
  ];
  for (const [input, want] of cases) {
    const infos = candidates(input, { now });
    t.equal(infos.map((info) => `${info.format} ${new Date(info.unix_ms).getUTCFullYear()}`).join(" "), want, input);
    for (const info of infos) t.equal(inspect(info.format, input), info, `inspect ${input}`);
  }
  t.equal(
    candidates("4985", { form: "base36" }).map((info) => info.format),
    ["nanoflake"],
    "candidates of a form",
  );
  t.throws(() => candidates("4985", { epoch: 0.5 }), ConfigError, "candidates for no epoch");
}

function inspection(t: Tally): void {
  const faults: [string, string][] = [
    ["9223372036854775808", "range"],
    ["7en9rb30swmf", "length"],
    ["07en9-b30swmf", "character"],
    ["0xff_", "length"],
    ["", "length"],
  ];
  for (const [input, kind] of faults) t.equal(t.throws(() => inspect("nanoflake", input), ParseError, input).kind, kind, input);
  for (const format of ["nanoflake", "ulidflake", "ulidflake-scalable"] as const)
    for (const input of ["8000000000000", "9999999999999"]) {
      t.equal(t.throws(() => inspect(format, input), ParseError, input).kind, "range", `${input} of ${format}`);
      t.equal(inspect(format, input, { form: "int" }).int, input, `${input} of ${format} as int`);
    }
  t.throws(() => inspect("scru160", "1", { form: "int" }), ConfigError, "a form that the format lacks");
  t.throws(() => inspect("scru160", "1", { form: "constructor" as Form }), ConfigError, "no form");
  t.throws(() => inspect("uuid" as FormatName, "1"), ConfigError, "no format");
  t.throws(() => inspect("nanoflake", "07en9rb30swmf", { epoch: Number.NaN }), ConfigError, "no epoch");
  const times: [FormatName, string, number | undefined, string | null, number][] = [
    ["scru160", "VVVVVVVVVVVVVVVVVVVVVVVVVVVVVVVV", undefined, null, 281474976710655],
    ["scru160", "e677d21fdc000000000000000000000000000000", undefined, null, 253402300800000],
    ["scru160", "e677d21fdbff0000000000000000000000000000", undefined, "9999-12-31T23:59:59.999Z", 253402300799999],
    ["scru160", "00000000000000000000000000000000", undefined, "1970-01-01T00:00:00Z", 0],
    ["nanoflake", "07en9rb30swmf", undefined, "2028-05-14T05:10:43.27Z", 1841893843270],
    ["nanoflake", "0000000000000", -62167219200000, "0000-01-01T00:00:00Z", -62167219200000],
    ["nanoflake", "0000000000000", -62167219200001, null, -62167219200001],
  ];
  for (const [format, id, epoch, time, ms] of times) {
    const info = inspect(format, id, { epoch });
    t.equal([info.time, info.unix_ms], [time, ms], id);
  }
  const info = inspect("snowflakesi", "9007199254740134", { epoch: 1135117406658, layout: { clockBits: 40, machineBits: 12 } });
  t.equal(
    [info.unix_ms, info.fields],
    [2234629034433, { timestamp: 1099511627775, machine_id: 3667, sequence: 0 }],
    "a layout",
  );
}

/** Texts of one format are no IDs of another, except where two formats share their texts. */
function mixing(t: Tally): void {
  t.equal(
    nanoflake.isValid(sno.ZERO) || sno.isValid(nanoflake.ZERO) || scru160.isValid(sno.MAX) || ulidflake.isValid(sno.MAX),
    false,
    "isValid",
  );
  t.equal(ulidflakeScalable.isValid(ulidflake.MAX), true, "both versions of Ulid-Flake");
  t.equal(snowflakesi.isValid(ulidflake.ZERO), true, "digits of a Ulid-Flake are an integer");
  t.equal(nanoflake.isValid(ulidflake.MAX), false, "isValid");
}

export function inspectChecks(lines: readonly GoLine[]): Check[] {
  const checks: Check[] = [
    { name: "inspect: detection", run: detection },
    { name: "inspect: ranking", run: ranking },
    { name: "inspect: settings, errors, times", run: inspection },
    { name: "inspect: mixing", run: mixing },
  ];
  return lines.length === 0
    ? checks
    : [...checks, { name: "inspect: the same as the command firn", run: (t) => sameAsGo(t, lines) }];
}
