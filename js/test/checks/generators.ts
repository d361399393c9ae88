// What generators promise: order and uniqueness under any clock, errors, waiting.

import { ClockError, ConfigError, ExhaustedError, scru160, snowflakesi, TimeError, ulidflake } from "@firn-id/firn";
import { type Check, seeded, type Tally } from "./harness.js";

const NOW = Date.UTC(2026, 6, 1);

/** A clock in the hands of a check. */
interface Clock {
  now: number;
}

interface Generator<ID> {
  tryNext(): ID;
}

type Make<ID> = (clock: () => number) => Generator<ID>;

/** What a soak expects of a generator. */
interface Soak<ID> {
  readonly make: Make<ID>;
  /** The last millisecond whose ID may be made at a time of the clock, or undefined to skip the check. */
  readonly timeOf?: (id: ID) => number;
  /** The generator continues at a clock that is behind by up to 5 s. */
  readonly hold?: boolean;
}

/**
 * Makes n IDs under a clock that stands still, steps forward, and steps back. IDs must increase, and must
 * have the time of the clock.
 */
export function soak<ID extends string | number>(t: Tally, n: number, expected: Soak<ID>): void {
  const random = seeded(n);
  const clock: Clock = { now: NOW };
  const generator = expected.make(() => clock.now);
  let last: ID | undefined;
  let latest = 0;
  let behind = 0;
  let exhausted = 0;
  for (let i = 0, tries = 0; i < n; tries++) {
    if (tries > 3 * n) throw new Error(`${i} IDs after ${tries} tries`);
    const turn = random(1000);
    if (turn < 4) clock.now += 1 + random(3);
    else if (turn === 4) clock.now -= 1 + random(2000);
    else if (turn === 5) clock.now += random(5000);
    let id: ID;
    try {
      id = generator.tryNext();
    } catch (fault) {
      if (fault instanceof ClockError) {
        behind++;
        t.ok(clock.now < latest && fault.by === latest - clock.now, `${fault.message} at ${clock.now}, last ID at ${latest}`);
        clock.now += fault.by;
      } else if (fault instanceof ExhaustedError) {
        exhausted++;
        t.ok(clock.now === latest, `${fault.message} at ${clock.now}, last ID at ${latest}`);
        clock.now++;
      } else {
        throw fault;
      }
      continue;
    }
    i++;
    if (last !== undefined && !(last < id)) throw new Error(`ID ${i} is ${id}, after ${last}`);
    last = id;
    const time = expected.timeOf?.(id);
    if (time !== undefined && time !== clock.now && !(expected.hold && time > clock.now && time === latest)) {
      throw new Error(`ID ${i} is of ${time}, the clock is at ${clock.now}, the last ID was of ${latest}`);
    }
    latest = Math.max(latest, time ?? clock.now);
  }
  t.count = n; // the number of refusals depends on random bits, and two runs are compared
  if (!expected.hold && behind === 0) throw new Error("the clock never was behind");
  if (exhausted === 0 && expected.hold === undefined) throw new Error("no tick was exhausted");
}

/** The design without memory of the last tick: each reading of the clock starts a sequence. */
class Forgetful implements Generator<number> {
  #tick = 0;
  #sequence = 0;
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  tryNext(): number {
    const now = this.#clock() - snowflakesi.DEFAULT_EPOCH;
    this.#sequence = now === this.#tick ? this.#sequence + 1 : 0;
    this.#tick = now;
    if (this.#sequence > 8191) throw new ExhaustedError("snowflakesi");
    return now * 8192 + this.#sequence;
  }
}

/** A generator that gives every thousandth ID twice. */
class Stammering implements Generator<number> {
  #count = 0;
  #id = 0;
  readonly #generator: Generator<number>;

  constructor(clock: () => number) {
    this.#generator = snowflake({})(clock);
  }

