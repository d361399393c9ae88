// The policy that all generators share: ticks, sequences, clocks that step back, waiters.
//
// JavaScript runs one call at a time, so a tick and a sequence in two variables always agree. Workers and
// tabs have no variable in common: each has generators of its own.

import { ClockError, ConfigError, ExhaustedError, type FormatName, shown, TimeError, timeText } from "./errors.js";
import { checkSettings } from "./settings.js";
import type { Time } from "./time.js";

declare function setTimeout(run: () => void, ms: number): unknown;

/** The distance of a clock behind the last ID up to which `next` waits, in milliseconds, by default. */
const DEFAULT_MAX_BACKWARD = 5000;
/** The longest pause until the next look at a clock that is behind, in milliseconds. */
const MAX_PAUSE = 100;

/** The part of an AbortSignal that a generator uses. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Options of a call that may wait. */
export interface NextOptions {
  /** Ends the wait: the promise is then rejected with the signal's reason. An AbortSignal fits. */
  readonly signal?: Signal | undefined;
}

/** Settings that all generators have. */
export interface ClockConfig {
  /**
   * The longest wait of `next` for a clock that is behind the last ID, in milliseconds. `next` throws a
   * ClockError for a clock that is further behind. The default is 5000; 0 means no wait.
   */
  readonly maxBackward?: number | undefined;
  /** Returns the time in Unix milliseconds. The default is Date.now. Another clock is for tests. */
  readonly clock?: (() => number) | undefined;
}

/** The names of the settings that all generators have. */
export const CLOCK_SETTINGS = ["maxBackward", "clock"] as const satisfies readonly (keyof ClockConfig)[];

/** Says how the IDs of a format are made. */
export interface MintConfig<ID> extends ClockConfig {
  readonly format: FormatName;
  /** Unix milliseconds of timestamp 0. */
  readonly epoch: number;
  /** The last timestamp. The first is 1: no generator makes an ID of timestamp 0. */
  readonly last: number;
  /** The number of sequences in a tick. */
  readonly limit: number;
  /** Returns the first sequence of a tick, given the last sequence of the tick before, or -1. */
  readonly start: (before: number) => number;
  /** Returns the distance to the next sequence of a tick. */
  readonly step: () => number;
  /** If the clock is behind by up to maxBackward, continue in the last tick. */
  readonly hold?: boolean;
  /** If the clock is further behind, start afresh at the clock's time. */
  readonly rewind?: boolean;
  /** Returns the ID of a timestamp and a sequence. */
  readonly make: (timestamp: number, sequence: number) => ID;
}

interface Waiter<ID> {
  readonly resolve: (id: ID) => void;
  readonly reject: (reason: unknown) => void;
  /** Forgets the signal. */
  readonly leave: () => void;
}

/** The waiters of a signal. The signal has one listener for all of them: Node warns of more than ten listeners. */
interface Watch {
  readonly waiters: Set<() => void>;
  readonly listener: () => void;
}

const watches: WeakMap<Signal, Watch> = /* @__PURE__ */ new WeakMap();

