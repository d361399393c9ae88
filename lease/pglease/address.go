package pglease

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// passed are the settings of an address for pgx. pgx sends all other settings to the server. The
// server would refuse these settings, or the settings would override the store's own.
var passed = []string{
	"application_name", "channel_binding", "connect_timeout", "krbspn", "krbsrvname", "max_protocol_version",
	"min_protocol_version", "options", "passfile", "require_auth", "service", "servicefile", "sslcert", "sslcertmode", "sslkey",
	"sslmode", "sslnegotiation", "sslrootcert", "sslsni",
	"pool_min_conns", "pool_min_idle_conns", "pool_max_conn_lifetime", "pool_max_conn_lifetime_jitter",
	"pool_max_conn_idle_time", "pool_health_check_period", "pool_ping_timeout",
}

// defaults suit a store: it soon gives connections back, and notices a dead connection early enough
// for another try in the same call.
var defaults = map[string]string{
	"pool_max_conn_idle_time": "1m",
	"pool_ping_timeout":       "1s",
}

// files are the settings for pgx that name files.
var files = []string{"passfile", "service", "servicefile", "sslcert", "sslkey", "sslrootcert"}

// settle returns the settings of an address, given the result of reading the address. [Open] and
// [Permissions] read addresses here alone.
func settle(a *address.Address, err error) (*pgxpool.Config, Options, error) {
	config, o, err := parse(a, err)
	if err != nil {
		return nil, o, driver.OpenError("postgres", plain(err), driver.RemedyAddress)
	}
	return config, o, nil
}

func parse(a *address.Address, err error) (*pgxpool.Config, Options, error) {
	if err != nil {
		return nil, Options{}, err
	}
	if a.Scheme != "postgres" {
		return nil, Options{}, fmt.Errorf("%w of the kind %s://: want postgres://", driver.ErrAddress, a.Scheme)
	}
	o := Options{Table: a.Text("table", DefaultTable), Timeout: a.Duration("timeout", DefaultTimeout)}
	password := a.Secret("password")
	validate, ok := map[string]pgconn.ValidateConnectFunc{
		"":           onPrimary,
		"any":        onPrimary,
		"primary":    onPrimary,
		"read-write": pgconn.ValidateConnectTargetSessionAttrsReadWrite,
	}[a.Text("target_session_attrs", "")]
	settings := make(url.Values)
	names := passed
	if len(a.Hosts) == 0 {
		names = append([]string{"host", "port"}, passed...)
	}
	for _, name := range names {
		if value := a.Text(name, defaults[name]); value != "" && !(a.Alone() && slices.Contains(files, name)) {
			settings.Set(name, value)
		}
	}
	settings.Set("pool_max_conns", strconv.Itoa(a.Number("pool_max_conns", 4, 1, 1000)))
	switch err := a.Err(); {
	case err != nil:
		return nil, Options{}, err
	case !ok:
		return nil, Options{}, fmt.Errorf("%w of the kind %s://: target_session_attrs is neither primary nor read-write, and leases need one of them",
			driver.ErrAddress, a.Scheme)
	}
	if _, err := parseName(o.Table); err != nil {
		return nil, Options{}, fmt.Errorf("%w of the kind %s://: %w", driver.ErrAddress, a.Scheme, err)
	}
	if a.User != "" {
		settings.Set("user", a.User)
	}
	// The password stays out of the text, since pgx quotes the text in errors. pgx does not read
	// '+' as a space.
	config, err := pgxpool.ParseConfig("postgres://" + strings.Join(a.Hosts, ",") + "/" + url.PathEscape(a.Path) + "?" +
		strings.ReplaceAll(settings.Encode(), "+", "%20"))
	if err != nil {
		return nil, Options{}, fmt.Errorf("%w of the kind %s://: %w", driver.ErrAddress, a.Scheme, err)
	}
	if password != "" {
		config.ConnConfig.Password = password
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "firn"
	}
	config.ConnConfig.ValidateConnect = validate
	return config, o, nil
}

// onPrimary is the check of pgx for a primary. That one finds the function by the session's search_path, where the
// owner of the database can have another function, which would run as the user.
func onPrimary(ctx context.Context, c *pgconn.PgConn) error {
	results, err := c.Exec(ctx, "SELECT pg_catalog.pg_is_in_recovery()").ReadAll()
	if err == nil && string(results[0].Rows[0][0]) == "t" {
		err = pgconn.ErrStandbyConnection
	}
	return err
}

// timeLeft is the key of a context's value: the time after which the waiting call has no use for a
// connection.
type timeLeft struct{}

// limit bounds the time of a connection attempt by the time of its call, divided by the number of
// hosts. Otherwise a silent host would take all of the time, and attempts would pile up.
func limit(until time.Time, c *pgconn.Config) {
	hosts := map[string]bool{}
	add := func(host string, port uint16) { hosts[fmt.Sprint(host, " ", port)] = true }
	add(c.Host, c.Port)
	for _, f := range c.Fallbacks {
		add(f.Host, f.Port)
	}
	each := max(time.Until(until)/time.Duration(len(hosts)), time.Millisecond)
	if c.ConnectTimeout <= 0 || each < c.ConnectTimeout {
		c.ConnectTimeout = each
	}
}
