// The tarball of npm pack, as users have it: installed, imported, compiled, loaded by a browser.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromiumPath, runPage } from "./support/browser.js";
import { inPackage, inRepository, missing } from "./support/paths.js";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly sideEffects: boolean;
  readonly type: string;
  readonly exports: Record<string, string>;
  readonly dependencies?: object;
  readonly devDependencies: Record<string, string>;
}

const manifest = JSON.parse(readFileSync(inPackage("package.json"), "utf8")) as Manifest;

const npm = (folder: string, ...args: string[]): string =>
  execFileSync("npm", [...args, "--silent"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** A program that uses each path of the package and returns what the package made of known IDs. */
const PROGRAM = `
import { candidates, formats, inspect, nanoflake as n } from "@firn-id/firn";
import * as nanoflake from "@firn-id/firn/nanoflake";
import * as ulidflake from "@firn-id/firn/ulidflake";
import * as scalable from "@firn-id/firn/ulidflake-scalable";
import * as snowflakesi from "@firn-id/firn/snowflakesi";
import * as scru160 from "@firn-id/firn/scru160";
import * as sno from "@firn-id/firn/sno";

export const result = [
  n.parse === nanoflake.parse,
  inspect("nanoflake", "07en9rb30swmf").unix_ms,
  ulidflake.fields(ulidflake.parse("00cmxb6tak4sa")).randomness,
  scalable.fields(scalable.parse("00cmxb6tak4sa")).scalability,
  snowflakesi.isValid(String(new snowflakesi.Generator({ machineId: 7 }).tryNext())),
  scru160.isValid(new scru160.Generator().tryNext()),
  ulidflake.isValid(await new ulidflake.Generator().next()),
  sno.time(sno.parse("cufsekaqqudbobiw")).toISOString(),
  candidates("07en9rb30swmf").length,
  formats.length,
];
`;

const WANT = [true, 1841893843270, 627498, 10, true, true, true, "2033-09-17T07:47:54.544Z", 3, 6];

describe("package", () => {
  const project = mkdtempSync(join(tmpdir(), "firn-package-"));
  const installed = join(project, "node_modules", "@firn-id", "firn");

  before(() => {
    npm(inPackage("."), "pack", "--ignore-scripts", "--pack-destination", project);
    const tarball = readdirSync(project).find((file) => file.endsWith(".tgz"));
    assert.ok(tarball, "npm pack writes a tarball");
    writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
    npm(project, "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", `./${tarball}`);
  });

  after(() => rmSync(project, { recursive: true, force: true }));

  test("has the code, the types, the licence and nothing else", () => {
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((file) => file !== "dist");
    assert.deepEqual(files.filter((file) => !/^dist\/[a-z0-9-]+(\.d\.ts|\.js)$/.test(file)).sort(), [
      "LICENSE",
      "README.md",
      "package.json",
    ]);
    for (const path of Object.values(manifest.exports)) {
      assert.ok(existsSync(join(installed, path)), path);
      if (path.endsWith(".js")) assert.ok(existsSync(join(installed, path.replace(/\.js$/, ".d.ts"))), `types of ${path}`);
    }
    assert.equal(readFileSync(join(installed, "LICENSE"), "utf8"), readFileSync(inRepository("LICENSE"), "utf8"));
    const sources = readdirSync(inPackage("src")).map((file) => file.replace(/\.ts$/, ""));
    assert.deepEqual(files.filter((file) => file.endsWith(".js")).sort(), sources.map((name) => `dist/${name}.js`).sort());
  });

  test("declares no dependency, no side effect, and the version of the project", () => {
    assert.equal(manifest.dependencies, undefined);
    assert.deepEqual(
      [manifest.name, manifest.license, manifest.sideEffects, manifest.type],
      ["@firn-id/firn", "MIT", false, "module"],
    );
    const versions = readFileSync(inRepository("versions.yaml"), "utf8");
    assert.equal(`v${manifest.version}`, /^ {4}version: (\S+)$/m.exec(versions)?.[1]);
    const lock = readFileSync(inPackage("package-lock.json"), "utf8");
    assert.equal((JSON.parse(lock) as Manifest).version, manifest.version);
    assert.doesNotMatch(lock, /"resolved"|https?:\/\/(localhost|127\.|\[)/);
    assert.deepEqual(Object.keys(manifest.devDependencies).sort(), ["@types/node", "esbuild", "playwright-core", "typescript"]);
    for (const version of Object.values(manifest.devDependencies)) assert.match(version, /^\d+\.\d+\.\d+$/);
  });

  test("is imported in Node", () => {
    writeFileSync(join(project, "program.js"), `${PROGRAM}\nconsole.log(JSON.stringify(result));\n`);
    const output = execFileSync(process.execPath, ["program.js"], { cwd: project, encoding: "utf8" });
    assert.deepEqual(JSON.parse(output), WANT);
  });

  test("is loaded by Chromium as it is", async (t) => {
    const path = chromiumPath();
    if (path === undefined) return t.skip(missing("no Chromium at /usr/bin/chromium or $FIRN_CHROMIUM"));
    const imports = Object.fromEntries(
      Object.entries(manifest.exports).map(([name, file]) => [`@firn-id/firn${name.slice(1)}`, `/firn${file.slice(1)}`]),
    );
    const page = `<!doctype html>
      <script type="importmap">${JSON.stringify({ imports })}</script>
      <script type="module">window.result = import("/program.js").then((program) => program.result);</script>`;
    const result = await runPage(path, (file) => {
      if (file === "/index.html") return page;
      if (file === "/program.js") return PROGRAM;
      return file.startsWith("/firn/dist/") ? readFileSync(join(installed, file.slice("/firn/".length))) : undefined;
    });
    assert.deepEqual(result, WANT);
  });

  test("compiles the examples of README.md", () => {
    const blocks = readFileSync(inPackage("README.md"), "utf8").matchAll(/```ts\n(.*?)```/gs);
    const files = [...blocks].map(([, code], i) => {
      writeFileSync(join(project, `readme${i}.ts`), `${code ?? ""}\nexport {};\n`);
      return `readme${i}.ts`;
    });
    assert.equal(files.length, 3);
    assert.deepEqual(compile("nodenext", "nodenext", files), []);
  });

  /** Compiles files of the folder consumer against the installed types, and returns the errors. */
  const compile = (module: string, resolution: string, files: readonly string[]): string[] => {
    const lib = module === "nodenext" ? "es2022" : "es2022,dom";
    const options = [
      "--strict",
      "--noEmit",
      "--target",
      "es2022",
      "--lib",
      lib,
      "--types",
      "",
      "--module",
      module,
      "--moduleResolution",
      resolution,
      "--pretty",
      "false",
    ];
    const { stdout } = spawnSync(process.execPath, [inPackage("node_modules/typescript/bin/tsc"), ...options, ...files], {
      cwd: project,
      encoding: "utf8",
    });
    return stdout.split("\n").filter((line) => /error TS\d+/.test(line));
  };

  for (const [module, resolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ] as const) {
    test(`compiles with moduleResolution ${resolution}, and refuses to mix formats`, () => {
      for (const file of ["good.ts", "bad.ts"]) copyFileSync(inPackage(`test/consumer/${file}`), join(project, file));
      assert.deepEqual(compile(module, resolution, ["good.ts", "bad.ts"]), []);

      // Without its expectations, each bad program is an error at the line that was expected.
      const lines = readFileSync(inPackage("test/consumer/bad.ts"), "utf8").split("\n");
      const expected = lines.flatMap((line, i) => (line.startsWith("// @ts-expect-error") ? [i + 2] : []));
      assert.ok(expected.length >= 15);
      writeFileSync(join(project, "unexpected.ts"), lines.map((line) => line.replace("// @ts-expect-error", "//")).join("\n"));
      const found = compile(module, resolution, ["unexpected.ts"]).map((line) => Number(/\((\d+),/.exec(line)?.[1]));
      assert.deepEqual(
        [...new Set(found)].sort((a, b) => a - b),
        expected,
      );
    });
  }
});
