-- Functions about IDs for PostgreSQL 14 or later. Printed by firn sql postgres, version 1.
--   nanoflake --epoch 2021-01-01T00:00:00Z
--   ulidflake --epoch 2024-01-01T00:00:00Z
--   ulidflake-scalable --epoch 2024-01-01T00:00:00Z
--   snowflakesi --epoch 2021-01-01T00:00:00Z --clock-bits 40 --machine-bits 5
--   scru160
--   sno
--
-- The script may run again. Indexes may hold results of the functions, so no version of the script
-- changes a result: a function with other results has a name of its own.

BEGIN;

-- Whatever the search_path of the session is, a name without a schema is a name of PostgreSQL itself.
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;

-- Callers run what is in the schema, some of it with the rights of the owner. So one role owns the
-- schema and all that is in it, runs the script, and alone can create in the schema.
DO $$
DECLARE
  other record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('firn sql'));
  IF to_regnamespace('firn') IS NULL THEN
    CREATE SCHEMA firn;
    COMMENT ON SCHEMA firn IS 'Made by firn sql';
  END IF;
  SELECT pg_get_userbyid(nspowner) AS owner INTO other FROM pg_namespace WHERE nspname = 'firn' AND pg_get_userbyid(nspowner) <> current_user;
  IF FOUND THEN
    RAISE EXCEPTION 'firn: the schema firn belongs to role %, and the script runs as role %', quote_ident(other.owner), quote_ident(current_user)
      USING ERRCODE = 'insufficient_privilege',
        HINT = 'Run the script as the owner of the schema. For another owner, run the scripts of --down first, as this owner.';
  END IF;
  SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS name INTO other
    FROM pg_namespace n, aclexplode(n.nspacl) a WHERE n.nspname = 'firn' AND a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner;
  IF FOUND THEN
    RAISE EXCEPTION 'firn: % can create in the schema firn', other.name
      USING ERRCODE = 'insufficient_privilege', HINT = format('REVOKE CREATE ON SCHEMA firn FROM %s', other.name);
  END IF;
  -- An owner without an entry in pg_shdepend is the role that made the cluster.
  SELECT pg_describe_object(d.classid, d.objid, 0) AS name, pg_get_userbyid(coalesce(s.refobjid, 10)) AS owner INTO other
    FROM pg_namespace n JOIN pg_depend d ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid
      LEFT JOIN pg_shdepend s ON s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND s.classid = d.classid AND s.objid = d.objid AND s.objsubid = 0 AND s.deptype = 'o'
    WHERE n.nspname = 'firn' AND d.deptype = 'n' AND coalesce(s.refobjid, 10) <> n.nspowner;
  IF FOUND THEN
    RAISE EXCEPTION 'firn: % belongs to role %, and the schema firn to role %', other.name, quote_ident(other.owner), quote_ident(current_user)
      USING ERRCODE = 'insufficient_privilege', HINT = 'The owner of an object can replace the object. If Firn has made it, run the script of --down first. Otherwise move it to another schema.';
  END IF;
END $$;

DO $$
BEGIN
  IF current_setting('server_version_num')::integer < 140000 THEN
    RAISE EXCEPTION 'firn: the functions need PostgreSQL 14 or later';
  END IF;
  IF to_regprocedure('firn.version()') IS NOT NULL THEN
    IF firn.version() > 1 THEN
      RAISE EXCEPTION 'firn: the functions have version %, this script has version 1', firn.version()
        USING HINT = 'Print the script by a firn that is at least as new as the functions.';
    END IF;
  END IF;
  IF to_regprocedure('firn.nanoflake_epoch()') IS NOT NULL THEN
    IF firn.nanoflake_epoch() <> timestamp '2021-01-01 00:00:00.000' AT TIME ZONE 'UTC' THEN
      RAISE EXCEPTION 'firn: firn.nanoflake_epoch() is %, not %', firn.nanoflake_epoch(), timestamp '2021-01-01 00:00:00.000' AT TIME ZONE 'UTC'
        USING HINT = 'Print the script with the setting of the functions. To change the setting, begin with firn sql postgres nanoflake --down, which drops the functions.';
    END IF;
  END IF;
  IF to_regprocedure('firn.ulidflake_epoch()') IS NOT NULL THEN
    IF firn.ulidflake_epoch() <> timestamp '2024-01-01 00:00:00.000' AT TIME ZONE 'UTC' THEN
      RAISE EXCEPTION 'firn: firn.ulidflake_epoch() is %, not %', firn.ulidflake_epoch(), timestamp '2024-01-01 00:00:00.000' AT TIME ZONE 'UTC'
        USING HINT = 'Print the script with the setting of the functions. To change the setting, begin with firn sql postgres ulidflake --down, which drops the functions.';
    END IF;
  END IF;
  IF to_regprocedure('firn.ulidflake_scalable_epoch()') IS NOT NULL THEN
    IF firn.ulidflake_scalable_epoch() <> timestamp '2024-01-01 00:00:00.000' AT TIME ZONE 'UTC' THEN
      RAISE EXCEPTION 'firn: firn.ulidflake_scalable_epoch() is %, not %', firn.ulidflake_scalable_epoch(), timestamp '2024-01-01 00:00:00.000' AT TIME ZONE 'UTC'
        USING HINT = 'Print the script with the setting of the functions. To change the setting, begin with firn sql postgres ulidflake-scalable --down, which drops the functions.';
    END IF;
  END IF;
  IF to_regprocedure('firn.snowflakesi_epoch()') IS NOT NULL THEN
    IF firn.snowflakesi_epoch() <> timestamp '2021-01-01 00:00:00.000' AT TIME ZONE 'UTC' THEN
      RAISE EXCEPTION 'firn: firn.snowflakesi_epoch() is %, not %', firn.snowflakesi_epoch(), timestamp '2021-01-01 00:00:00.000' AT TIME ZONE 'UTC'
        USING HINT = 'Print the script with the setting of the functions. To change the setting, begin with firn sql postgres snowflakesi --down, which drops the functions.';
    END IF;
  END IF;
  IF to_regprocedure('firn.snowflakesi_layout()') IS NOT NULL THEN
    IF firn.snowflakesi_layout() <> '40-5-8'::text THEN
      RAISE EXCEPTION 'firn: firn.snowflakesi_layout() is %, not %', firn.snowflakesi_layout(), '40-5-8'::text
        USING HINT = 'Print the script with the setting of the functions. To change the setting, begin with firn sql postgres snowflakesi --down, which drops the functions.';
    END IF;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION firn.version() RETURNS integer
LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN 1;
COMMENT ON FUNCTION firn.version() IS 'The version of the functions';

CREATE OR REPLACE FUNCTION firn.refuse(kind text, input text, place integer, reason text, hint text) RETURNS void
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'invalid_text_representation',
    MESSAGE = kind || ': ' || to_json(left(input, 64)) || CASE WHEN length(input) > 64 THEN '...' ELSE '' END || ': '
      || CASE WHEN place >= 0 THEN 'offset ' || place || ': ' ELSE '' END || reason,
    HINT = hint;
END
$$;
COMMENT ON FUNCTION firn.refuse(kind text, input text, place integer, reason text, hint text) IS 'Raises the error of an input that is not an ID; place is the offset of the fault, or -1';

CREATE OR REPLACE FUNCTION firn.letters(kind text, input text, size integer, alphabet text, alphabet_name text) RETURNS void
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place integer;
BEGIN
  IF octet_length(input) <> size THEN
    PERFORM firn.refuse(kind, input, -1, 'length is ' || octet_length(input) || ', not ' || size,
      'Use the whole text of an ID of this format.');
  END IF;
  place := size - octet_length(ltrim(input, alphabet));
  IF place < size THEN
    PERFORM firn.refuse(kind, input, place, 'character ' || quote_literal(substr(input, place + 1, 1)) || ' is not ' || alphabet_name,
      'Use the text of an ID of this format, without changes.');
  END IF;
END
$$;
COMMENT ON FUNCTION firn.letters(kind text, input text, size integer, alphabet text, alphabet_name text) IS 'Raises an error unless the input has this many bytes, all in the alphabet';

