// The entry of the checks, for Node and for browsers.

import { exportChecks } from "./exports.js";
import { generatorChecks } from "./generators.js";
import { type Result, runAll } from "./harness.js";
import { type GoLine, inspectChecks } from "./inspect.js";
import { vectorChecks, type Vectors } from "./vectors.js";

/** What the checks read. */
export interface Data {
  readonly vectors: Vectors;
  /** Lines of the command firn; empty where Go is missing. */
  readonly lines: readonly GoLine[];
  /** The number of IDs of a soak. */
  readonly soak: number;
  /** The milliseconds that a check may wait. */
  readonly patience: number;
  /** Stop at the first fault. */
  readonly hasty?: boolean;
}

/** Runs all checks. */
export function run(data: Data): Promise<Result[]> {
  return runAll(
    [
      ...vectorChecks(data.vectors),
      ...inspectChecks(data.lines),
      ...generatorChecks(data.soak),
      ...exportChecks(),
    ],
    data.patience,
    data.hasty,
  );
}
