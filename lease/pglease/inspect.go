package pglease

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// Inspect looks for what loses changes, and for what refuses them: at the settings of the server, its
// standbys, the table, and the rights of the user. It sees connected standbys, with or without the right
// to see their names. It cannot see standbys fed by files or by storage.
func (s *Store) Inspect(ctx context.Context) ([]driver.Finding, error) {
	return driver.Call(ctx, s.Handle, "inspect", s.inspect)
}

func (s *Store) inspect(ctx context.Context) ([]driver.Finding, error) {
	results, err := s.exec(ctx, "SELECT pg_is_in_recovery(), current_setting('fsync'), current_setting('full_page_writes'), "+
		"current_setting('synchronous_standby_names'), current_setting('transaction_read_only'), "+
		// A sender has no state if this user may not see more. Senders to a backup or to a decoder
		// of the log are not standbys.
		"(SELECT count(*) FROM pg_stat_replication WHERE coalesce(state, '') <> 'backup' AND pid NOT IN "+
		"(SELECT active_pid FROM pg_replication_slots WHERE active_pid IS NOT NULL AND slot_type = 'logical'));"+
		"SELECT c.relpersistence, has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AND "+
		"has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') "+
		"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "+
		"WHERE n.nspname = "+quote(s.name.schema)+" AND c.relname = "+quote(s.name.table)+"; "+s.name.refusal(read))
	if err == nil && (len(results) != 3 || len(results[0].Rows) != 1 || len(results[2].Rows) != 1) {
		err = errors.New("the server's answer is not one row")
	}
	if err != nil {
		return nil, err
	}
	server, table := results[0].Rows[0], results[1].Rows
	recovery, fsync, pages, names, readOnly, standbys :=
		string(server[0]), string(server[1]), string(server[2]), string(server[3]), string(server[4]), string(server[5])
	there, refusal := len(table) == 1, string(results[2].Rows[0][0])

	var found []driver.Finding
	loses, blocks, note := driver.Finding{Loses: true}, driver.Finding{Blocks: true}, driver.Finding{}
	say := func(when bool, f driver.Finding, text, advice string) {
		if when {
			f.Text, f.Advice = text, advice
			found = append(found, f)
		}
	}
	say(fsync != "on", loses, "fsync is off: if the machine crashes, acknowledged changes are lost and the database may be damaged", "set fsync to on")
	say(pages != "on", loses, "full_page_writes is off: if the machine crashes, pages may be left half written, and changes on them lost",
		"set full_page_writes to on, unless the file system never leaves a page half written")
	say(there && string(table[0][0]) != "p", loses, fmt.Sprintf("the table %s is not logged: after a crash it is empty", s.name),
		"ALTER TABLE "+s.table+" SET LOGGED")
	say(standbys != "0" && names == "", loses, "the server has asynchronous standbys ("+standbys+", synchronous_standby_names is empty): "+
		"after a failover to one of them acknowledged changes may be missing",
		"set synchronous_standby_names to all standbys that may take over, with their number, as in FIRST 2 (a, b)")
	say(recovery == "t", blocks, "the server is a standby, a replica that cannot be written: leases are refused on it", "name the primary in the address")
	say(recovery != "t" && readOnly == "on", blocks, "transactions are read-only (default_transaction_read_only): no lease can be taken or renewed",
		"set it to off for this user and database")
	say(!there, driver.Finding{Remedy: driver.RemedyCreate}, fmt.Sprintf("there is no table %s", s.name), "")
	say(there && string(table[0][1]) != "t", blocks, fmt.Sprintf("this user may not read and change the table %s", s.name),
		"GRANT "+strings.Join(s.name.privileges(), " and GRANT ")+" to it")
	say(refusal != "" && s.admin, blocks, refusal, "")
	say(refusal != "" && !s.admin, note, refusal, "")
	say(recovery != "t" && standbys == "0" && names != "", blocks,
		"synchronous_standby_names is set and no standby is connected: every change waits for one", "start a standby, or reset the setting")
	return driver.WorstFirst(found), nil
}
