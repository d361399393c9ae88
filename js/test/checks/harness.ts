// Checks that run in Node and in a browser: no import of either.

/** Counts what a check has compared. A check without comparisons fails. */
export class Tally {
  count = 0;

  equal(got: unknown, want: unknown, what: string): void {
    this.count++;
    if (!Object.is(got, want) && text(got) !== text(want)) throw new Error(`${what} is ${text(got)}, want ${text(want)}`);
  }

  ok(holds: boolean, what: string): void {
    this.count++;
    if (!holds) throw new Error(what);
  }

  /** Runs a function that must throw an error of the class, and returns the error. */
  throws<E extends Error>(run: () => unknown, type: new (...args: never[]) => E, what: string): E {
    this.count++;
    let got: unknown;
    try {
      got = run();
    } catch (fault) {
      if (fault instanceof type) return fault;
      throw new Error(`${what} throws ${String(fault)}, want ${type.name}`);
    }
    throw new Error(`${what} is ${text(got)}, want ${type.name}`);
  }

  /** Awaits a promise that must be rejected with an error of the class, and returns the error. */
  async rejects<E extends Error>(promise: Promise<unknown>, type: new (...args: never[]) => E, what: string): Promise<E> {
    const fault = await promise.then(
      (id) => new Error(`${what} is ${text(id)}`),
      (reason: unknown) => reason,
    );
    return this.throws(
      () => {
        throw fault;
      },
      type,
      what,
    );
  }
}

function text(value: unknown): string {
  return typeof value === "bigint"
    ? `${value}n`
    : value instanceof Uint8Array
      ? `bytes ${[...value].join(" ")}`
      : (JSON.stringify(value) ?? String(value));
}

/** One check. */
export interface Check {
  readonly name: string;
  readonly run: (t: Tally) => void | Promise<void>;
}

/** What came of a check. */
export interface Result {
  readonly name: string;
  readonly count: number;
  readonly fault?: string;
}

declare function setTimeout(run: () => void, ms: number): unknown;
declare function clearTimeout(timer: unknown): void;

/** Rejects if a promise is pending for too long: a waiter without an ID would wait for ever. */
function within(ms: number, promise: void | Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the check waits for more than ${ms} ms`)), ms);
    void Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** Runs checks in turn, if hasty up to the first fault. A check may wait for so many milliseconds. */
export async function runAll(checks: readonly Check[], patience: number, hasty = false): Promise<Result[]> {
  const results: Result[] = [];
  for (const { name, run } of checks) {
    if (hasty && results.some(({ fault }) => fault !== undefined)) break;
    const t = new Tally();
    try {
      await within(patience, run(t));
      if (t.count === 0) throw new Error("nothing was compared");
      results.push({ name, count: t.count });
    } catch (fault) {
      results.push({ name, count: t.count, fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) });
    }
  }
  return results;
}

/** Returns a source of integers in [0, n), the same for the same seed. */
export function seeded(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return Math.floor((((z ^ (z >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}
