
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
