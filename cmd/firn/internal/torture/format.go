package torture

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// An id is an ID of any format: its first 64 bits, and the next 16 bits if there are any. Equal IDs
// have equal ids, and ids sort like the IDs.
type id struct {
	high uint64
	low  uint16
}

// A minter is a generator of any format.
type minter interface {
	lease.Generator
	tryNext() (id, error)
	// fill appends n IDs, or fewer with an error.
	fill(ctx context.Context, dst []id, n int) ([]id, error)
}

// A format is what a run knows about a format of IDs.
type format struct {
	name       string
	width      int          // of an ID in a log, in bytes
	increasing bool         // each ID of a generator is greater than the last
	layout     grant.Layout // of its pools; set by init
	start      func(clock func() time.Time) (minter, error)
	read       func(id) (worker int, at time.Time)
	text       func(id) string
}

// init asks a generator of each format for the layout of its pool. Its clock shows a time of each
// format, whatever the time is.
func init() {
	for _, f := range formats {
		g, err := f.start(func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) })
		if err == nil {
			var p grant.Spec
			p, err = g.ForLease().Pool()
			f.layout = p.Layout
		}
		if err != nil {
			panic(err) // the settings are constants, so a test would have seen it
		}
	}
}

// unit returns how long a timestamp is, in microseconds.
func (f *format) unit() int64 { return f.layout.Unit.Microseconds() }

// append appends an ID as logs have it.
func (f *format) append(dst []byte, v id) []byte {
	dst = binary.BigEndian.AppendUint64(dst, v.high)
	if f.width > 8 {
		dst = binary.BigEndian.AppendUint16(dst, v.low)
	}
	return dst
}

// decode reads what append has written.
func (f *format) decode(b []byte) id {
	v := id{high: binary.BigEndian.Uint64(b)}
	if f.width > 8 {
		v.low = binary.BigEndian.Uint16(b[8:])
	}
	return v
}

var formats = []*format{
	{
		name: "nanoflake", width: 8, increasing: true,
		start: func(clock func() time.Time) (minter, error) {
			g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: clock})
			return integers[nanoflake.ID]{g}, err
		},
		read: func(v id) (int, time.Time) {
			own := nanoflake.ID(v.high)
			return own.GeneratorID(), own.Time(nanoflake.DefaultEpoch())
		},
		text: func(v id) string { return nanoflake.ID(v.high).String() },
	},
	{
		name: "ulidflake-scalable", width: 8, increasing: true,
		start: func(clock func() time.Time) (minter, error) {
			g, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Leased: true, Clock: clock})
			return integers[ulidflake.ScalableID]{g}, err
		},
		read: func(v id) (int, time.Time) {
			own := ulidflake.ScalableID(v.high)
			return own.Scalability(), own.Time(ulidflake.DefaultEpoch())
		},
		text: func(v id) string { return ulidflake.ScalableID(v.high).String() },
	},
	{
		name: "snowflakesi", width: 8, increasing: true,
		start: func(clock func() time.Time) (minter, error) {
			g, err := snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Clock: clock})
			return integers[snowflakesi.ID]{g}, err
		},
		read: func(v id) (int, time.Time) {
			own := snowflakesi.ID(v.high)
			return own.MachineID(snowflakesi.Layout{}), own.Time(snowflakesi.Layout{}, snowflakesi.DefaultEpoch())
		},
		text: func(v id) string { return snowflakesi.ID(v.high).String() },
	},
	{
		name: "sno", width: sno.SizeBinary,
		start: func(clock func() time.Time) (minter, error) {
			g, err := sno.NewGeneratorWith(sno.Config{Leased: true, Clock: clock})
			return snos{g}, err
		},
		read: func(v id) (int, time.Time) {
			own := v.sno()
			return int(own.Partition().AsUint16()), own.Time()
		},
		text: func(v id) string { return v.sno().String() },
	},
}

// Formats returns the names of the formats that lease a worker, and can be tortured.
func Formats() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

func lookup(name string) (*format, error) {
	i := slices.IndexFunc(formats, func(f *format) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no format %q that leases a worker", name)
	}
	return formats[i], nil
}

// integers is a generator of IDs that are integers.
type integers[ID ~int64] struct{ generator[ID] }

type generator[ID ~int64] interface {
	lease.Generator
	TryNext() (ID, error)
	Fill(context.Context, []ID) (int, error)
}

func (g integers[ID]) tryNext() (id, error) {
	v, err := g.TryNext()
	return id{high: uint64(v)}, err
}

func (g integers[ID]) fill(ctx context.Context, dst []id, n int) ([]id, error) {
	made := make([]ID, n)
	n, err := g.Fill(ctx, made)
	for _, v := range made[:n] {
		dst = append(dst, id{high: uint64(v)})
	}
	return dst, err
}

// snos is a generator of snos.
type snos struct{ *sno.Generator }

func (g snos) tryNext() (id, error) {
	v, err := g.TryNext(0)
	return ofSno(v), err
}

func (g snos) fill(ctx context.Context, dst []id, n int) ([]id, error) {
	made := make([]sno.ID, n)
	n, err := g.Fill(ctx, 0, made)
	for _, v := range made[:n] {
		dst = append(dst, ofSno(v))
	}
	return dst, err
}

func ofSno(v sno.ID) id {
	return id{binary.BigEndian.Uint64(v[:]), binary.BigEndian.Uint16(v[8:])}
}

func (v id) sno() (own sno.ID) {
	binary.BigEndian.PutUint64(own[:], v.high)
	binary.BigEndian.PutUint16(own[8:], v.low)
	return own
}
