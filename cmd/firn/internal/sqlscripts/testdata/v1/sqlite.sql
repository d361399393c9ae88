-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version 1.
--   nanoflake --epoch 2021-01-01T00:00:00Z
--   ulidflake --epoch 2024-01-01T00:00:00Z
--   ulidflake-scalable --epoch 2024-01-01T00:00:00Z
--   snowflakesi --epoch 2021-01-01T00:00:00Z --clock-bits 40 --machine-bits 5
--   scru160
--   sno
--
-- The column `id` holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE `id` BETWEEN (expression first) AND (expression last)

-- nanoflake
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 22 & 2199023255551) + 1609459200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 22 & 2199023255551) + 1609459200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 22 & 2199023255551) + 1609459200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 22 & 2199023255551) END
--
-- generator_id: the generator id of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 12 & 1023) END
--
-- sequence: the sequence of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 4095) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 4738381338321616896 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 131621703842267136 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 3656158440062976 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 101559956668416 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 2821109907456 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 78364164096 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 2176782336 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 60466176 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1679616 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 46656 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1296 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 36 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1 % 36 + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 13 AND length(CAST(:text AS BLOB)) = 13 AND :text NOT GLOB '*[^0-9A-Za-z]*' AND upper(:text) <= '1Y2P0IJ32E8E7' THEN (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 1, 1)) - 1) * 4738381338321616896
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 2, 1)) - 1) * 131621703842267136
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 3, 1)) - 1) * 3656158440062976
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 4, 1)) - 1) * 101559956668416
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 5, 1)) - 1) * 2821109907456
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 6, 1)) - 1) * 78364164096
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 7, 1)) - 1) * 2176782336
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 8, 1)) - 1) * 60466176
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 9, 1)) - 1) * 1679616
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 10, 1)) - 1) * 46656
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 11, 1)) - 1) * 1296
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 12, 1)) - 1) * 36
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 13, 1)) - 1) * 1 END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 3808482455551) - 1609459200000) << 22 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 3808482455551) - 1609459200000) << 22 | 4194303 END

-- ulidflake
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 20 & 8796093022207) + 1704067200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 20 & 8796093022207) + 1704067200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 20 & 8796093022207) + 1704067200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 20 & 8796093022207) END
--
-- randomness: the randomness of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 1048575) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 60 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 55 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 50 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 45 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 40 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 35 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 30 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 25 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 20 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 15 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 10 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 5 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 13 AND length(CAST(:text AS BLOB)) = 13 AND :text NOT GLOB '*[^0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]*' AND upper(:text) <= '7ZZZZZZZZZZZZ' THEN ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 1, 1)) - 1) << 60)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 2, 1)) - 1) << 55)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 3, 1)) - 1) << 50)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 4, 1)) - 1) << 45)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 5, 1)) - 1) << 40)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 6, 1)) - 1) << 35)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 7, 1)) - 1) << 30)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 8, 1)) - 1) << 25)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 9, 1)) - 1) << 20)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 10, 1)) - 1) << 15)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 11, 1)) - 1) << 10)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 12, 1)) - 1) << 5)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 13, 1)) - 1) << 0) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 | 1048575 END

-- ulidflake-scalable
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 20 & 8796093022207) + 1704067200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 20 & 8796093022207) + 1704067200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 20 & 8796093022207) + 1704067200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 20 & 8796093022207) END
--
-- randomness: the randomness of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 5 & 32767) END
--
-- scalability: the scalability of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 31) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 60 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 55 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 50 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 45 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 40 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 35 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 30 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 25 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 20 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 15 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 10 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 5 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 13 AND length(CAST(:text AS BLOB)) = 13 AND :text NOT GLOB '*[^0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]*' AND upper(:text) <= '7ZZZZZZZZZZZZ' THEN ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 1, 1)) - 1) << 60)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 2, 1)) - 1) << 55)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 3, 1)) - 1) << 50)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 4, 1)) - 1) << 45)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 5, 1)) - 1) << 40)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 6, 1)) - 1) << 35)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 7, 1)) - 1) << 30)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 8, 1)) - 1) << 25)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 9, 1)) - 1) << 20)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 10, 1)) - 1) << 15)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 11, 1)) - 1) << 10)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 12, 1)) - 1) << 5)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 13, 1)) - 1) << 0) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 | 1048575 END

