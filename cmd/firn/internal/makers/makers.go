// Package makers names the processes that made the IDs of a pool.
package makers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/form/prefix"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// A Pool is a pool, and what a reader of the pool's IDs has to know.
type Pool struct {
	*lease.Pool
	Format   formats.Format
	Settings shape.Settings

	reader *inspect.Reader
	state  *stores.State
	store  driver.Store
}

// Open opens the pool of that name in the store of the user.
func Open(ctx context.Context, state *stores.State, name string) (*Pool, error) {
	state.Asks = true
	store, _, err := state.LookFor(ctx, name)
	if err != nil {
		return nil, state.Hint(err)
	}
	p := &Pool{state: state, store: store}
	if err := p.find(ctx, name); err != nil {
		store.Close()
		return nil, state.Hint(err)
	}
	return p, nil
}

// find looks up the pool in the store.
func (p *Pool) find(ctx context.Context, name string) (err error) {
	if p.Pool, err = lease.Lookup(ctx, p.store, name); err != nil {
		return err
	}
	var ok bool
	if p.Format, p.Settings, ok = formats.SettingsOf(p.Layout()); !ok {
		return fmt.Errorf("pool %s: its format, epoch and widths are of no format here: ask the program that makes the IDs", name)
	}
	p.reader, err = p.Format.NewReader(inspect.Settings(p.Settings))
	return err
}

// Close closes the store.
func (p *Pool) Close() error { return p.store.Close() }

// Read reads an ID of the pool as firn inspect does, and returns the binary form. Quotes, a trailing comma and a
// prefix do not count.
func (p *Pool) Read(text string) (id []byte, err error) {
	bare := intake.Unquoted([]byte(text))
	if id, err = p.reader.AppendRead(nil, []byte(text)); err == nil {
		return id, nil
	}
	if _, plain, ok := prefix.Cut(string(bare)); ok {
		return p.reader.AppendReadAs(nil, []byte(plain), inspect.Text)
	}
	if len(bare) < len(text) {
		return p.reader.AppendRead(nil, bare)
	}
	return nil, err
}

// Info takes apart an ID in the binary form.
func (p *Pool) Info(id []byte) (inspect.Info, error) { return p.reader.Info(id) }

// A Maker is who made an ID: the holder of the worker at the time, or nobody.
type Maker struct {
	Worker int
	Holder *lease.Holder // nil if nobody is recorded
	Known  time.Time     // the earliest time of a known holder, if nobody is recorded; zero if none is known
}

// Of returns the maker of an ID in the binary form.
func (p *Pool) Of(ctx context.Context, id []byte) (Maker, error) {
	m, s := Maker{}, p.reader.Shape()
	if s.Worker > 0 {
		m.Worker = int(s.Fields[s.Worker].Of(id))
	}
	h, err := p.HolderAt(ctx, m.Worker, s.Time(id))
	var none *lease.UnrecordedError
	switch {
	case err == nil:
		m.Holder = &h
	case errors.As(err, &none):
		m.Known = none.Known
	default:
		return m, p.state.Hint(err)
	}
	return m, nil
}

// String describes the maker to people.
func (m Maker) String() string {
	switch {
	case m.Holder != nil:
		return fmt.Sprintf("%s, from %s until %s", cli.Printable(m.Holder.String()), TimeText(m.Holder.Since), TimeText(m.Holder.Until))
	case m.Known.IsZero():
		return "nobody is recorded, and no holder of the worker is known"
	}
	return "nobody is recorded; the earliest known holder is of " + TimeText(m.Known)
}

// Short describes the maker in a few words, for a table.
func (m Maker) Short() string {
	if m.Holder == nil {
		return "nobody is recorded"
	}
	return cli.Printable(m.Holder.String())
}

// TimeText returns a time in milliseconds, in UTC.
func TimeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// A Time is a time in JSON. Unlike a time.Time, a Time may be after the year 9999: timestamps of scru160 end
// later, and a wrong clock may have used a worker up to any time.
type Time struct{ time.Time }

func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(cli.TimeText(t.UTC())) }

// An Object is a holder in JSON.
type Object struct {
	Host    string `json:"host"`
	Process int    `json:"process"`
	Program string `json:"program"`
	Name    string `json:"name"`
	Leases  int    `json:"leases"`
	Since   Time   `json:"since"`
	Until   Time   `json:"until"`
}

// ObjectOf returns the object of a holder, or nil for nil.
func ObjectOf(h *lease.Holder) *Object {
	if h == nil {
		return nil
	}
	return &Object{h.Host, h.Process, h.Program, h.Name, h.Count, Time{h.Since}, Time{h.Until}}
}

// KnownTime returns the time of the earliest known holder in JSON, or nil.
func (m Maker) KnownTime() *Time {
	if m.Known.IsZero() {
		return nil
	}
	return &Time{m.Known}
}
