BEGIN;

-- Whatever the search_path of the session is, a name without a schema is a name of PostgreSQL itself.
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL client_min_messages = warning;