-- snowflakesi
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN datetime(((`id` >> 13 & 1099511627775) + 1609459200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 13 & 1099511627775) + 1609459200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN ((`id` >> 13 & 1099511627775) + 1609459200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 13 & 1099511627775) END
--
-- machine_id: the machine id of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 8 & 31) END
--
-- sequence: the sequence of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 0 & 255) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN CAST(`id` AS TEXT) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) BETWEEN 1 AND 16 AND length(CAST(:text AS BLOB)) = length(:text) AND :text NOT GLOB '*[^0-9]*' AND CAST(:text AS INTEGER) <= 9007199254740991 THEN CAST(:text AS INTEGER) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 2708970827775) - 1609459200000) << 13 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 2708970827775) - 1609459200000) << 13 | 8191 END

-- scru160
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN datetime(((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) / 1000, 'unixepoch') || printf('.%03d', ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) END
--
-- counter: the counter of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 15, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 0)) >> 0 & 65535) END
--
-- random16: the random16 of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 20, 1)) << 0)) >> 0 & 65535) END
--
-- random80: the random80 of the ID in hexadecimal
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN lower(substr(hex(`id`), 21)) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 2, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 3, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 4, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 5, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 7, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 8, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 9, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 10, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 12, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 13, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 14, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 15, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 17, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 18, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 19, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 20, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 21, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 22, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 22, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 23, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 23, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 24, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 24, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 25, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 26, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 27, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 27, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 28, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 28, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 29, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 29, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 30, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 31, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 32, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 32, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 33, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 33, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 34, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 34, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 35, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 36, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 37, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 37, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 38, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 38, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 39, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 39, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 40, 1))) >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 32 AND length(CAST(:text AS BLOB)) = 32 AND :text NOT GLOB '*[^0-9A-Va-v]*' THEN unhex(substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 1, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 1, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 2, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 2, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 3, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 3, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 4, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 4, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 5, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 5, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 6, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 6, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 7, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 7, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 8, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 8, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 9, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 9, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 10, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 10, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 11, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 11, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 12, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 12, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 13, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 13, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 14, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 14, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 15, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 15, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 16, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 16, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 17, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 17, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 18, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 18, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 19, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 19, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 20, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 20, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 21, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 21, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 22, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 22, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 23, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 23, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 24, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 24, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 25, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 25, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 26, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 26, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 27, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 27, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 28, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 28, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 29, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 29, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 30, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 30, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 31, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 31, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 32, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 32, 1)) - 1) >> 0 & 15) + 1, 1)) WHEN typeof(:text) = 'text' AND length(:text) = 40 AND length(CAST(:text AS BLOB)) = 40 AND :text NOT GLOB '*[^0-9A-Fa-f]*' THEN unhex(:text) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%012x', (min(max(CAST(round(:at) AS INTEGER), 0), 281474976710655) - 0)) || '0000000000000000000000000000') END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%012x', (min(max(CAST(round(:at) AS INTEGER), 0), 281474976710655) - 0)) || 'ffffffffffffffffffffffffffff') END

-- sno
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN datetime(((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) / 1000, 'unixepoch') || printf('.%03d', ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) END
--
-- tick_tock: the tick tock of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 0 & 1) END
--
-- meta: the meta of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 255) END
--
-- partition: the partition of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 15, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 0)) >> 0 & 65535) END
--
-- sequence: the sequence of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 20, 1)) << 0)) >> 0 & 65535) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 2, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 3, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 4, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 5, 1))) >> 0 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 7, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 8, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 9, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 10, 1))) >> 0 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 12, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 13, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 14, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 15, 1))) >> 0 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 17, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 18, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 19, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 20, 1))) >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 16 AND length(CAST(:text AS BLOB)) = 16 AND :text NOT GLOB '*[^2-9a-x]*' THEN unhex(substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 1, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 1, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 2, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 2, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 3, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 3, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 4, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 4, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 5, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 5, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 6, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 6, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 7, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 7, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 8, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 8, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 9, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 9, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 10, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 10, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 11, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 11, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 12, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 12, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 13, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 13, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 14, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 14, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 15, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 15, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 16, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 16, 1)) - 1) >> 0 & 15) + 1, 1)) END
--
-- first: the smallest ID of the 4 milliseconds of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%010x', (min(max(CAST(round(:at) AS INTEGER), 1262304000000), 3461327255551) - 1262304000000) / 4 * 2) || '0000000000') END
--
-- last: the largest ID of the 4 milliseconds of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%010x', (min(max(CAST(round(:at) AS INTEGER), 1262304000000), 3461327255551) - 1262304000000) / 4 * 2 + 1) || 'ffffffffff') END
-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version 1.
--   nanoflake --epoch 2021-01-01T00:00:00Z
--
-- The column `id` holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE `id` BETWEEN (expression first) AND (expression last)

