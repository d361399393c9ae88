package pgtest

// Hostile is SQL that makes the schema evil, with what any role can make that may create in a schema of the path: an
// object for each name of PostgreSQL, and operators for pairs of types that PostgreSQL has none for. Each
// raises an error.
const Hostile = `CREATE SCHEMA evil;
DO $$
DECLARE
  o record; l text; r text; f text; n int := 0;
  types text[] := '{int,bigint,double precision,numeric,text,name,"char",oid,xid,bytea,timestamp,timestamptz,interval,regclass}';
BEGIN
  FOR o IN SELECT p.oid, proname, oidvectortypes(proargtypes) AS args, format_type(prorettype, NULL) AS result, proretset AS many FROM pg_proc p JOIN pg_type ON pg_type.oid = prorettype
    WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND typtype <> 'p' LOOP
    BEGIN
      EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s %s LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN RAISE EXCEPTION ''hostile: %s''; END $f$',
        o.proname, o.args, CASE WHEN o.many THEN 'SETOF' ELSE '' END, o.result, o.oid::regprocedure);
      n := n + 1;
    EXCEPTION WHEN OTHERS THEN NULL; -- types without input, such as anyelement
    END;
  END LOOP;
  IF n < 2000 THEN RAISE EXCEPTION '% functions', n; END IF;
  FOR o IN SELECT typname, format_type(t.oid, NULL) AS type FROM pg_type t WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typname !~ '^_|^pg_|vector$' LOOP
    EXECUTE format('CREATE DOMAIN evil.%I AS pg_catalog.%1$I CHECK (false)', o.typname);
  END LOOP;
  FOR o IN SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r' AND relname NOT LIKE 'pg_statistic%' AND relname <> 'pg_attribute' LOOP
    EXECUTE format('CREATE VIEW evil.%I AS SELECT * FROM pg_catalog.%1$I WHERE false', o.relname);
  END LOOP;
  n := 0;
  FOREACH l IN ARRAY types LOOP
    FOREACH r IN ARRAY types LOOP
      FOREACH f IN ARRAY ARRAY['boolean', l] LOOP
        EXECUTE format('CREATE FUNCTION evil.%I(%s, %s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN RAISE EXCEPTION ''hostile: operator of %2$s and %3$s''; END $f$', 'to ' || f, l, r, f);
      END LOOP;
      FOR o IN SELECT DISTINCT oprname, oprresult = 'boolean'::regtype AS test FROM pg_operator WHERE oprname IN ('+', '-', '*', '/', '%', '&', '|', '#', '<<', '>>', '||', '=', '<>', '<', '<=', '>', '>=', '~')
        AND oprkind = 'b' AND (oprresult = 'boolean'::regtype) = (oprname IN ('=', '<>', '<', '<=', '>', '>=', '~')) LOOP
        BEGIN
          EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.%I)', o.oprname, l, r, 'to ' || CASE WHEN o.test THEN 'boolean' ELSE l END);
          n := n + 1;
        EXCEPTION WHEN duplicate_function OR duplicate_object THEN NULL;
        END;
      END LOOP;
    END LOOP;
  END LOOP;
  IF n < 3000 THEN RAISE EXCEPTION '% operators', n; END IF;
END $$;
GRANT USAGE ON SCHEMA evil TO PUBLIC;`
