# An owner of the database app, and a user of the store, with passwords in files.
psql -q -d postgres -c 'CREATE ROLE owner LOGIN' -c 'CREATE ROLE ids LOGIN' -c 'CREATE DATABASE app OWNER owner'
for name in owner db; do echo secret >"$DIR/run/secrets/$name"; done