  tryNext(): number {
    if (++this.#count % 1000 !== 0) this.#id = this.#generator.tryNext();
    return this.#id;
  }
}

function snowflake(config: Partial<snowflakesi.GeneratorConfig>): Make<snowflakesi.SnowflakeSI> {
  return (clock) => new snowflakesi.Generator({ machineId: 0, layout: { machineBits: 5 }, ...config, clock });
}

function soaks(n: number): Check[] {
  const layout = { clockBits: 41, machineBits: 4 } as const;
  const checks: [string, (t: Tally) => void][] = [
    ["snowflakesi", (t) => soak(t, n, { make: snowflake({ machineId: 31 }), timeOf: (id) => snowflakesi.time(id).getTime() })],
    [
      "snowflakesi, sequence resets, 41 bits",
      (t) =>
        soak(t, n, {
          make: snowflake({ machineId: 9, layout, sequence: "resets" }),
          timeOf: (id) => snowflakesi.time(id, undefined, layout).getTime(),
        }),
    ],
    [
      "ulidflake",
      (t) =>
        soak(t, n, {
          make: (clock) => new ulidflake.Generator({ clock }),
          timeOf: (id) => ulidflake.time(id).getTime(),
          hold: false,
        }),
    ],
    [
      "ulidflake, random increments",
      (t) =>
        soak(t, n, {
          make: (clock) => new ulidflake.Generator({ clock, incrementBits: 14 }),
          timeOf: (id) => ulidflake.time(id).getTime(),
        }),
    ],
    [
      "scru160",
      (t) =>
        soak(t, n, {
          make: (clock) => new scru160.Generator({ clock, nodeBits: 4, nodeId: 5 }),
          timeOf: (id) => scru160.time(id).getTime(),
          hold: true,
        }),
    ],
  ];
  const found: [string, Make<number>][] = [
    ["a generator that forgets its last tick", (clock) => new Forgetful(clock)],
    ["a generator that repeats IDs", (clock) => new Stammering(clock)],
  ];
  return [
    ...checks.map(([name, run]) => ({ name: `soak: ${name}`, run })),
    ...found.map(([name, make]) => ({
      name: `soak: finds ${name}`,
      run: (t: Tally): void => {
        t.throws(() => soak(t, 20000, { make }), Error, name);
        t.count = 1;
      },
    })),
  ];
}

/** A generator that restarts at a clock far behind makes distinct IDs, not increasing IDs. */
function restarts(t: Tally): void {
  const clock: Clock = { now: NOW };
  const generator = new scru160.Generator({ clock: () => clock.now, restart: true, maxBackward: 10 });
  const seen = new Set<string>();
  for (let i = 0; i < 20000; i++) {
    if (i % 100 === 99) clock.now -= 11;
    const id = generator.tryNext();
    t.equal(scru160.time(id).getTime(), clock.now, "time");
    seen.add(id);
  }
  t.equal(seen.size, 20000, "the number of distinct IDs");
  clock.now -= 10;
  t.equal(scru160.time(generator.tryNext()).getTime(), clock.now + 10, "time at a clock that is behind a little");
  const strict = new scru160.Generator({ clock: () => clock.now, maxBackward: 10 });
  strict.tryNext();
  clock.now -= 11;
  t.equal(t.throws(() => strict.tryNext(), ClockError, "a clock far behind").by, 11, "by");
}

/** A millisecond has as many IDs as the specification says, and starts where the specification says. */
function capacity(t: Tally): void {
  const clock: Clock = { now: NOW };
  const read = (): number => clock.now;
  const count = (generator: Generator<unknown>): number => {
    for (let n = 0; n < 2 ** 17; n++) {
      try {
        generator.tryNext();
      } catch (fault) {
        if (fault instanceof ExhaustedError) return n;
        throw fault;
      }
    }
    throw new Error("a millisecond without end");
  };
  const si = snowflake({ machineId: 7 })(read);
  t.equal(
    snowflakesi.fields(si.tryNext()),
    { timestamp: NOW - snowflakesi.DEFAULT_EPOCH, machine_id: 7, sequence: 0 },
    "the first ID",
  );
  t.equal(count(si), 255, "the IDs of a millisecond");
  clock.now++;
  t.equal(snowflakesi.fields(si.tryNext()).sequence, 0, "the sequence after an exhausted tick");
  clock.now++;
  t.equal(snowflakesi.fields(si.tryNext()).sequence, 1, "the sequence that continues");
  t.equal(count(si), 254, "the rest of the sequence that continues");
  for (let i = 0; i < 300; i++) {
    clock.now++;
    t.equal(snowflakesi.fields(si.tryNext()).sequence, i % 128, "the sequence of slow IDs");
  }
  for (let i = 0; i < 83; i++) si.tryNext();
  clock.now++;
  t.equal(count(si), 129, "the millisecond after half of the sequence");
  const resets = snowflake({ sequence: "resets" })(read);
  for (let i = 0; i < 3; i++) {
    clock.now++;
    t.equal(snowflakesi.fields(resets.tryNext()).sequence, 0, "the sequence that resets");
  }
  t.equal(count(snowflake({ layout: { machineBits: 13 } })(read)), 1, "the IDs without a sequence");
  t.equal(count(snowflake({ layout: { machineBits: 0 } })(read)), 8192, "the IDs without a machine ID");

  const starts = (bits: number): number[] =>
    Array.from({ length: 400 }, () => {
      const generator = new scru160.Generator({ clock: read, startBits: bits });
      return scru160.fields(generator.tryNext()).counter;
    });
  t.ok(
    starts(0).every((c) => c === 0),
    "a start of 0 bits is not 0",
  );
  t.ok(starts(4).every((c) => c < 16) && new Set(starts(4)).size === 16, "starts of 4 bits");
  t.ok(starts(15).every((c) => c < 2 ** 15) && new Set(starts(15)).size > 350, "starts of 15 bits");
  t.equal(count(new scru160.Generator({ clock: read, startBits: 0 })), 2 ** 16, "the IDs of a counter from 0");

  const node = new scru160.Generator({ clock: read, extraCounterBits: 4, nodeBits: 5, nodeId: 21, startBits: 0 });
  for (let i = 0; i < 100; i++) {
    const { counter, random16 } = scru160.fields(node.tryNext());
    t.equal([counter * 16 + (random16 >> 12), (random16 >> 7) & 31], [i, 21], "the counter and the node ID");
  }
  const noise = new Set<number>();
  for (let i = 0; i < 4000; i++) noise.add(scru160.fields(node.tryNext()).random16 & 127);
  t.equal(noise.size, 128, "values of the bits that stay random");

  const first: number[] = [];
  for (let i = 0; i < 300; i++) first.push(ulidflake.fields(new ulidflake.Generator({ clock: read }).tryNext()).randomness);
  t.ok(
    new Set(first).size > 290 && Math.max(...first) > 2 ** 19 && Math.min(...first) < 2 ** 18,
    "the first randomness of a millisecond",
  );
  const steps = (n: number, incrementBits?: number): Set<number> => {
    const generator = new ulidflake.Generator({ clock: read, incrementBits });
    const seen = new Set<number>();
    for (let i = 0; i < n; i++) {
      clock.now++;
      try {
        const a = ulidflake.fields(generator.tryNext()).randomness;
        seen.add(ulidflake.fields(generator.tryNext()).randomness - a);
      } catch (fault) {
        if (!(fault instanceof ExhaustedError)) throw fault; // a start near the top
      }
    }
    return seen;
  };
  t.equal([...steps(200, 3)].sort(), [1, 2, 3, 4, 5, 6, 7], "random increments");
  t.equal([...steps(20, 1)], [1], "increments of 1");
  for (const bits of [undefined, 0, 8]) {
    const seen = steps(8000, bits);
    t.equal([seen.size, Math.min(...seen), Math.max(...seen)], [255, 1, 255], `the default increments, of ${bits} bits`);
  }
}

/** Bytes 10 to 19 of IDs are random: each bit is set in about half of the IDs. */
function randomness(t: Tally): void {
  const n = 4000;
  const ones = new Array<number>(96).fill(0);
  const generator = new scru160.Generator({ clock: () => NOW });
  for (let i = 0; i < n; i++) {
    const bytes = scru160.toBytes(generator.tryNext()).subarray(8);
    for (let bit = 0; bit < 96; bit++) ones[bit]! += (bytes[bit >> 3]! >> (7 - (bit & 7))) & 1;
  }
  // 8 standard deviations of 31.6: a fair source fails once in 10^13 runs.
  ones.forEach((count, bit) => t.ok(Math.abs(count - n / 2) < 253, `bit ${bit} is set in ${count} of ${n} IDs`));
}

/** Settings out of range, and clocks that fit no timestamp. */
function settings(t: Tally): void {
  const clock = (): number => NOW;
  const config: [string, () => unknown][] = [
    ["machineId", () => new snowflakesi.Generator({ machineId: 32 })],
    ["machineId", () => new snowflakesi.Generator({ machineId: -1 })],
    ["machineId", () => new snowflakesi.Generator({ machineId: 1, layout: { machineBits: 0 } })],
    ["machineId", () => new snowflakesi.Generator({} as unknown as snowflakesi.GeneratorConfig)],
    ["clockBits", () => new snowflakesi.Generator({ machineId: 0, layout: { clockBits: 42 } })],
    ["machineBits", () => new snowflakesi.Generator({ machineId: 0, layout: { machineBits: 14 } })],
    ["sequence", () => new snowflakesi.Generator({ machineId: 0, sequence: "random" as "resets" })],
    ["epoch", () => new snowflakesi.Generator({ machineId: 0, epoch: 1047972019224 })],
    ["epoch", () => new snowflakesi.Generator({ machineId: 0, epoch: NOW, clock })],
    ["epoch", () => new snowflakesi.Generator({ machineId: 0, epoch: NOW - 2 ** 40, clock })],
    ["epoch", () => new ulidflake.Generator({ epoch: NOW + 1, clock })],
    ["epoch", () => new ulidflake.Generator({ epoch: 0.5 })],
    ["incrementBits", () => new ulidflake.Generator({ incrementBits: 21 })],
    ["maxBackward", () => new ulidflake.Generator({ maxBackward: -1 })],
    ["maxBackward", () => new ulidflake.Generator({ maxBackward: Number.NaN })],
    ["startBits", () => new scru160.Generator({ startBits: 16 })],
    ["extraCounterBits", () => new scru160.Generator({ extraCounterBits: 17 })],
    ["nodeBits", () => new scru160.Generator({ extraCounterBits: 8, nodeBits: 9 })],
    ["nodeId", () => new scru160.Generator({ nodeBits: 3, nodeId: 8 })],
    ["restart", () => new scru160.Generator({ restart: "no" as unknown as boolean })],
    ["config", () => new scru160.Generator({ nodeBit: 3 } as scru160.GeneratorConfig)],
    ["config", () => new snowflakesi.Generator(undefined as unknown as snowflakesi.GeneratorConfig)],
    ["clock", () => new ulidflake.Generator({ clock: NOW as unknown as () => number })],
    ["clock", () => new ulidflake.Generator({ clock: () => String(NOW) as unknown as number })],
  ];
  for (const [setting, run] of config) t.equal(t.throws(run, ConfigError, setting).setting, setting, setting);
  t.ok(
    t.throws(() => new ulidflake.Generator({ epoch: NOW, clock }), ConfigError, "epoch").cause instanceof TimeError,
    "the cause is a TimeError",
  );
  t.ok(new ulidflake.Generator({ epoch: NOW - 1, clock }).tryNext() > ulidflake.ZERO, "the latest epoch");

  for (const at of [ulidflake.DEFAULT_EPOCH, Number.NaN, Infinity, ulidflake.DEFAULT_EPOCH + 2 ** 43]) {
    t.throws(() => new ulidflake.Generator({ clock: () => at }), TimeError, "a clock out of range");
  }
  for (const at of [0, 2 ** 48 - 1])
    t.throws(() => new scru160.Generator({ clock: () => at }), TimeError, "a reserved timestamp");
  t.equal(
    scru160.fields(new scru160.Generator({ clock: () => 2 ** 48 - 2 }).tryNext()).timestamp,
    2 ** 48 - 2,
    "the last timestamp",
  );
  t.equal(scru160.fields(new scru160.Generator({ clock: () => 1.9 }).tryNext()).timestamp, 1, "the first timestamp");
  const later: Clock = { now: NOW };
  const generator = snowflake({})(() => later.now);
  generator.tryNext();
  for (const at of [snowflakesi.DEFAULT_EPOCH, snowflakesi.DEFAULT_EPOCH + 2 ** 40, Number.NaN]) {
    later.now = at;
    const fault = t.throws(() => generator.tryNext(), TimeError, "a clock out of range");
    t.equal(
      [fault.first, fault.last],
      [snowflakesi.DEFAULT_EPOCH + 1, snowflakesi.DEFAULT_EPOCH + 2 ** 40 - 1],
      "the valid times",
    );
  }

  const own = new snowflakesi.Generator({ machineId: 3, epoch: NOW - 1000, layout: { machineBits: 3 }, clock });
  const id = own.tryNext();
  t.equal(
    [own.time(id).getTime(), own.first(NOW) <= id, id <= own.last(NOW), own.machineId],
    [NOW, true, true, 3],
    "the generator's own epoch and layout",
  );
  const ulid = new ulidflake.Generator({ epoch: new Date(NOW - 1000), clock });
  const flake = ulid.tryNext();
  t.equal(
    [ulid.time(flake).getTime(), ulid.first(NOW) <= flake, flake <= ulid.last(NOW)],
    [NOW, true, true],
    "the generator's own epoch",
  );
}

/** One ID in each millisecond: the generator that has to wait most. */
const SLOW = { machineId: 0, layout: { machineBits: 13 } } as const;

async function waiting(t: Tally): Promise<void> {
  const generator = new snowflakesi.Generator(SLOW);
  const ids = await Promise.all(Array.from({ length: 20 }, () => generator.next()));
  for (let i = 1; i < ids.length; i++)
    t.ok(ids[i - 1]! < ids[i]!, `waiter ${i} has ${ids[i]}, the waiter before ${ids[i - 1]}`);

  // A clock that stands still until the check moves it on.
  const clock: Clock = { now: NOW };
  const standing = new snowflakesi.Generator({ ...SLOW, clock: () => clock.now });
  const done: string[] = [];
  await standing.next();
  const line = ["first", "second", "third"].map((name) => standing.next().then(() => done.push(name)));
  t.throws(() => standing.tryNext(), ExhaustedError, "tryNext beside waiters");
  await pause(5);
  t.equal(done, [], "waiters with IDs in a tick that stands");
  clock.now++;
  t.throws(() => standing.tryNext(), ExhaustedError, "tryNext beside waiters, in a new tick");
  await line[0];
  t.equal(done, ["first"], "waiters with IDs in a second tick");
  clock.now -= 2;
  t.equal(t.throws(() => standing.tryNext(), ClockError, "tryNext beside waiters, with a clock behind").by, 2, "by");
  clock.now += 3;
  await line[1];
  clock.now++;
  await Promise.all(line);
  t.equal(done, ["first", "second", "third"], "waiters with IDs");
}

async function clocksBehind(t: Tally): Promise<void> {
  const clock: Clock = { now: NOW };
  const generator = new ulidflake.Generator({ clock: () => clock.now, maxBackward: 50 });
  const before = await generator.next();
  clock.now -= 51;
  t.equal((await t.rejects(generator.next(), ClockError, "next at a clock far behind")).by, 51, "by");
  clock.now += 1;
  const waiter = generator.next();
  clock.now += 50;
  t.ok((await waiter) > before, "an ID after a wait for the clock");
  clock.now -= 1;
  const late = [generator.next(), generator.next()];
  clock.now -= 100;
  for (const promise of late) await t.rejects(promise, ClockError, "a waiter at a clock that goes back further");
  clock.now = ulidflake.DEFAULT_EPOCH;
  await t.rejects(generator.next(), TimeError, "next out of range");
}

async function aborts(t: Tally): Promise<void> {
  const clock: Clock = { now: NOW };
  const generator = new snowflakesi.Generator({ ...SLOW, clock: () => clock.now });
  const last = generator.tryNext();
  const reason = new Error("enough");
  const controller = new AbortController();
  const waiters = [
    generator.next({ signal: controller.signal }),
    generator.next(),
    generator.next({ signal: controller.signal }),
  ];
  controller.abort(reason);
  t.equal(await t.rejects(waiters[0]!, Error, "the first waiter"), reason, "the reason");
  t.equal(await t.rejects(waiters[2]!, Error, "the third waiter"), reason, "the reason");
  clock.now++;
  t.ok((await waiters[1]!) > last, "the second waiter has an ID");
  t.equal(await t.rejects(generator.next({ signal: controller.signal }), Error, "an aborted signal"), reason, "the reason");
  clock.now++;
  controller.abort();
  t.ok((await generator.next({ signal: new AbortController().signal })) > last, "next after aborted waiters");

  let broken = false;
  const faulty = new snowflakesi.Generator({
    ...SLOW,
    clock: () => {
      if (broken) throw new RangeError("no clock");
      return NOW;
    },
  });
  faulty.tryNext();
  const waiter = faulty.next();
  broken = true;
  t.equal((await t.rejects(waiter, RangeError, "a waiter at a clock that throws")).message, "no clock", "the error");
}

/** Any number of waiters is one listener of their signal, and the last waiter to leave removes the listener. */
async function signals(t: Tally): Promise<void> {
  const clock: Clock = { now: NOW };
  const make = (): snowflakesi.Generator => new snowflakesi.Generator({ ...SLOW, clock: () => clock.now });
  const generators = [make(), make(), make()];
  for (const generator of generators) generator.tryNext();

  const listened = (controller: AbortController): { now: number; most: number } => {
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    const listeners = new Set<unknown>();
    const count = { now: 0, most: 0 };
    signal.addEventListener = (type: "abort", listener: () => void): void => {
      count.now = listeners.add(listener).size;
      count.most = Math.max(count.most, count.now);
      add(type, listener);
    };
    signal.removeEventListener = (type: "abort", listener: () => void): void => {
      listeners.delete(listener);
      count.now = listeners.size;
      remove(type, listener);
    };
    return count;
  };

  const controller = new AbortController();
  const count = listened(controller);
  const lines = generators.map((generator) => Array.from({ length: 20 }, () => generator.next({ signal: controller.signal })));
  clock.now++;
  const firsts = await Promise.all(lines.map(([first]) => first!));
  t.ok(
    firsts.every((id) => snowflakesi.time(id).getTime() === clock.now),
    "the first waiters have no IDs",
  );
  t.equal(count, { now: 1, most: 1 }, "listeners of 57 waiters");
  const reason = new Error("enough");
  controller.abort(reason);
  for (const waiter of lines.flatMap(([, ...rest]) => rest))
    t.equal(await t.rejects(waiter, Error, "a waiter"), reason, "the reason");
  t.equal(count, { now: 0, most: 1 }, "listeners after the abort");

  // The same signal twice: the first watch ends before the second begins.
  const second = new AbortController();
  const again = listened(second);
  for (let i = 0; i < 2; i++) {
    const waiters = generators.map((generator) => generator.next({ signal: second.signal }));
    t.equal(again, { now: 1, most: 1 }, "listeners of three waiters");
    clock.now++;
    await Promise.all(waiters);
    t.equal(again, { now: 0, most: 1 }, "listeners after three IDs");
  }
  const last = generators[0]!.next({ signal: second.signal });
  second.abort(reason);
  t.equal(await t.rejects(last, Error, "the last waiter"), reason, "the reason");
  t.equal(again, { now: 0, most: 1 }, "listeners after the second abort");

  for (const options of [second.signal, { signal: {} }, { signal: null }, { signals: second.signal }, null])
    await t.rejects(generators[0]!.next(options as object), ConfigError, "options that are none");
}

/** Timers of tests replace Date.now, or Date. A generator that is there already has the time of the replacement. */
function replacedClocks(t: Tally): void {
  const { Date: RealDate } = globalThis;
  const { now: realNow } = RealDate;
  const generators = [new ulidflake.Generator(), new snowflakesi.Generator({ machineId: 1 })] as const;
  const scru = new scru160.Generator();
  const expect = (at: number, what: string): void => {
    const [ulid, si] = generators;
    t.equal(
      [ulid.time(ulid.tryNext()), si.time(si.tryNext()), scru160.time(scru.tryNext())].map((time) => time.getTime()),
      [at, at, at],
      what,
    );
  };
  const later = realNow() + 1_000_000;
  try {
    RealDate.now = () => later;
    expect(later, "the times with another Date.now");
    globalThis.Date = class extends RealDate {
      static override now(): number {
        return later + 1000;
      }
    } as DateConstructor;
    expect(later + 1000, "the times with another Date");
    t.equal(new ulidflake.Generator({ epoch: later + 999 }).epoch, later + 999, "an epoch before another Date's time");
    for (const at of [new RealDate(later), new Date(later)])
      t.equal(ulidflake.first(at), ulidflake.first(later), "first of a Date, with another Date");
  } finally {
    globalThis.Date = RealDate;
    RealDate.now = realNow;
  }
}

declare function setTimeout(run: () => void, ms: number): unknown;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** IDs at the platform's clock: order, and the time of the clock. */
async function present(t: Tally): Promise<void> {
  const generators = [new ulidflake.Generator(), new scru160.Generator(), new snowflakesi.Generator({ machineId: 1 })] as const;
  for (const generator of generators) {
    let last: string | number = "";
    for (let i = 0; i < 2000; i++) {
      const id: string | number = await generator.next();
      t.ok(i === 0 || last < id, `${id} after ${last}`);
      last = id;
    }
  }
}

export function generatorChecks(n: number): Check[] {
  return [
    { name: "generators: settings", run: settings },
    { name: "generators: capacity", run: capacity },
    { name: "generators: randomness", run: randomness },
    { name: "generators: restarts", run: restarts },
    { name: "generators: waiting", run: waiting },
    { name: "generators: clocks behind", run: clocksBehind },
    { name: "generators: aborts", run: aborts },
    { name: "generators: signals", run: signals },
    { name: "generators: replaced clocks", run: replacedClocks },
    { name: "generators: the present time", run: present },
    ...soaks(n),
  ];
}
