import { build, type Plugin } from "esbuild";
import { inPackage } from "./paths.js";

/** Returns the checks as one module. The plugins may change the package. */
export async function bundleChecks(plugins: Plugin[] = []): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [inPackage("build/checks/all.js")],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
    plugins,
  });
  return outputFiles[0]?.text ?? "";
}
