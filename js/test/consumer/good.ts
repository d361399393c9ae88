// A program that uses the package, compiled against the types of the tarball without the types of a platform.

import {
  candidates,
  ClockError,
  ConfigError,
  detect,
  ExhaustedError,
  type FormatName,
  formats,
  type Info,
  inspect,
  nanoflake,
  ParseError,
  type ParseErrorKind,
  TimeError,
} from "@firn-id/firn";
import * as nanoflakes from "@firn-id/firn/nanoflake";
import * as scru160 from "@firn-id/firn/scru160";
import * as sno from "@firn-id/firn/sno";
import * as snowflakesi from "@firn-id/firn/snowflakesi";
import * as ulidflake from "@firn-id/firn/ulidflake";
import * as scalable from "@firn-id/firn/ulidflake-scalable";

interface Order {
  readonly id: nanoflakes.Nanoflake;
  readonly customer: ulidflake.UlidFlake | null;
}

export function read(json: string): Order {
  const { id, customer } = JSON.parse(json) as { id: string; customer: unknown };
  return { id: nanoflakes.parse(id), customer: ulidflake.fromJSON(customer) };
}

export function age(order: Order, now: Date): number {
  const { timestamp, generator_id, sequence } = nanoflake.fields(order.id);
  return now.getTime() - nanoflake.time(order.id).getTime() + 0 * (timestamp + generator_id + sequence);
}

export const text: string = nanoflakes.MAX;
export const url = `/orders/${nanoflakes.MAX}`;
export const integer: bigint = nanoflakes.toBigInt(nanoflakes.MAX);
export const safe: number = snowflakesi.MAX;
export const earlier: boolean = snowflakesi.ZERO < snowflakesi.MAX;

export async function make(signal: ulidflake.Signal): Promise<string> {
  const generator = new snowflakesi.Generator({ machineId: 7, layout: { clockBits: 41, machineBits: 3 } });
  const id: snowflakesi.SnowflakeSI = await generator.next({ signal });
  const secret: scru160.Scru160 = new scru160.Generator({ nodeBits: 4, nodeId: 3 }).tryNext();
  return `${snowflakesi.toText(id)} ${secret} ${new ulidflake.Generator({ incrementBits: 4 }).tryNext()}`;
}

export function explain(fault: unknown): ParseErrorKind | FormatName | number {
  if (fault instanceof ParseError) return fault.kind;
  if (fault instanceof ClockError) return fault.by;
  if (fault instanceof ConfigError || fault instanceof TimeError || fault instanceof ExhaustedError) return fault.format;
  throw fault;
}

export function narrow(value: unknown): sno.Sno | scalable.ScalableUlidFlake | undefined {
  if (sno.isSno(value)) return value;
  return scalable.isScalableUlidFlake(value) ? value : undefined;
}

export const infos: Info[] = [inspect("sno", "cufsekaqqudbobiw"), ...candidates("4985", { now: new Date(), epoch: 0 })];
export const names: FormatName[] = [...detect("4985", "int"), ...formats.map((format) => format.name)];