-- nanoflake
--
-- A second run changes nothing: SQLite refuses a column that exists.

ALTER TABLE `orders` ADD COLUMN `id_time` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 22 & 2199023255551) + 1609459200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 22 & 2199023255551) + 1609459200000) % 1000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_unix_ms` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 22 & 2199023255551) + 1609459200000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_generator_id` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 12 & 1023) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_sequence` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 4095) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_text` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 4738381338321616896 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 131621703842267136 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 3656158440062976 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 101559956668416 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 2821109907456 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 78364164096 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 2176782336 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 60466176 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1679616 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 46656 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1296 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 36 % 36 + 1, 1)
 || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1 % 36 + 1, 1) END) VIRTUAL;
CREATE INDEX IF NOT EXISTS `orders_id_time` ON `orders`(`id_time`);

-- Expressions
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 22 & 2199023255551) + 1609459200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 22 & 2199023255551) + 1609459200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 22 & 2199023255551) + 1609459200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 22 & 2199023255551) END
--
-- generator_id: the generator id of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 12 & 1023) END
--
-- sequence: the sequence of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 4095) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 4738381338321616896 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 131621703842267136 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 3656158440062976 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 101559956668416 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 2821109907456 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 78364164096 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 2176782336 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 60466176 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1679616 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 46656 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1296 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 36 % 36 + 1, 1)
--    || substr('0123456789abcdefghijklmnopqrstuvwxyz', `id` / 1 % 36 + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 13 AND length(CAST(:text AS BLOB)) = 13 AND :text NOT GLOB '*[^0-9A-Za-z]*' AND upper(:text) <= '1Y2P0IJ32E8E7' THEN (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 1, 1)) - 1) * 4738381338321616896
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 2, 1)) - 1) * 131621703842267136
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 3, 1)) - 1) * 3656158440062976
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 4, 1)) - 1) * 101559956668416
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 5, 1)) - 1) * 2821109907456
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 6, 1)) - 1) * 78364164096
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 7, 1)) - 1) * 2176782336
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 8, 1)) - 1) * 60466176
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 9, 1)) - 1) * 1679616
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 10, 1)) - 1) * 46656
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 11, 1)) - 1) * 1296
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 12, 1)) - 1) * 36
--    + (instr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', substr(upper(:text), 13, 1)) - 1) * 1 END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 3808482455551) - 1609459200000) << 22 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 3808482455551) - 1609459200000) << 22 | 4194303 END
-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version 1.
--   ulidflake --epoch 2024-01-01T00:00:00Z
--
-- The column `id` holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE `id` BETWEEN (expression first) AND (expression last)

-- ulidflake
--
-- A second run changes nothing: SQLite refuses a column that exists.

ALTER TABLE `orders` ADD COLUMN `id_time` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 20 & 8796093022207) + 1704067200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 20 & 8796093022207) + 1704067200000) % 1000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_unix_ms` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 20 & 8796093022207) + 1704067200000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_randomness` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 1048575) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_text` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 60 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 55 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 50 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 45 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 40 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 35 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 30 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 25 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 20 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 15 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 10 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 5 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 0 & 31) + 1, 1) END) VIRTUAL;
CREATE INDEX IF NOT EXISTS `orders_id_time` ON `orders`(`id_time`);

-- Expressions
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 20 & 8796093022207) + 1704067200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 20 & 8796093022207) + 1704067200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 20 & 8796093022207) + 1704067200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 20 & 8796093022207) END
--
-- randomness: the randomness of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 1048575) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 60 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 55 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 50 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 45 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 40 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 35 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 30 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 25 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 20 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 15 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 10 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 5 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 13 AND length(CAST(:text AS BLOB)) = 13 AND :text NOT GLOB '*[^0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]*' AND upper(:text) <= '7ZZZZZZZZZZZZ' THEN ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 1, 1)) - 1) << 60)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 2, 1)) - 1) << 55)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 3, 1)) - 1) << 50)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 4, 1)) - 1) << 45)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 5, 1)) - 1) << 40)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 6, 1)) - 1) << 35)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 7, 1)) - 1) << 30)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 8, 1)) - 1) << 25)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 9, 1)) - 1) << 20)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 10, 1)) - 1) << 15)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 11, 1)) - 1) << 10)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 12, 1)) - 1) << 5)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 13, 1)) - 1) << 0) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 | 1048575 END
-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version 1.
--   ulidflake-scalable --epoch 2024-01-01T00:00:00Z
--
-- The column `id` holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE `id` BETWEEN (expression first) AND (expression last)

-- ulidflake-scalable
--
-- A second run changes nothing: SQLite refuses a column that exists.

ALTER TABLE `orders` ADD COLUMN `id_time` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 20 & 8796093022207) + 1704067200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 20 & 8796093022207) + 1704067200000) % 1000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_unix_ms` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 20 & 8796093022207) + 1704067200000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_randomness` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 5 & 32767) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_scalability` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 31) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_text` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 60 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 55 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 50 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 45 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 40 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 35 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 30 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 25 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 20 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 15 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 10 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 5 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 0 & 31) + 1, 1) END) VIRTUAL;
CREATE INDEX IF NOT EXISTS `orders_id_time` ON `orders`(`id_time`);

-- Expressions
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN datetime(((`id` >> 20 & 8796093022207) + 1704067200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 20 & 8796093022207) + 1704067200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN ((`id` >> 20 & 8796093022207) + 1704067200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 20 & 8796093022207) END
--
-- randomness: the randomness of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 5 & 32767) END
--
-- scalability: the scalability of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN (`id` >> 0 & 31) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9223372036854775807 THEN substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 60 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 55 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 50 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 45 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 40 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 35 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 30 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 25 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 20 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 15 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 10 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 5 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (`id` >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 13 AND length(CAST(:text AS BLOB)) = 13 AND :text NOT GLOB '*[^0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]*' AND upper(:text) <= '7ZZZZZZZZZZZZ' THEN ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 1, 1)) - 1) << 60)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 2, 1)) - 1) << 55)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 3, 1)) - 1) << 50)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 4, 1)) - 1) << 45)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 5, 1)) - 1) << 40)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 6, 1)) - 1) << 35)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 7, 1)) - 1) << 30)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 8, 1)) - 1) << 25)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 9, 1)) - 1) << 20)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 10, 1)) - 1) << 15)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 11, 1)) - 1) << 10)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 12, 1)) - 1) << 5)
--    + ((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(upper(:text), 13, 1)) - 1) << 0) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1704067200000), 10500160222207) - 1704067200000) << 20 | 1048575 END
-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version 1.
--   snowflakesi --epoch 2021-01-01T00:00:00Z --clock-bits 40 --machine-bits 5
--
-- The column `id` holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE `id` BETWEEN (expression first) AND (expression last)

-- snowflakesi
--
-- A second run changes nothing: SQLite refuses a column that exists.

ALTER TABLE `orders` ADD COLUMN `id_time` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN datetime(((`id` >> 13 & 1099511627775) + 1609459200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 13 & 1099511627775) + 1609459200000) % 1000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_unix_ms` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN ((`id` >> 13 & 1099511627775) + 1609459200000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_machine_id` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 8 & 31) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_sequence` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 0 & 255) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_text` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN CAST(`id` AS TEXT) END) VIRTUAL;
CREATE INDEX IF NOT EXISTS `orders_id_time` ON `orders`(`id_time`);

-- Expressions
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN datetime(((`id` >> 13 & 1099511627775) + 1609459200000) / 1000, 'unixepoch') || printf('.%03d', ((`id` >> 13 & 1099511627775) + 1609459200000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN ((`id` >> 13 & 1099511627775) + 1609459200000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 13 & 1099511627775) END
--
-- machine_id: the machine id of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 8 & 31) END
--
-- sequence: the sequence of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN (`id` >> 0 & 255) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'integer' AND `id` BETWEEN 0 AND 9007199254740991 THEN CAST(`id` AS TEXT) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) BETWEEN 1 AND 16 AND length(CAST(:text AS BLOB)) = length(:text) AND :text NOT GLOB '*[^0-9]*' AND CAST(:text AS INTEGER) <= 9007199254740991 THEN CAST(:text AS INTEGER) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 2708970827775) - 1609459200000) << 13 END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN (min(max(CAST(round(:at) AS INTEGER), 1609459200000), 2708970827775) - 1609459200000) << 13 | 8191 END
-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version 1.
--   scru160
--
-- The column `id` holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE `id` BETWEEN (expression first) AND (expression last)

-- scru160
--
-- A second run changes nothing: SQLite refuses a column that exists.

ALTER TABLE `orders` ADD COLUMN `id_time` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN datetime(((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) / 1000, 'unixepoch') || printf('.%03d', ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) % 1000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_unix_ms` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_counter` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 15, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 0)) >> 0 & 65535) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_random16` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 20, 1)) << 0)) >> 0 & 65535) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_random80` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN lower(substr(hex(`id`), 21)) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_text` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 2, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 3, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 4, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 5, 1))) >> 0 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 7, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 8, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 9, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 10, 1))) >> 0 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 12, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 13, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 14, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 15, 1))) >> 0 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 17, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 18, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 19, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 20, 1))) >> 0 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 21, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 22, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 22, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 23, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 23, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 24, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 24, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 25, 1))) >> 0 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 26, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 27, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 27, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 28, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 28, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 29, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 29, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 30, 1))) >> 0 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 31, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 32, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 32, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 33, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 33, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 34, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 34, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 35, 1))) >> 0 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 36, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 37, 1))) >> 3 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 37, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 38, 1))) >> 2 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 38, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 39, 1))) >> 1 & 31) + 1, 1)
 || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 39, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 40, 1))) >> 0 & 31) + 1, 1) END) VIRTUAL;