CREATE OR REPLACE FUNCTION firn.ticks(t timestamptz, epoch bigint, last bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN least(greatest(floor(extract(epoch FROM t AT TIME ZONE 'UTC') * 1000) - epoch, 0), last)::bigint;
END
$$;
COMMENT ON FUNCTION firn.ticks(t timestamptz, epoch bigint, last bigint) IS 'Milliseconds from the epoch to t, limited to 0 to last';

CREATE OR REPLACE FUNCTION firn.uint(id bytea, start integer, size integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('x' || lpad(encode(substr(id, start + 1, size), 'hex'), 16, '0'))::bit(64)::bigint;
COMMENT ON FUNCTION firn.uint(id bytea, start integer, size integer) IS 'The unsigned integer of up to 7 bytes, the most significant first';

-- nanoflake

CREATE OR REPLACE FUNCTION firn.nanoflake_epoch() RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN timestamp '2021-01-01 00:00:00.000' AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.nanoflake_epoch() IS 'The epoch of nanoflake';

CREATE OR REPLACE FUNCTION firn.nanoflake_check(id bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF id OPERATOR(pg_catalog.<) 0::bigint OR id OPERATOR(pg_catalog.>) 9223372036854775807::bigint THEN
    PERFORM firn.refuse('nanoflake', id::pg_catalog.text, -1, 'value is not in 0 to 9223372036854775807', 'Use an ID of this format, without changes.');
  END IF;
  RETURN id;
END
$$;
COMMENT ON FUNCTION firn.nanoflake_check(id bigint) IS 'Returns the ID; raises an error for an integer out of range';

CREATE OR REPLACE FUNCTION firn.nanoflake_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '2021-01-01 00:00:00.000' + (firn.nanoflake_check(id) >> 22) * interval '1 millisecond') AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.nanoflake_time(id bigint) IS 'The time of the ID, to the millisecond';

CREATE OR REPLACE FUNCTION firn.nanoflake_timestamp(id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.nanoflake_check(id) >> 22;
COMMENT ON FUNCTION firn.nanoflake_timestamp(id bigint) IS 'The timestamp of the ID';

CREATE OR REPLACE FUNCTION firn.nanoflake_generator_id(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.nanoflake_check(id) >> 12 & 1023)::integer;
COMMENT ON FUNCTION firn.nanoflake_generator_id(id bigint) IS 'The generator id of the ID';

CREATE OR REPLACE FUNCTION firn.nanoflake_sequence(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.nanoflake_check(id) & 4095)::integer;
COMMENT ON FUNCTION firn.nanoflake_sequence(id bigint) IS 'The sequence of the ID';

CREATE OR REPLACE FUNCTION firn.nanoflake_first(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1609459200000, 2199023255551) << 22;
COMMENT ON FUNCTION firn.nanoflake_first(t timestamptz) IS 'The smallest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.nanoflake_last(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1609459200000, 2199023255551) << 22 | 4194303;
COMMENT ON FUNCTION firn.nanoflake_last(t timestamptz) IS 'The largest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.nanoflake_text(id bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789abcdefghijklmnopqrstuvwxyz';
  v bigint := firn.nanoflake_check(id);
BEGIN
  RETURN substr(d, (v / 4738381338321616896 % 36)::integer + 1, 1)
    || substr(d, (v / 131621703842267136 % 36)::integer + 1, 1)
    || substr(d, (v / 3656158440062976 % 36)::integer + 1, 1)
    || substr(d, (v / 101559956668416 % 36)::integer + 1, 1)
    || substr(d, (v / 2821109907456 % 36)::integer + 1, 1)
    || substr(d, (v / 78364164096 % 36)::integer + 1, 1)
    || substr(d, (v / 2176782336 % 36)::integer + 1, 1)
    || substr(d, (v / 60466176 % 36)::integer + 1, 1)
    || substr(d, (v / 1679616 % 36)::integer + 1, 1)
    || substr(d, (v / 46656 % 36)::integer + 1, 1)
    || substr(d, (v / 1296 % 36)::integer + 1, 1)
    || substr(d, (v / 36 % 36)::integer + 1, 1)
    || substr(d, (v / 1 % 36)::integer + 1, 1);
END
$$;
COMMENT ON FUNCTION firn.nanoflake_text(id bigint) IS 'The canonical text of the ID';

CREATE OR REPLACE FUNCTION firn.nanoflake_parse(s text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  u text COLLATE "C" := translate(s, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
BEGIN
  PERFORM firn.letters('nanoflake', s, 13, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 'a base-36 digit');
  IF u > '1Y2P0IJ32E8E7' THEN
    PERFORM firn.refuse('nanoflake', s, -1, 'value is not in 0 to 1y2p0ij32e8e7', 'Use the text of an ID of this format, without changes.');
  END IF;
  RETURN (strpos(d, substr(u, 1, 1)) - 1) * 4738381338321616896
    + (strpos(d, substr(u, 2, 1)) - 1) * 131621703842267136
    + (strpos(d, substr(u, 3, 1)) - 1) * 3656158440062976
    + (strpos(d, substr(u, 4, 1)) - 1) * 101559956668416
    + (strpos(d, substr(u, 5, 1)) - 1) * 2821109907456
    + (strpos(d, substr(u, 6, 1)) - 1) * 78364164096
    + (strpos(d, substr(u, 7, 1)) - 1) * 2176782336
    + (strpos(d, substr(u, 8, 1)) - 1) * 60466176
    + (strpos(d, substr(u, 9, 1)) - 1) * 1679616
    + (strpos(d, substr(u, 10, 1)) - 1) * 46656
    + (strpos(d, substr(u, 11, 1)) - 1) * 1296
    + (strpos(d, substr(u, 12, 1)) - 1) * 36
    + (strpos(d, substr(u, 13, 1)) - 1) * 1;
END
$$;
COMMENT ON FUNCTION firn.nanoflake_parse(s text) IS 'The ID of a text; raises an error for any other text';

-- ulidflake

CREATE OR REPLACE FUNCTION firn.ulidflake_epoch() RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN timestamp '2024-01-01 00:00:00.000' AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.ulidflake_epoch() IS 'The epoch of ulidflake';

CREATE OR REPLACE FUNCTION firn.ulidflake_check(id bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF id OPERATOR(pg_catalog.<) 0::bigint OR id OPERATOR(pg_catalog.>) 9223372036854775807::bigint THEN
    PERFORM firn.refuse('ulidflake', id::pg_catalog.text, -1, 'value is not in 0 to 9223372036854775807', 'Use an ID of this format, without changes.');
  END IF;
  RETURN id;
END
$$;
COMMENT ON FUNCTION firn.ulidflake_check(id bigint) IS 'Returns the ID; raises an error for an integer out of range';

CREATE OR REPLACE FUNCTION firn.ulidflake_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '2024-01-01 00:00:00.000' + (firn.ulidflake_check(id) >> 20) * interval '1 millisecond') AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.ulidflake_time(id bigint) IS 'The time of the ID, to the millisecond';

CREATE OR REPLACE FUNCTION firn.ulidflake_timestamp(id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ulidflake_check(id) >> 20;
COMMENT ON FUNCTION firn.ulidflake_timestamp(id bigint) IS 'The timestamp of the ID';

CREATE OR REPLACE FUNCTION firn.ulidflake_randomness(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.ulidflake_check(id) & 1048575)::integer;
COMMENT ON FUNCTION firn.ulidflake_randomness(id bigint) IS 'The randomness of the ID';

CREATE OR REPLACE FUNCTION firn.ulidflake_first(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1704067200000, 8796093022207) << 20;
COMMENT ON FUNCTION firn.ulidflake_first(t timestamptz) IS 'The smallest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.ulidflake_last(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1704067200000, 8796093022207) << 20 | 1048575;
COMMENT ON FUNCTION firn.ulidflake_last(t timestamptz) IS 'The largest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.ulidflake_text(id bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  v bigint := firn.ulidflake_check(id);
BEGIN
  RETURN substr(d, (v >> 60 & 31)::integer + 1, 1)
    || substr(d, (v >> 55 & 31)::integer + 1, 1)
    || substr(d, (v >> 50 & 31)::integer + 1, 1)
    || substr(d, (v >> 45 & 31)::integer + 1, 1)
    || substr(d, (v >> 40 & 31)::integer + 1, 1)
    || substr(d, (v >> 35 & 31)::integer + 1, 1)
    || substr(d, (v >> 30 & 31)::integer + 1, 1)
    || substr(d, (v >> 25 & 31)::integer + 1, 1)
    || substr(d, (v >> 20 & 31)::integer + 1, 1)
    || substr(d, (v >> 15 & 31)::integer + 1, 1)
    || substr(d, (v >> 10 & 31)::integer + 1, 1)
    || substr(d, (v >> 5 & 31)::integer + 1, 1)
    || substr(d, (v >> 0 & 31)::integer + 1, 1);
END
$$;
COMMENT ON FUNCTION firn.ulidflake_text(id bigint) IS 'The canonical text of the ID';

CREATE OR REPLACE FUNCTION firn.ulidflake_parse(s text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  u text COLLATE "C" := translate(s, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
BEGIN
  PERFORM firn.letters('ulidflake', s, 13, '0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz', 'in Crockford''s base-32');
  IF u > '7ZZZZZZZZZZZZ' THEN
    PERFORM firn.refuse('ulidflake', s, -1, 'value is not in 0000000000000 to 7ZZZZZZZZZZZZ', 'Use the text of an ID of this format, without changes.');
  END IF;
  RETURN ((strpos(d, substr(u, 1, 1)) - 1)::bigint << 60)
    | ((strpos(d, substr(u, 2, 1)) - 1)::bigint << 55)
    | ((strpos(d, substr(u, 3, 1)) - 1)::bigint << 50)
    | ((strpos(d, substr(u, 4, 1)) - 1)::bigint << 45)
    | ((strpos(d, substr(u, 5, 1)) - 1)::bigint << 40)
    | ((strpos(d, substr(u, 6, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 7, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 8, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 9, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 10, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 11, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 12, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 13, 1)) - 1)::bigint << 0);
END
$$;
COMMENT ON FUNCTION firn.ulidflake_parse(s text) IS 'The ID of a text; raises an error for any other text';

-- ulidflake-scalable

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_epoch() RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN timestamp '2024-01-01 00:00:00.000' AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.ulidflake_scalable_epoch() IS 'The epoch of ulidflake-scalable';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_check(id bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF id OPERATOR(pg_catalog.<) 0::bigint OR id OPERATOR(pg_catalog.>) 9223372036854775807::bigint THEN
    PERFORM firn.refuse('ulidflake-scalable', id::pg_catalog.text, -1, 'value is not in 0 to 9223372036854775807', 'Use an ID of this format, without changes.');
  END IF;
  RETURN id;
END
$$;
COMMENT ON FUNCTION firn.ulidflake_scalable_check(id bigint) IS 'Returns the ID; raises an error for an integer out of range';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '2024-01-01 00:00:00.000' + (firn.ulidflake_scalable_check(id) >> 20) * interval '1 millisecond') AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.ulidflake_scalable_time(id bigint) IS 'The time of the ID, to the millisecond';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_timestamp(id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ulidflake_scalable_check(id) >> 20;
COMMENT ON FUNCTION firn.ulidflake_scalable_timestamp(id bigint) IS 'The timestamp of the ID';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_randomness(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.ulidflake_scalable_check(id) >> 5 & 32767)::integer;
COMMENT ON FUNCTION firn.ulidflake_scalable_randomness(id bigint) IS 'The randomness of the ID';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_scalability(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.ulidflake_scalable_check(id) & 31)::integer;
COMMENT ON FUNCTION firn.ulidflake_scalable_scalability(id bigint) IS 'The scalability of the ID';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_first(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1704067200000, 8796093022207) << 20;
COMMENT ON FUNCTION firn.ulidflake_scalable_first(t timestamptz) IS 'The smallest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_last(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1704067200000, 8796093022207) << 20 | 1048575;
COMMENT ON FUNCTION firn.ulidflake_scalable_last(t timestamptz) IS 'The largest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_text(id bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  v bigint := firn.ulidflake_scalable_check(id);
BEGIN
  RETURN substr(d, (v >> 60 & 31)::integer + 1, 1)
    || substr(d, (v >> 55 & 31)::integer + 1, 1)
    || substr(d, (v >> 50 & 31)::integer + 1, 1)
    || substr(d, (v >> 45 & 31)::integer + 1, 1)
    || substr(d, (v >> 40 & 31)::integer + 1, 1)
    || substr(d, (v >> 35 & 31)::integer + 1, 1)
    || substr(d, (v >> 30 & 31)::integer + 1, 1)
    || substr(d, (v >> 25 & 31)::integer + 1, 1)
    || substr(d, (v >> 20 & 31)::integer + 1, 1)
    || substr(d, (v >> 15 & 31)::integer + 1, 1)
    || substr(d, (v >> 10 & 31)::integer + 1, 1)
    || substr(d, (v >> 5 & 31)::integer + 1, 1)
    || substr(d, (v >> 0 & 31)::integer + 1, 1);
END
$$;
COMMENT ON FUNCTION firn.ulidflake_scalable_text(id bigint) IS 'The canonical text of the ID';

CREATE OR REPLACE FUNCTION firn.ulidflake_scalable_parse(s text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  u text COLLATE "C" := translate(s, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
BEGIN
  PERFORM firn.letters('ulidflake-scalable', s, 13, '0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz', 'in Crockford''s base-32');
  IF u > '7ZZZZZZZZZZZZ' THEN
    PERFORM firn.refuse('ulidflake-scalable', s, -1, 'value is not in 0000000000000 to 7ZZZZZZZZZZZZ', 'Use the text of an ID of this format, without changes.');
  END IF;
  RETURN ((strpos(d, substr(u, 1, 1)) - 1)::bigint << 60)
    | ((strpos(d, substr(u, 2, 1)) - 1)::bigint << 55)
    | ((strpos(d, substr(u, 3, 1)) - 1)::bigint << 50)
    | ((strpos(d, substr(u, 4, 1)) - 1)::bigint << 45)
    | ((strpos(d, substr(u, 5, 1)) - 1)::bigint << 40)
    | ((strpos(d, substr(u, 6, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 7, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 8, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 9, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 10, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 11, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 12, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 13, 1)) - 1)::bigint << 0);
END
$$;
COMMENT ON FUNCTION firn.ulidflake_scalable_parse(s text) IS 'The ID of a text; raises an error for any other text';

-- snowflakesi

CREATE OR REPLACE FUNCTION firn.snowflakesi_epoch() RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN timestamp '2021-01-01 00:00:00.000' AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.snowflakesi_epoch() IS 'The epoch of snowflakesi';

CREATE OR REPLACE FUNCTION firn.snowflakesi_layout() RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN '40-5-8'::text;
COMMENT ON FUNCTION firn.snowflakesi_layout() IS 'The bits of the fields of snowflakesi';

CREATE OR REPLACE FUNCTION firn.snowflakesi_check(id bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF id OPERATOR(pg_catalog.<) 0::bigint OR id OPERATOR(pg_catalog.>) 9007199254740991::bigint THEN
    PERFORM firn.refuse('snowflakesi', id::pg_catalog.text, -1, 'value is not in 0 to 9007199254740991', 'Use an ID of this format, without changes.');
  END IF;
  RETURN id;
END
$$;
COMMENT ON FUNCTION firn.snowflakesi_check(id bigint) IS 'Returns the ID; raises an error for an integer out of range';

CREATE OR REPLACE FUNCTION firn.snowflakesi_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '2021-01-01 00:00:00.000' + (firn.snowflakesi_check(id) >> 13) * interval '1 millisecond') AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.snowflakesi_time(id bigint) IS 'The time of the ID, to the millisecond';

CREATE OR REPLACE FUNCTION firn.snowflakesi_timestamp(id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.snowflakesi_check(id) >> 13;
COMMENT ON FUNCTION firn.snowflakesi_timestamp(id bigint) IS 'The timestamp of the ID';

CREATE OR REPLACE FUNCTION firn.snowflakesi_machine_id(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.snowflakesi_check(id) >> 8 & 31)::integer;
COMMENT ON FUNCTION firn.snowflakesi_machine_id(id bigint) IS 'The machine id of the ID';

CREATE OR REPLACE FUNCTION firn.snowflakesi_sequence(id bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.snowflakesi_check(id) & 255)::integer;
COMMENT ON FUNCTION firn.snowflakesi_sequence(id bigint) IS 'The sequence of the ID';

CREATE OR REPLACE FUNCTION firn.snowflakesi_first(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1609459200000, 1099511627775) << 13;
COMMENT ON FUNCTION firn.snowflakesi_first(t timestamptz) IS 'The smallest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.snowflakesi_last(t timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.ticks(t, 1609459200000, 1099511627775) << 13 | 8191;
COMMENT ON FUNCTION firn.snowflakesi_last(t timestamptz) IS 'The largest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.snowflakesi_text(id bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.snowflakesi_check(id)::text;
COMMENT ON FUNCTION firn.snowflakesi_text(id bigint) IS 'The canonical text of the ID';

CREATE OR REPLACE FUNCTION firn.snowflakesi_parse(s text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF octet_length(s) NOT BETWEEN 1 AND 16 THEN
    PERFORM firn.refuse('snowflakesi', s, -1, 'length is ' || octet_length(s) || ', not 1 to 16', 'Use the whole text of an ID of this format.');
  END IF;
  PERFORM firn.letters('snowflakesi', s, octet_length(s), '0123456789', 'a decimal digit');
  IF s::bigint > 9007199254740991 THEN
    PERFORM firn.refuse('snowflakesi', s, -1, 'value is not in 0 to 9007199254740991', 'Use the text of an ID of this format, without changes.');
  END IF;
  RETURN s::bigint;
END
$$;
COMMENT ON FUNCTION firn.snowflakesi_parse(s text) IS 'The ID of a text; raises an error for any other text';

-- scru160

CREATE OR REPLACE FUNCTION firn.scru160_check(id bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF pg_catalog.octet_length(id) OPERATOR(pg_catalog.<>) 20 THEN
    PERFORM firn.refuse('scru160', pg_catalog.encode(pg_catalog.substr(id, 1, 32), 'hex'), -1,
      pg_catalog.format('length is %s, not 20 bytes', pg_catalog.octet_length(id)),
      'Use the binary form of an ID. firn.scru160_parse reads texts.');
  END IF;
  RETURN id;
END
$$;
COMMENT ON FUNCTION firn.scru160_check(id bytea) IS 'Returns the ID; raises an error unless it has 20 bytes';

CREATE OR REPLACE FUNCTION firn.scru160_timestamp(id bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.uint(firn.scru160_check(id), 0, 6);
COMMENT ON FUNCTION firn.scru160_timestamp(id bytea) IS 'The timestamp of the ID';

CREATE OR REPLACE FUNCTION firn.scru160_counter(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.uint(firn.scru160_check(id), 6, 2))::integer;
COMMENT ON FUNCTION firn.scru160_counter(id bytea) IS 'The counter of the ID';

CREATE OR REPLACE FUNCTION firn.scru160_random16(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.uint(firn.scru160_check(id), 8, 2))::integer;
COMMENT ON FUNCTION firn.scru160_random16(id bytea) IS 'The random16 of the ID';

CREATE OR REPLACE FUNCTION firn.scru160_random80(id bytea) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN firn.uint(firn.scru160_check(id), 10, 5)::numeric * 1099511627776 + firn.uint(id, 15, 5);
END
$$;
COMMENT ON FUNCTION firn.scru160_random80(id bytea) IS 'The random80 of the ID';

CREATE OR REPLACE FUNCTION firn.scru160_time(id bytea) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  ms bigint := firn.scru160_timestamp(id);
BEGIN
  RETURN (timestamp '1970-01-01 00:00:00.000' + ms / 86400000 * interval '1 day' + ms % 86400000 * interval '1 millisecond') AT TIME ZONE 'UTC';
END
$$;
COMMENT ON FUNCTION firn.scru160_time(id bytea) IS 'The time of the ID';

CREATE OR REPLACE FUNCTION firn.scru160_first(t timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN decode(lpad(to_hex(firn.ticks(t, 0, 281474976710655)), 12, '0') || repeat('00', 14), 'hex');
COMMENT ON FUNCTION firn.scru160_first(t timestamptz) IS 'The smallest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.scru160_last(t timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN decode(lpad(to_hex(firn.ticks(t, 0, 281474976710655)), 12, '0') || repeat('ff', 14), 'hex');
COMMENT ON FUNCTION firn.scru160_last(t timestamptz) IS 'The largest ID of the millisecond of t';

CREATE OR REPLACE FUNCTION firn.scru160_text(id bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789ABCDEFGHIJKLMNOPQRSTUV';
  v0 bigint := firn.uint(firn.scru160_check(id), 0, 5);
  v1 bigint := firn.uint(id, 5, 5);
  v2 bigint := firn.uint(id, 10, 5);
  v3 bigint := firn.uint(id, 15, 5);
BEGIN
  RETURN substr(d, (v0 >> 35 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 30 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 25 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 20 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 15 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 10 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 5 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 0 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 35 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 30 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 25 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 20 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 15 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 10 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 5 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 0 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 35 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 30 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 25 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 20 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 15 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 10 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 5 & 31)::integer + 1, 1)
    || substr(d, (v2 >> 0 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 35 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 30 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 25 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 20 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 15 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 10 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 5 & 31)::integer + 1, 1)
    || substr(d, (v3 >> 0 & 31)::integer + 1, 1);
END
$$;
COMMENT ON FUNCTION firn.scru160_text(id bytea) IS 'The canonical text of the ID';

CREATE OR REPLACE FUNCTION firn.scru160_parse(s text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '0123456789ABCDEFGHIJKLMNOPQRSTUV';
  u text COLLATE "C" := translate(s, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ');
BEGIN
  IF octet_length(s) = 40 THEN
    PERFORM firn.letters('scru160', s, 40, '0123456789ABCDEFabcdef', 'a hexadecimal digit');
    RETURN decode(s, 'hex');
  ELSIF octet_length(s) <> 32 THEN
    PERFORM firn.refuse('scru160', s, -1, 'length is ' || octet_length(s) || ', not 32 (base32hex) or 40 (hex)', 'Use the whole text of an ID of this format.');
  END IF;
  PERFORM firn.letters('scru160', s, 32, '0123456789ABCDEFGHIJKLMNOPQRSTUVabcdefghijklmnopqrstuv', 'in base32hex');
  RETURN decode(lpad(to_hex(((strpos(d, substr(u, 1, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 2, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 3, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 4, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 5, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 6, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 7, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 8, 1)) - 1)::bigint << 0)), 10, '0')
    || lpad(to_hex(((strpos(d, substr(u, 9, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 10, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 11, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 12, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 13, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 14, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 15, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 16, 1)) - 1)::bigint << 0)), 10, '0')
    || lpad(to_hex(((strpos(d, substr(u, 17, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 18, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 19, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 20, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 21, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 22, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 23, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 24, 1)) - 1)::bigint << 0)), 10, '0')
    || lpad(to_hex(((strpos(d, substr(u, 25, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 26, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 27, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 28, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 29, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 30, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 31, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 32, 1)) - 1)::bigint << 0)), 10, '0'), 'hex');
END
$$;
COMMENT ON FUNCTION firn.scru160_parse(s text) IS 'The ID of a text of 32 characters (base32hex) or 40 (hex); raises an error for any other text';

CREATE OR REPLACE FUNCTION firn.scru160_hex(id bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN encode(firn.scru160_check(id), 'hex');
COMMENT ON FUNCTION firn.scru160_hex(id bytea) IS 'The alternative text of the ID, in hexadecimal';

CREATE OR REPLACE FUNCTION firn.scru160_text_time(s text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.scru160_time(firn.scru160_parse(s));
COMMENT ON FUNCTION firn.scru160_text_time(s text) IS 'The time of the ID of a text';

-- sno

CREATE OR REPLACE FUNCTION firn.sno_check(id bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF pg_catalog.octet_length(id) OPERATOR(pg_catalog.<>) 10 THEN
    PERFORM firn.refuse('sno', pg_catalog.encode(pg_catalog.substr(id, 1, 32), 'hex'), -1,
      pg_catalog.format('length is %s, not 10 bytes', pg_catalog.octet_length(id)),
      'Use the binary form of an ID. firn.sno_parse reads texts.');
  END IF;
  RETURN id;
END
$$;
COMMENT ON FUNCTION firn.sno_check(id bytea) IS 'Returns the ID; raises an error unless it has 10 bytes';

CREATE OR REPLACE FUNCTION firn.sno_timestamp(id bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.uint(firn.sno_check(id), 0, 5) >> 1;
COMMENT ON FUNCTION firn.sno_timestamp(id bytea) IS 'The timestamp of the ID';

CREATE OR REPLACE FUNCTION firn.sno_tick_tock(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.uint(firn.sno_check(id), 4, 1) & 1)::integer;
COMMENT ON FUNCTION firn.sno_tick_tock(id bytea) IS 'The tick tock of the ID';

CREATE OR REPLACE FUNCTION firn.sno_meta(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.uint(firn.sno_check(id), 5, 1))::integer;
COMMENT ON FUNCTION firn.sno_meta(id bytea) IS 'The meta of the ID';

CREATE OR REPLACE FUNCTION firn.sno_partition(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.uint(firn.sno_check(id), 6, 2))::integer;
COMMENT ON FUNCTION firn.sno_partition(id bytea) IS 'The partition of the ID';

CREATE OR REPLACE FUNCTION firn.sno_sequence(id bytea) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (firn.uint(firn.sno_check(id), 8, 2))::integer;
COMMENT ON FUNCTION firn.sno_sequence(id bytea) IS 'The sequence of the ID';

CREATE OR REPLACE FUNCTION firn.sno_time(id bytea) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '2010-01-01 00:00:00.000' + firn.sno_timestamp(id) * interval '4 milliseconds') AT TIME ZONE 'UTC';
COMMENT ON FUNCTION firn.sno_time(id bytea) IS 'The time of the ID';

CREATE OR REPLACE FUNCTION firn.sno_first(t timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN decode(lpad(to_hex(firn.ticks(t, 1262304000000, 2199023255551) / 4 << 1), 10, '0') || repeat('00', 5), 'hex');
COMMENT ON FUNCTION firn.sno_first(t timestamptz) IS 'The smallest ID of the 4 milliseconds of t';

CREATE OR REPLACE FUNCTION firn.sno_last(t timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN decode(lpad(to_hex(firn.ticks(t, 1262304000000, 2199023255551) / 4 << 1 | 1), 10, '0') || repeat('ff', 5), 'hex');
COMMENT ON FUNCTION firn.sno_last(t timestamptz) IS 'The largest ID of the 4 milliseconds of t';

CREATE OR REPLACE FUNCTION firn.sno_text(id bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '23456789abcdefghijklmnopqrstuvwx';
  v0 bigint := firn.uint(firn.sno_check(id), 0, 5);
  v1 bigint := firn.uint(id, 5, 5);
BEGIN
  RETURN substr(d, (v0 >> 35 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 30 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 25 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 20 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 15 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 10 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 5 & 31)::integer + 1, 1)
    || substr(d, (v0 >> 0 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 35 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 30 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 25 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 20 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 15 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 10 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 5 & 31)::integer + 1, 1)
    || substr(d, (v1 >> 0 & 31)::integer + 1, 1);
END
$$;
COMMENT ON FUNCTION firn.sno_text(id bytea) IS 'The canonical text of the ID';

CREATE OR REPLACE FUNCTION firn.sno_parse(s text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d CONSTANT text COLLATE "C" := '23456789abcdefghijklmnopqrstuvwx';
  u text COLLATE "C" := s;
BEGIN
  PERFORM firn.letters('sno', s, 16, '23456789abcdefghijklmnopqrstuvwx', 'in [2-9a-x]');
  RETURN decode(lpad(to_hex(((strpos(d, substr(u, 1, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 2, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 3, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 4, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 5, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 6, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 7, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 8, 1)) - 1)::bigint << 0)), 10, '0')
    || lpad(to_hex(((strpos(d, substr(u, 9, 1)) - 1)::bigint << 35)
    | ((strpos(d, substr(u, 10, 1)) - 1)::bigint << 30)
    | ((strpos(d, substr(u, 11, 1)) - 1)::bigint << 25)
    | ((strpos(d, substr(u, 12, 1)) - 1)::bigint << 20)
    | ((strpos(d, substr(u, 13, 1)) - 1)::bigint << 15)
    | ((strpos(d, substr(u, 14, 1)) - 1)::bigint << 10)
    | ((strpos(d, substr(u, 15, 1)) - 1)::bigint << 5)
    | ((strpos(d, substr(u, 16, 1)) - 1)::bigint << 0)), 10, '0'), 'hex');
END
$$;
COMMENT ON FUNCTION firn.sno_parse(s text) IS 'The ID of a text; raises an error for any other text';

CREATE OR REPLACE FUNCTION firn.sno_uuid(id bytea) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN encode(decode(firn.sno_text(id), 'escape'), 'hex')::uuid;
COMMENT ON FUNCTION firn.sno_uuid(id bytea) IS 'The ID in the form of a UUID: the characters of the text are the bytes of the UUID';

CREATE OR REPLACE FUNCTION firn.sno_from_uuid(u uuid) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  b bytea := decode(replace(u::text, '-', ''), 'hex');
  c integer;
BEGIN
  FOR i IN 0..15 LOOP
    c := get_byte(b, i);
    IF c NOT BETWEEN 50 AND 57 AND c NOT BETWEEN 97 AND 120 THEN
      PERFORM firn.refuse('sno', u::text, -1, 'byte ' || i || ' of the UUID is 0x' || lpad(to_hex(c), 2, '0') || ', not in [2-9a-x]',
        'Use a UUID from firn.sno_uuid, or from UUID of the Go package.');
    END IF;
  END LOOP;
  RETURN firn.sno_parse(encode(b, 'escape'));
END
$$;
COMMENT ON FUNCTION firn.sno_from_uuid(u uuid) IS 'The ID of a UUID from sno_uuid; raises an error for any other UUID';

CREATE OR REPLACE FUNCTION firn.sno_text_time(s text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN firn.sno_time(firn.sno_parse(s));
COMMENT ON FUNCTION firn.sno_text_time(s text) IS 'The time of the ID of a text';

COMMIT;
