-- Firn generator of Nanoflakes for PostgreSQL 13 or later, version 1.
--
-- firn.next_nanoflake() returns a new ID, and firn.next_nanoflakes(n) returns n new IDs. The
-- functions need an interval of a worker: "firn sql feed" leases intervals, and writes them to the
-- table firn.nanoflake_grant. The script can run again at any time: it leaves the view alone, on which
-- open transactions have locks, unless another version made the view.

-- begin

-- The sequence holds the last word: the tick, in milliseconds since the epoch, times 4096, plus the
-- number of the ID in its tick. Uniqueness does not depend on the durability of the sequence. So the
-- sequence is unlogged where PostgreSQL has unlogged sequences (from version 15): an unlogged
-- sequence needs no WAL and no transaction ID.
do $$
begin
  if to_regclass('firn.nanoflake_word') is null then
    execute 'create ' || case when current_setting('server_version_num')::int >= 150000 then 'unlogged ' else '' end
      || 'sequence firn.nanoflake_word as bigint minvalue 0 start 0 cache 1 no cycle';
  end if;
end $$;

-- The table has at most one row: an interval of ticks of a worker. The table must stay unlogged.
-- PostgreSQL empties an unlogged table after a crash and on a promoted standby: exactly where the
-- sequence may go back. The functions then make no ID until the table has a new interval. The
-- columns written, relation and database tell the row from a copy, such as a row of a dump.
create unlogged table if not exists firn.nanoflake_grant (
  one boolean primary key default true check (one),
  worker int not null check (worker between 0 and 1023),
  first_tick bigint not null check (first_tick > 0),
  end_tick bigint not null check (end_tick > first_tick and end_tick <= 1::bigint << 41),
  due_tick bigint not null,
  epoch bigint not null,
  nonce text not null,
  holder text not null,
  released boolean not null default false,
  written xid not null,
  relation oid not null,
  database oid not null
) with (fillfactor = 10);

-- nanoflake_clock returns the time in Unix milliseconds.
create or replace function firn.nanoflake_clock() returns bigint
language sql volatile
as $$ select pg_catalog.floor(pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())
  operator(pg_catalog.*) 1000::double precision operator(pg_catalog.+) 0.0005::double precision)::bigint $$;

-- nanoflake_row returns the row of the table, unless the row is a copy. A change of the view waits for
-- all transactions that have made an ID, and meanwhile keeps others from making one. So the change
-- waits for moments only, and tries again.
do $$
declare
  version constant text := 'Firn generator, version 1: the interval, unless it is a copy';
  timeout constant text := current_setting('lock_timeout');
begin
  for try in 1..60 loop
    exit when obj_description(to_regclass('firn.nanoflake_row'), 'pg_class') = version;
    begin
      perform set_config('lock_timeout', '100ms', true);
      create or replace view firn.nanoflake_row as
        select * from firn.nanoflake_grant g
          where g.written = g.xmin and g.relation = g.tableoid
            and g.database = (select d.oid from pg_database d where d.datname = current_database());
      execute format('comment on view firn.nanoflake_row is %L', version);
      perform set_config('lock_timeout', timeout, true);
    exception when lock_not_available then
      if try = 60 then
        raise exception 'firn: open transactions use the view firn.nanoflake_row' using errcode = 'lock_not_available',
          hint = 'Run the script again when they have ended. pg_locks and pg_prepared_xacts name them.';
      end if;
      perform pg_sleep(0.9);
    end;
  end loop;
end $$;

-- nanoflake_take reserves consecutive IDs of one tick, at most as many as asked for. nanoflake_take
-- returns the first ID and the number of IDs.
--
-- While the server runs, the sequence never goes back: nextval is called with the shared lock, and
-- setval only with the exclusive lock, to raise a word read under the same lock. No word comes
-- twice, whatever worker the IDs have. The row alone decides the ticks. The row may be old, as in an
-- old snapshot: an interval that was written stays with the database for good.
--
-- Each lock ends with the subtransaction of its block, which ends by an error. Sequences are not
-- rolled back. A cancel or a time-out therefore leaves no lock behind: a lock of the session would
-- stay if the cancel met the moment in which the session gets the lock.
create or replace function firn.nanoflake_take(most int, out first_id bigint, out number int)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  near constant bigint := 50; -- the longest wait for the clock, in milliseconds
  g firn.nanoflake_row;
  now bigint;
  word bigint;
  tick bigint;
