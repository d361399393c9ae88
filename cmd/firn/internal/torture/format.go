package torture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

// maxSize is the length of the longest ID that an id holds, in bytes.
const maxSize = 10

// An id is the binary form of an ID of any format, with zeros behind a short one. ids sort like the IDs.
type id [maxSize]byte

func (v id) compare(w id) int { return bytes.Compare(v[:], w[:]) }

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

// read returns the worker and the time of an ID, in Unix microseconds.
func (f *format) read(v id) (worker int, at int64) {
	b := v[:f.Size]
	return int(f.shape.Fields[f.shape.Worker].Of(b)), f.shape.Time(b).UnixMicro()
}

// text returns an ID with its worker and its time.
func (f *format) text(v id) string {
	worker, at := f.read(v)
	text, err := f.AppendText(nil, v[:f.Size])
	if err != nil {
		text = fmt.Appendf(nil, "%x", v[:f.Size]) // an ID that no generator should make
	}
	return fmt.Sprintf("%s (worker %d at %s)", text, worker, timeText(at))
}

func timeText(us int64) string { return time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.000000") }

// record returns an ID and its process as the sorter has them, the ID first.
func record(v id, process int) [2]uint64 {
	low := uint64(binary.BigEndian.Uint16(v[8:]))<<48 | uint64(uint32(process))<<16
	return [2]uint64{binary.BigEndian.Uint64(v[:]), low}
}

// ofRecord returns what record was given.
func ofRecord(r [2]uint64) (v id, process int) {
	binary.BigEndian.PutUint64(v[:], r[0])
	binary.BigEndian.PutUint16(v[8:], uint16(r[1]>>48))
	return v, int(uint32(r[1] >> 16))
}

// formats lists the formats that lease a worker.
var formats = func() (all []*format) {
	for _, f := range inspect.Formats() {
		d := f.Descriptor()
		s := d.Default()
		if s.Workers() > 1 && d.Size <= maxSize {
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
