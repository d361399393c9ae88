// Package formats makes the IDs and pools of all formats, and has the flags for a format. The
// descriptors of the formats say what the formats are.
package formats

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// A Format is a format of package inspect.
type Format struct{ inspect.Format }

// WorkerName returns the name of a worker's number. SCRU160 has none by default, and a node ID with some settings.
func (f Format) WorkerName() string { return cmp.Or(f.Worker(), "node ID") }

// A Recipe says which IDs to make, and how to write them.
type Recipe struct {
	shape.Recipe
	Format Format
	Form   inspect.Form
	JSON   bool
}

// Make makes a generator of the recipe. Its errors are those of the format's NewGenerator.
func (r Recipe) Make() (*Made, error) {
	if r.Leased {
		r.Worker = 0
	}
	d := r.Format.Descriptor()
	g, err := d.New(r.Recipe)
	if err != nil {
		return nil, err
	}
	return &Made{generator: g, write: r.writer(), size: d.Size}, nil
}

// Pool returns the pool of the recipe's IDs, under its default name.
func (r Recipe) Pool() (grant.Spec, error) {
	r.Leased = true
	made, err := r.Make()
	if err != nil {
		return grant.Spec{}, err
	}
	return made.Pool()
}

// Made is a generator of a recipe.
type Made struct {
	generator shape.Generator
	write     func(dst, id []byte) ([]byte, error) // nil for text
	size      int                                  // of an ID in binary form
	ids       []byte                               // room for the binary forms of a batch
}

// Pool returns the pool that Lease takes workers from, under its default name.
func (m *Made) Pool() (grant.Spec, error) { return m.generator.ForLease().Pool() }

// Lease starts the lease of a generator that was made with Leased.
func (m *Made) Lease(ctx context.Context, store driver.Store, c lease.Config) (*lease.Lease, error) {
	return lease.Start(ctx, store, m.generator, c)
}

// MaxBatch is how many IDs a caller makes at a time. The number spreads the cost of a write, and no
// format takes more than some milliseconds for a batch.
const MaxBatch = 2048

// Next appends n new IDs in the recipe's form to dst, a line each. With an error, Next appends the IDs
// made before.
func (m *Made) Next(ctx context.Context, dst []byte, n int) ([]byte, error) {
	if m.write == nil {
		return m.generator.AppendTexts(ctx, dst, n)
	}
	var err error
	m.ids, err = m.generator.AppendBinary(ctx, m.ids[:0], n)
	for ids := m.ids; len(ids) > 0; ids = ids[m.size:] {
		var bad error
		if dst, bad = m.write(dst, ids[:m.size]); bad != nil {
			return dst, bad
		}
		dst = append(dst, '\n')
	}
	return dst, err
}

// Append appends an ID, which is in binary form, to dst in the recipe's form.
func (r Recipe) Append(dst, id []byte) ([]byte, error) {
	if write := r.writer(); write != nil {
		return write(dst, id)
	}
	return r.Format.Descriptor().AppendText(dst, id)
}

// writer returns the function that appends an ID in the recipe's form, or nil for text.
func (r Recipe) writer() func(dst, id []byte) ([]byte, error) {
	switch {
	case r.JSON:
		reader, err := r.Format.NewReader(inspect.Settings(r.Settings))
		if err != nil {
			return func(dst, _ []byte) ([]byte, error) { return dst, err }
		}
		return reader.AppendJSON
	case r.Form == inspect.Text:
		return nil
	}
	return r.Format.Writer(r.Form)
}

// Writer returns the function that appends an ID, which is in binary form, to dst in a form that the format has.
func (f Format) Writer(form inspect.Form) func(dst, id []byte) ([]byte, error) {
	switch form {
	case inspect.Int:
		return func(dst, id []byte) ([]byte, error) {
			return strconv.AppendUint(dst, binary.BigEndian.Uint64(id), 10), nil
		}
	case inspect.Hex:
		return func(dst, id []byte) ([]byte, error) { return hex.AppendEncode(dst, id), nil }
	case inspect.UUID:
		return f.Descriptor().AppendUUID
	}
	return f.Descriptor().Writer()
}

// All returns all formats, in the order of listings.
func All() []Format {
	var all []Format
	for _, f := range inspect.Formats() {
		all = append(all, Format{f})
	}
	return all
}

// Names returns the names of all formats.
func Names() []string {
	var names []string
	for _, f := range inspect.Formats() {
		names = append(names, f.Name())
	}
	return names
}

// Lookup returns the format of that name, in upper or lower case. ok reports whether the format
// exists.
func Lookup(name string) (f Format, ok bool) {
	f.Format, ok = inspect.Lookup(strings.ToLower(name))
	return f, ok
}

// Named is Lookup with an error for unknown formats.
func Named(name string) (Format, error) {
	f, ok := Lookup(name)
	if ok {
		return f, nil
	}
	if near := cli.Near(name, Names()); near != "" {
		return f, cli.Usagef("unknown format %q: did you mean %s?", name, near)
	}
	return f, cli.Usagef("unknown format %q: want %s", name, cli.List(Names(), "or"))
}