begin
  select * into g from firn.nanoflake_row;
  if not found then
    raise exception 'firn: the database has no interval for Nanoflakes' using errcode = 'NF001',
      hint = 'Run "firn sql feed". If it runs, try again: it leases a new interval after a crash, a failover or a restore.';
  end if;
  now := firn.nanoflake_clock() - g.epoch;
  if now < g.first_tick - near then
    raise exception 'firn: the interval for Nanoflakes begins in % ms', g.first_tick - now using errcode = 'NF002',
      hint = 'Try again then. If the time is far off, check the clock of the database server.';
  end if;

  number := 1;
  if most = 1 then
    begin
      perform pg_advisory_xact_lock_shared(1718186606, 1);
      word := nextval('firn.nanoflake_word');
      raise exception using errcode = 'NF000';
    exception when sqlstate 'NF000' then null;
    end;
  end if;
  if word is null or word >> 12 < greatest(now, g.first_tick) then
    begin
      perform pg_advisory_xact_lock(1718186606, 1);
      now := firn.nanoflake_clock() - g.epoch;
      word := nextval('firn.nanoflake_word');
      tick := greatest(now, g.first_tick);
      if word >> 12 < tick and tick < g.end_tick then
        word := setval('firn.nanoflake_word', tick << 12);
      end if;
      if most > 1 and word >> 12 = tick then
        number := least(most, 4096 - (word & 4095));
        perform setval('firn.nanoflake_word', word + number - 1);
      end if;
      raise exception using errcode = 'NF000';
    exception when sqlstate 'NF000' then null;
    end;
  end if;

  tick := word >> 12;
  if tick < g.first_tick or tick >= g.end_tick or now >= g.end_tick then
    raise exception 'firn: the interval for Nanoflakes has ended, at %', to_timestamp((g.epoch + g.end_tick) / 1000.0) using errcode = 'NF003',
      hint = 'Keep "firn sql feed" running, with its store in reach. Under REPEATABLE READ and SERIALIZABLE, a transaction makes IDs for one window of the feed: begin it again, and take many IDs by one call of firn.next_nanoflakes(n), or give the feed a longer --window.';
  end if;
  while tick > now loop
    now := firn.nanoflake_clock() - g.epoch;
    if tick > now + near then
      raise exception 'firn: the clock of the database server is % ms behind the last Nanoflake', tick - now using errcode = 'NF004',
        hint = 'The clock went back: set the clock, or wait until the clock has caught up.';
    end if;
    perform pg_sleep((tick - now) / 1000.0);
  end loop;
  first_id := (tick << 22) | (g.worker << 12) | (word & 4095);
end $$;

-- next_nanoflake returns a new ID.
create or replace function firn.next_nanoflake() returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  run record;
begin
  run := firn.nanoflake_take(1);
  return run.first_id;
end $$;

-- next_nanoflakes returns n new IDs.
create or replace function firn.next_nanoflakes(n int) returns setof bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  run record;
begin
  if n is null or n < 0 then
    raise exception 'firn: next_nanoflakes(%): the number of IDs is not 0 or more', n using errcode = '22023';
  end if;
  while n > 0 loop
    run := firn.nanoflake_take(n);
    return query select generate_series(run.first_id, run.first_id + run.number - 1);
    n := n - run.number;
  end loop;
end $$;

comment on sequence firn.nanoflake_word is 'Firn generator, version 1: the last word';
comment on table firn.nanoflake_grant is 'Firn generator, version 1: the interval of the worker; keep the table unlogged';
comment on function firn.nanoflake_clock() is 'Firn generator, version 1: the time in Unix milliseconds';
comment on function firn.nanoflake_take(int) is 'Firn generator, version 1: reserves IDs of one tick';
comment on function firn.next_nanoflake() is 'Firn generator, version 1: returns a new ID';
comment on function firn.next_nanoflakes(int) is 'Firn generator, version 1: returns n new IDs';

-- Only the owner can change the interval and the sequence. See docs/sql-generator.md for the rights
-- that roles need.
revoke all on sequence firn.nanoflake_word from public;
revoke all on firn.nanoflake_grant, firn.nanoflake_row from public;
revoke all on function firn.nanoflake_clock(), firn.nanoflake_take(int), firn.next_nanoflake(), firn.next_nanoflakes(int) from public;

commit;
