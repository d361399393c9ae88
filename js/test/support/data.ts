// What the checks read: the vectors of the Go packages, and lines of the command firn.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Form, FormatName } from "@firn-id/firn";
import { formats } from "@firn-id/firn";
import type { Data } from "../checks/all.js";
import { seeded } from "../checks/harness.js";
import type { GoLine } from "../checks/inspect.js";
import { inRepository } from "./paths.js";

function load(path: string): unknown {
  const vectors: unknown = JSON.parse(readFileSync(inRepository(path), "utf8"));
  if (!Array.isArray(vectors) || vectors.length === 0) throw new Error(`${path} has no vectors`);
  return vectors;
}

/** Returns the vectors of the Go packages. */
export function vectors(): Data["vectors"] {
  const named = (folders: readonly string[], file: string): object =>
    Object.fromEntries(folders.map((folder) => [folder, load(`internal/vectors/${folder}/${file}`)]));
  const integers = ["nanoflake", "ulidflake", "snowflakesi", "scru160"];
  return { ...named([...integers, "sno"], "vectors.json"), rejects: named(integers, "reject.json") } as Data["vectors"];
}

/** Reports whether a command runs. */
function runs(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}

/** Builds the command firn, unless FIRN_COMMAND names one. Returns undefined where Go is missing. */
export function buildFirn(): { readonly path: string; readonly remove: () => void } | undefined {
  const given = process.env.FIRN_COMMAND;
  if (given) return { path: given, remove: () => undefined };
  if (!runs("go", "version")) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "firn-js-"));
  const path = join(folder, "firn");
  execFileSync("go", ["build", "-o", path, "./cmd/firn"], { cwd: inRepository("."), stdio: ["ignore", "inherit", "inherit"] });
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}

/** The characters of each form. */
const ALPHABETS: Record<FormatName, Partial<Record<Form, readonly [characters: string, lengths: readonly number[]]>>> = {
  nanoflake: {
    text: ["0123456789abcdefghijklmnopqrstuvwxyzABCXYZ", [13]],
    int: ["0123456789", [1, 2, 17, 18, 19]],
    hex: ["0123456789abcdefABCDEF", [16]],
    base36: ["0123456789abcdefghijklmnopqrstuvwxyzABCXYZ", [1, 2, 11, 12, 13]],
  },
  ulidflake: {
    text: ["0123456789ABCDEFGHJKMNPQRSTVWXYZabckmz", [13]],
    int: ["0123456789", [1, 2, 17, 18, 19]],
    hex: ["0123456789abcdefABCDEF", [16]],
  },
  "ulidflake-scalable": {
    text: ["0123456789ABCDEFGHJKMNPQRSTVWXYZabckmz", [13]],
    int: ["0123456789", [1, 2, 17, 18, 19]],
    hex: ["0123456789abcdefABCDEF", [16]],
  },
  snowflakesi: { text: ["0123456789", [1, 2, 14, 15, 16]], hex: ["0123456789abcdefABCDEF", [16]] },
  scru160: { text: ["0123456789ABCDEFGHIJKLMNOPQRSTUVabijv", [32]], hex: ["0123456789abcdefABCDEF", [40]] },
  sno: { text: ["23456789abcdefghijklmnopqrstuvwx", [16]], hex: ["0123456789abcdefABCDEF", [20]] },
};

/** Returns n random inputs of a form: most are IDs, and some have a foreign character or another length. */
function inputs(format: FormatName, form: Form, n: number, random: (n: number) => number): string[] {
  const [characters, lengths] = ALPHABETS[format][form] ?? ["", []];
  return Array.from({ length: n }, () => {
    const length = lengths[random(lengths.length)] ?? 0;
    let text = Array.from({ length }, () => characters.charAt(random(characters.length))).join("");
    // The first digits decide whether a value is in range: half of the values are.
    if (form === "hex" && (format === "snowflakesi" || length === 16))
      text = (format === "snowflakesi" ? "00" : "") + "01789"[random(5)] + text.slice(format === "snowflakesi" ? 3 : 1);
    else if (format === "nanoflake" && length === 13) text = (random(4) > 0 ? "0" : "1") + text.slice(1);
    else if (form === "text" && format.startsWith("ulid")) text = String(random(9)) + text.slice(1);
    switch (random(20)) {
      case 0: {
        const at = random(length);
        const foreign = "!-_ILOUilouz{/:@[`~"[random(19)] ?? "";
        return text.slice(0, at) + foreign + text.slice(at + 1);
      }
      case 1:
        return random(2) === 0 ? text.slice(0, -1) || "-" : text + text.charAt(0);
      default:
        return text;
    }
  });
}

/** Returns lines of the command firn for n random inputs of each format, the same in each run. */
export function goLines(firn: string, n: number): GoLine[] {
  const random = seeded(20210101);
  return formats.flatMap(({ name, forms }) => {
    const asked = forms.filter((form) => ALPHABETS[name][form] !== undefined);
    return asked.flatMap((form) => {
      return inspectWithGo(firn, name, form, inputs(name, form, Math.ceil(n / asked.length), random));
    });
  });
}

/** Returns the line of the command firn for each input. */
export function inspectWithGo(firn: string, name: FormatName, form: Form, ids: readonly string[]): GoLine[] {
  const { stdout } = spawnSync(firn, ["inspect", name, "--json", "--as", form], {
    input: `${ids.join("\n")}\n`,
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  const lines = stdout.trimEnd().split("\n");
  if (lines.length !== ids.length)
    throw new Error(`${firn} inspect ${name} answers ${ids.length} IDs with ${lines.length} lines`);
  return ids.map((id, i): GoLine => [name, form, id, lines[i] ?? ""]);
}
