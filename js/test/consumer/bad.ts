// Programs that must not compile. The compiler reports an expectation without an error.

import * as nanoflake from "@firn-id/firn/nanoflake";
import * as scru160 from "@firn-id/firn/scru160";
import * as sno from "@firn-id/firn/sno";
import * as snowflakesi from "@firn-id/firn/snowflakesi";
import * as ulidflake from "@firn-id/firn/ulidflake";
import * as scalable from "@firn-id/firn/ulidflake-scalable";

declare const n: nanoflake.Nanoflake;
declare const u: ulidflake.UlidFlake;
declare const s: snowflakesi.SnowflakeSI;

// @ts-expect-error a Ulid-Flake is no Nanoflake
nanoflake.time(u);
// @ts-expect-error a Nanoflake is no Ulid-Flake
ulidflake.fields(n);
// @ts-expect-error the versions of Ulid-Flake differ
scalable.fields(u);
// @ts-expect-error the versions of Ulid-Flake differ
export const other: ulidflake.UlidFlake = scalable.MAX;
// @ts-expect-error IDs of two formats have no order
nanoflake.compare(n, u);
// @ts-expect-error a sno is no SCRU160 ID
scru160.toBytes(sno.MAX);
// @ts-expect-error a SCRU160 ID is no sno
export const flake: sno.Sno = scru160.MAX;
// @ts-expect-error a text is no ID before parse
nanoflake.time("07en9rb30swmf");
// @ts-expect-error a number is no ID before fromNumber
snowflakesi.time(4985);
// @ts-expect-error a number is no Nanoflake
nanoflake.time(s);
// @ts-expect-error a Nanoflake is no integer
export const integer: bigint = n;
// @ts-expect-error parse reads text
nanoflake.parse(974901554009075751n);
// @ts-expect-error parse reads text
nanoflake.parse(123);
// @ts-expect-error two IDs of different formats are never equal
export const same: boolean = n === u;
// @ts-expect-error a generator needs a machine ID
new snowflakesi.Generator({});
// @ts-expect-error fromJSON may return null
export const id: nanoflake.Nanoflake = nanoflake.fromJSON("07en9rb30swmf");
// @ts-expect-error Nanoflakes have no generator without a lease
new nanoflake.Generator();
// @ts-expect-error fields are read-only
nanoflake.fields(n).sequence = 1;