CREATE INDEX IF NOT EXISTS `orders_id_time` ON `orders`(`id_time`);

-- Expressions
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN datetime(((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) / 1000, 'unixepoch') || printf('.%03d', ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) + 0) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 44) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 40) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 281474976710655) END
--
-- counter: the counter of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 15, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 0)) >> 0 & 65535) END
--
-- random16: the random16 of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 20, 1)) << 0)) >> 0 & 65535) END
--
-- random80: the random80 of the ID in hexadecimal
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN lower(substr(hex(`id`), 21)) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 20 THEN substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 2, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 3, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 4, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 5, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 7, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 8, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 9, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 10, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 12, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 13, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 14, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 15, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 17, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 18, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 19, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 20, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 21, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 22, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 22, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 23, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 23, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 24, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 24, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 25, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 26, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 27, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 27, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 28, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 28, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 29, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 29, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 30, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 31, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 32, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 32, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 33, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 33, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 34, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 34, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 35, 1))) >> 0 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 36, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 37, 1))) >> 3 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 37, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 38, 1))) >> 2 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 38, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 39, 1))) >> 1 & 31) + 1, 1)
--    || substr('0123456789ABCDEFGHIJKLMNOPQRSTUV', ((instr('123456789ABCDEF', substr(hex(`id`), 39, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 40, 1))) >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 32 AND length(CAST(:text AS BLOB)) = 32 AND :text NOT GLOB '*[^0-9A-Va-v]*' THEN unhex(substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 1, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 1, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 2, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 2, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 3, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 3, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 4, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 4, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 5, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 5, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 6, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 6, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 7, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 7, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 8, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 8, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 9, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 9, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 10, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 10, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 11, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 11, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 12, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 12, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 13, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 13, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 14, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 14, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 15, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 15, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 16, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 16, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 17, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 17, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 18, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 18, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 19, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 19, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 20, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 20, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 21, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 21, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 22, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 22, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 23, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 23, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 24, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 24, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 25, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 25, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 26, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 26, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 27, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 27, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 28, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 28, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 29, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 29, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 30, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 30, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 31, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 31, 1)) - 1) << 5 | (instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 32, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('0123456789ABCDEFGHIJKLMNOPQRSTUV', substr(upper(:text), 32, 1)) - 1) >> 0 & 15) + 1, 1)) WHEN typeof(:text) = 'text' AND length(:text) = 40 AND length(CAST(:text AS BLOB)) = 40 AND :text NOT GLOB '*[^0-9A-Fa-f]*' THEN unhex(:text) END
--
-- first: the smallest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%012x', (min(max(CAST(round(:at) AS INTEGER), 0), 281474976710655) - 0)) || '0000000000000000000000000000') END
--
-- last: the largest ID of the millisecond of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%012x', (min(max(CAST(round(:at) AS INTEGER), 0), 281474976710655) - 0)) || 'ffffffffffffffffffffffffffff') END
-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version 1.
--   sno
--
-- The column `id` holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE `id` BETWEEN (expression first) AND (expression last)

