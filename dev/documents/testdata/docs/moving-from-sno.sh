# A table of events in SQLite.
block_sql() { { echo 'CREATE TABLE events (id text);'; cat "$1"; } | sqlite3 -bail; }