/** Calls a waiter once the signal aborts. Returns the function that ends the watch of this waiter. */
function watch(signal: Signal, waiter: () => void): () => void {
  let watched = watches.get(signal);
  if (watched === undefined) {
    const waiters = new Set<() => void>();
    watched = { waiters, listener: () => waiters.forEach((abort) => abort()) };
    signal.addEventListener("abort", watched.listener);
    watches.set(signal, watched);
  }
  const { waiters, listener } = watched;
  waiters.add(waiter);
  return () => {
    waiters.delete(waiter);
    if (waiters.size > 0) return;
    watches.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

/** Returns the signal of the options, or throws a ConfigError for anything else. */
function signalOf(format: FormatName, options: NextOptions): Signal | undefined {
  const { signal } = checkSettings(format, "options", options, ["signal"]);
  if (signal === undefined || (typeof signal?.aborted === "boolean" && typeof signal.addEventListener === "function"))
    return signal;
  throw new ConfigError(format, "signal", shown(signal), "an AbortSignal");
}

/** Makes the IDs of one generator. */
export class Mint<ID> {
  readonly #config: MintConfig<ID>;
  readonly #maxBackward: number;
  readonly #clock: () => number;
  readonly #line: Waiter<ID>[] = [];
  /** Whether a timer will serve the line. */
  #paused = false;
  /** The last ID's timestamp; 0 before the first ID. */
  #tick = 0;
  /** The last ID's sequence. */
  #sequence = -1;

  constructor(config: MintConfig<ID>) {
    this.#config = config;
    // Date.now is looked up at each call, because timers of tests replace Date.now, or Date.
    const { format, clock = () => Date.now(), maxBackward = DEFAULT_MAX_BACKWARD } = config;
    if (typeof clock !== "function") throw new ConfigError(format, "clock", shown(clock), "a function");
    if (typeof maxBackward !== "number" || !(maxBackward >= 0))
      throw new ConfigError(format, "maxBackward", shown(maxBackward), "0 or more milliseconds");
    this.#clock = clock;
    this.#maxBackward = maxBackward;
  }

  /**
   * Throws a TimeError if the clock is not after the epoch, or is after the last timestamp. If the
   * program chose the epoch, the error is a ConfigError with the valid epochs, which are after the time
   * after. The TimeError is then the cause.
   */
  checkClock(epoch?: Time, after = -Infinity): void {
    const { format, last } = this.#config;
    const now = this.#now();
    const fault = this.#outside(this.#timestamp(now), now);
    if (fault === undefined) return;
    const least = Math.max(Math.floor(now) - last, after + 1);
    const most = Math.floor(now) - 1;
    if (epoch === undefined || !(least <= most)) throw fault;
    const range = `in ${timeText(least)} to ${timeText(most)}`;
    const want = `${range}, the epochs for the clock's time ${timeText(now)}: use one of these, or correct the clock`;
    throw new ConfigError(format, "epoch", timeText(this.#config.epoch), want, fault);
  }

  /** Returns a new ID, or throws the reason for having none. While callers wait, IDs belong to these callers. */
  tryNext(): ID {
    const fault = this.#line.length > 0 ? this.#besideLine() : this.#advance();
    if (fault !== undefined) throw fault;
    return this.#make();
  }

  /** Returns a new ID. Waits for the next tick, or for a clock that is behind, for as long as the signal allows. */
  async next(options: NextOptions = {}): Promise<ID> {
    const signal = signalOf(this.#config.format, options);
    if (signal?.aborted) throw signal.reason;
    if (this.#line.length > 0) return this.#stand(signal);
    const fault = this.#advance();
    if (fault === undefined) return this.#make();
    if (!this.#waits(fault)) throw fault;
    const id = this.#stand(signal);
    this.#pause(fault);
    return id;
  }

  #make(): ID {
    return this.#config.make(this.#tick, this.#sequence);
  }

  /** Reads the clock. Nothing but a number counts as a time. */
  #now(): number {
    const now = this.#clock();
    if (typeof now === "number") return now;
    throw new ConfigError(this.#config.format, "clock", `with ${shown(now)}`, "a function that returns Unix milliseconds");
  }

  #timestamp(now: number): number {
    return Math.floor(now) - this.#config.epoch;
  }

  #outside(timestamp: number, now: number): TimeError | undefined {
    const { format, epoch, last } = this.#config;
    return timestamp >= 1 && timestamp <= last ? undefined : new TimeError(format, now, epoch + 1, epoch + last);
  }

  /** Moves on to the next tick and sequence, or returns the reason for staying. */
  #advance(): Error | undefined {
    const { format, limit, start, step, hold, rewind } = this.#config;
    const now = this.#now();
    const timestamp = this.#timestamp(now);
    const outside = this.#outside(timestamp, now);
    if (outside !== undefined) return outside;

    const behind = this.#tick - timestamp;
    if (behind < 0 || (rewind && behind > this.#maxBackward)) {
      this.#sequence = start(this.#sequence);
      this.#tick = timestamp;
      return undefined;
    }
    if (behind > 0 && !(hold && behind <= this.#maxBackward)) return new ClockError(format, behind);
    const sequence = this.#sequence + step();
    if (sequence >= limit) return behind > 0 ? new ClockError(format, behind) : new ExhaustedError(format);
    this.#sequence = sequence;
    return undefined;
  }

  /** Returns the error of a caller that does not wait while others do. */
  #besideLine(): Error {
    const now = this.#now();
    const timestamp = this.#timestamp(now);
    const behind = this.#tick - timestamp;
    return (
      this.#outside(timestamp, now) ??
      (behind > 0 ? new ClockError(this.#config.format, behind) : new ExhaustedError(this.#config.format))
    );
  }

  /** Reports whether waiting helps. */
  #waits(fault: unknown): boolean {
    return fault instanceof ExhaustedError || (fault instanceof ClockError && fault.by <= this.#maxBackward);
  }

  /** Puts the caller at the end of the line. */
  #stand(signal: Signal | undefined): Promise<ID> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        waiter.leave();
        this.#line.splice(this.#line.indexOf(waiter), 1);
        reject(signal?.reason);
      };
      const waiter: Waiter<ID> = { resolve, reject, leave: signal === undefined ? () => undefined : watch(signal, abort) };
      this.#line.push(waiter);
    });
  }

  /** Serves the line after a pause. */
  #pause(fault: unknown): void {
    if (this.#paused) return;
    this.#paused = true;
    const resume = (): void => {
      this.#paused = false;
      this.#serve();
    };
    setTimeout(resume, fault instanceof ClockError ? Math.min(fault.by, MAX_PAUSE) : 1);
  }

  /** Gives IDs to the waiters in turn, until the tick is exhausted or nobody waits. */
  #serve(): void {
    while (this.#line.length > 0) {
      const fault = this.#advanceOrCatch();
      if (this.#waits(fault)) {
        this.#pause(fault);
        return;
      }
      const waiter = this.#line.shift()!;
      waiter.leave();
      if (fault === undefined) waiter.resolve(this.#make());
      else waiter.reject(fault);
    }
  }

  /** Returns what the program's own clock throws, too: the waiter in turn gets the error. */
  #advanceOrCatch(): unknown {
    try {
      return this.#advance();
    } catch (fault) {
      return fault ?? new Error("no time");
    }
  }
}
