-- Removes the Firn generator of Nanoflakes, version 1. Remove the defaults of columns that use the
-- generator first, and stop "firn sql feed".

-- begin

drop function if exists firn.next_nanoflakes(int);
drop function if exists firn.next_nanoflake();
drop function if exists firn.nanoflake_take(int);
drop function if exists firn.nanoflake_clock();
drop view if exists firn.nanoflake_row;
drop table if exists firn.nanoflake_grant;
drop sequence if exists firn.nanoflake_word;

-- The schema goes if a script made it, and nothing else is in it.
-- drop schema

commit;