-- sno
--
-- A second run changes nothing: SQLite refuses a column that exists.

ALTER TABLE `orders` ADD COLUMN `id_time` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN datetime(((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) / 1000, 'unixepoch') || printf('.%03d', ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) % 1000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_unix_ms` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_tick_tock` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 0 & 1) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_meta` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 255) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_partition` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 15, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 0)) >> 0 & 65535) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_sequence` INTEGER GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 20, 1)) << 0)) >> 0 & 65535) END) VIRTUAL;
ALTER TABLE `orders` ADD COLUMN `id_text` TEXT GENERATED ALWAYS AS (CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 2, 1))) >> 3 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 3, 1))) >> 2 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 4, 1))) >> 1 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 5, 1))) >> 0 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 7, 1))) >> 3 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 8, 1))) >> 2 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 9, 1))) >> 1 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 10, 1))) >> 0 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 12, 1))) >> 3 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 13, 1))) >> 2 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 14, 1))) >> 1 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 15, 1))) >> 0 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 17, 1))) >> 3 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 18, 1))) >> 2 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 19, 1))) >> 1 & 31) + 1, 1)
 || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 20, 1))) >> 0 & 31) + 1, 1) END) VIRTUAL;
CREATE INDEX IF NOT EXISTS `orders_id_time` ON `orders`(`id_time`);

-- Expressions
--
-- time: the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN datetime(((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) / 1000, 'unixepoch') || printf('.%03d', ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) % 1000) END
--
-- unix_ms: the time of the ID in Unix milliseconds
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN ((((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) * 4 + 1262304000000) END
--
-- timestamp: the timestamp of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 36) + (instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 32) + (instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 28) + (instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 24) + (instr('123456789ABCDEF', substr(hex(`id`), 5, 1)) << 20) + (instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 16) + (instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 1 & 549755813887) END
--
-- tick_tock: the tick tock of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 10, 1)) << 0)) >> 0 & 1) END
--
-- meta: the meta of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 0)) >> 0 & 255) END
--
-- partition: the partition of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 15, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 0)) >> 0 & 65535) END
--
-- sequence: the sequence of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN (((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 12) + (instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 8) + (instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4) + (instr('123456789ABCDEF', substr(hex(`id`), 20, 1)) << 0)) >> 0 & 65535) END
--
-- text: the canonical text of the ID
--   CASE WHEN typeof(`id`) = 'blob' AND length(`id`) = 10 THEN substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 1, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 2, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 2, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 3, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 3, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 4, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 4, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 5, 1))) >> 0 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 6, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 7, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 7, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 8, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 8, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 9, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 9, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 10, 1))) >> 0 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 11, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 12, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 12, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 13, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 13, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 14, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 14, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 15, 1))) >> 0 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 16, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 17, 1))) >> 3 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 17, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 18, 1))) >> 2 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 18, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 19, 1))) >> 1 & 31) + 1, 1)
--    || substr('23456789abcdefghijklmnopqrstuvwx', ((instr('123456789ABCDEF', substr(hex(`id`), 19, 1)) << 4 | instr('123456789ABCDEF', substr(hex(`id`), 20, 1))) >> 0 & 31) + 1, 1) END
--
-- parse: the ID of :text
--   CASE WHEN typeof(:text) = 'text' AND length(:text) = 16 AND length(CAST(:text AS BLOB)) = 16 AND :text NOT GLOB '*[^2-9a-x]*' THEN unhex(substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 1, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 1, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 2, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 2, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 3, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 3, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 4, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 4, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 5, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 5, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 6, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 6, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 7, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 7, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 8, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 8, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 9, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 9, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 10, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 10, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 11, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 11, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 12, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 12, 1)) - 1) >> 0 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 13, 1)) - 1) >> 1 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 13, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 14, 1)) - 1)) >> 2 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 14, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 15, 1)) - 1)) >> 3 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', (((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 15, 1)) - 1) << 5 | (instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 16, 1)) - 1)) >> 4 & 15) + 1, 1)
--    || substr('0123456789ABCDEF', ((instr('23456789abcdefghijklmnopqrstuvwx', substr(:text, 16, 1)) - 1) >> 0 & 15) + 1, 1)) END
--
-- first: the smallest ID of the 4 milliseconds of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%010x', (min(max(CAST(round(:at) AS INTEGER), 1262304000000), 3461327255551) - 1262304000000) / 4 * 2) || '0000000000') END
--
-- last: the largest ID of the 4 milliseconds of :at
--   CASE WHEN typeof(:at) IN ('integer', 'real') THEN unhex(printf('%010x', (min(max(CAST(round(:at) AS INTEGER), 1262304000000), 3461327255551) - 1262304000000) / 4 * 2 + 1) || 'ffffffffff') END
