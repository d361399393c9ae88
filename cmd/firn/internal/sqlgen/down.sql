-- Removes the Firn generator of Nanoflakes, version 1. Remove the defaults of columns that use the
-- generator first, and stop "firn sql feed".

begin;

set local client_min_messages = warning;

drop function if exists firn.next_nanoflakes(int);
drop function if exists firn.next_nanoflake();
drop function if exists firn.nanoflake_take(int);
drop function if exists firn.nanoflake_clock();
drop view if exists firn.nanoflake_row;
drop table if exists firn.nanoflake_grant;
drop sequence if exists firn.nanoflake_word;

-- The schema goes if a script made it, and nothing else is in it.
do $$
begin
  if obj_description(to_regnamespace('firn'), 'pg_namespace') = 'Made by firn sql'
    and not exists (select from pg_depend where refclassid = 'pg_namespace'::regclass and refobjid = to_regnamespace('firn')) then
    drop schema firn;
  end if;
end $$;

commit;
