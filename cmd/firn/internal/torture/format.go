package torture

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

// An id is an ID of any format: its first 64 bits, and the next 16 bits if there are any. Equal IDs
// have equal ids, and ids sort like the IDs.
type id struct {
	high uint64
	low  uint16
}

func (v id) compare(w id) int { return cmp.Or(cmp.Compare(v.high, w.high), cmp.Compare(v.low, w.low)) }

// maxSize is the length of the longest ID that an id holds, in bytes.
const maxSize = 10

// A minter is a generator of any format.
type minter struct{ shape.Generator }

func (m minter) tryNext() (id, error) {
	b, err := m.TryAppendBinary(make([]byte, 0, maxSize), 1)
	if err != nil {
		return id{}, err
	}
	return decode(b), nil
}

// fill appends n IDs, or fewer with an error.
func (m minter) fill(ctx context.Context, dst []id, n, width int) ([]id, error) {
	b, err := m.AppendBinary(ctx, make([]byte, 0, n*width), n)
	for ; len(b) > 0; b = b[width:] {
		dst = append(dst, decode(b[:width]))
	}
	return dst, err
}

// A format is what a run knows about a format of IDs.
type format struct {
	name string
	*shape.Format
	shape shape.Shape // with the default settings
}

// layout returns the layout of the format's pools.
func (f *format) layout() grant.Layout { return f.shape.Layout(f.Name) }

// unit returns how long a timestamp is, in microseconds.
func (f *format) unit() int64 { return f.shape.Unit.Microseconds() }

// start makes a generator for a lease.
func (f *format) start(clock func() time.Time) (minter, error) {
	g, err := f.New(shape.Recipe{Leased: true, Clock: clock})
	return minter{g}, err
}

// append appends an ID as logs have it: in its binary form.
func (f *format) append(dst []byte, v id) []byte {
	dst = binary.BigEndian.AppendUint64(dst, v.high)
	if f.Size > 8 {
		dst = binary.BigEndian.AppendUint16(dst, v.low)
	}
	return dst
}

// decode reads what append has written.
func decode(b []byte) id {
	v := id{high: binary.BigEndian.Uint64(b)}
	if len(b) > 8 {
		v.low = binary.BigEndian.Uint16(b[8:])
	}
	return v
}

// read returns the worker and the time of an ID.
func (f *format) read(v id) (worker int, at time.Time) {
	var room [maxSize]byte
	b := f.append(room[:0], v)
	return int(f.shape.Fields[f.shape.Worker].Of(b)), f.shape.Time(b)
}

// text returns the canonical text of an ID.
func (f *format) text(v id) string {
	b := f.append(nil, v)
	text, err := f.AppendText(nil, b)
	if err != nil {
		return fmt.Sprintf("%x", b) // an ID that no generator should make
	}
	return string(text)
}

// formats lists the formats that lease a worker.
var formats = func() (all []*format) {
	for _, f := range inspect.Formats() {
		d := f.Descriptor()
		s := d.Default()
		if s.Workers() > 1 && (d.Size == 8 || d.Size == maxSize) {
			all = append(all, &format{d.Name, d, s})
		}
	}
	return all
}()

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
