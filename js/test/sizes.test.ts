// Bundles are small, hold one format each, and are as large as README.md says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inPackage } from "./support/paths.js";

interface Measured {
  readonly minified: number;
  readonly gzip: number;
  readonly files: readonly string[];
}

interface Sizes {
  readonly bundles: readonly (readonly [name: string, code: string, budget: number])[];
  readonly measure: (code: string) => Promise<Measured>;
}

/** The files that only some bundles may hold. */
const OWN = [
  "nanoflake",
  "ulidflake",
  "ulidflake-scalable",
  "snowflakesi",
  "scru160",
  "sno",
  "ulid",
  "mint",
  "random",
  "inspect",
  "index",
];

/** The files of OWN that a bundle may hold, by the path that the bundle imports. */
const HOLDS: Record<string, readonly string[]> = {
  nanoflake: ["nanoflake"],
  ulidflake: ["ulidflake", "ulid", "mint", "random"],
  "ulidflake-scalable": ["ulidflake-scalable", "ulid", "random"],
  snowflakesi: ["snowflakesi", "mint"],
  scru160: ["scru160", "mint", "random"],
  sno: ["sno"],
};

const foreign = (files: readonly string[], own: readonly string[]): string[] =>
  files.map((file) => file.replace(/^dist\/(.*)\.js$/, "$1")).filter((name) => OWN.includes(name) && !own.includes(name));

describe("sizes", () => {
  let sizes: Sizes;

  before(async () => {
    sizes = (await import(pathToFileURL(inPackage("scripts/sizes.js")).href)) as Sizes;
  });

  test("each bundle is within its budget, holds one format, and is in README.md", async (t) => {
    const readme = readFileSync(inPackage("README.md"), "utf8");
    for (const [name, code, budget] of sizes.bundles) {
      await t.test(name, async () => {
        const { minified, gzip, files } = await sizes.measure(code);
        assert.ok(gzip <= budget, `${gzip} bytes, the budget is ${budget}`);
        const format = /firn\/([a-z0-9-]+)"/.exec(code)?.[1];
        if (format !== undefined) assert.deepEqual(foreign(files, HOLDS[format] ?? []), []);
        const row = readme.split("\n").find((line) => line.startsWith(`| ${name} |`));
        const [said, saidGzip] = (row ?? "").split("|").slice(2, 4).map(Number);
        assert.equal(said, minified, "README.md: run npm run size");
        assert.ok(
          Math.abs((saidGzip ?? 0) - gzip) < gzip / 50,
          `README.md says ${saidGzip} bytes, not ${gzip}: run npm run size`,
        );
      });
    }
  });

  test("a namespace of the index brings its format alone", async () => {
    for (const [format, own] of Object.entries(HOLDS)) {
      const name = format === "ulidflake-scalable" ? "ulidflakeScalable" : format;
      const { files } = await sizes.measure(`import { ${name} } from "@firn-id/firn"; console.log(${name}.parse("0"));`);
      assert.ok(files.includes(`dist/${format}.js`));
      assert.deepEqual(foreign(files, own), [], format);
    }
  });

  test("the check finds the code of another format", async () => {
    const { files } = await sizes.measure(
      'import { parse } from "@firn-id/firn/sno"; import { MAX } from "@firn-id/firn/nanoflake"; console.log(parse(MAX));',
    );
    assert.deepEqual(foreign(files, HOLDS.sno ?? []), ["nanoflake"]);
  });
});
