
DO $$
BEGIN
  IF obj_description(to_regnamespace('firn'), 'pg_namespace') = 'Made by firn sql'
    AND NOT EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_namespace'::regclass AND refobjid = to_regnamespace('firn')) THEN
    DROP SCHEMA firn;
  END IF;
END $$;
