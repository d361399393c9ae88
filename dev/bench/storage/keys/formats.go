package keys

import (
	"github.com/gofrs/uuid/v5"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// Serial is the name of the format that all others are compared with.
const Serial = "serial"

// MariaDB is the name of a server. Its type for UUIDs changes the order of the bytes of some versions,
// so the run measures UUIDs in binary(16), too.
const MariaDB = "mariadb"

// Formats are all kinds of primary keys, in the order of tables and charts.
var Formats = []Format{
	{Name: Serial, Title: "serial", Column: Assigned, Width: 8},
	{Name: "nanoflake", Title: "Nanoflake", Column: Integer, Width: 8, start: nanoflakes},
	// The IDs of one worker are in order. The IDs of several workers are not.
	{Name: "nanoflake-one", Title: "Nanoflake, one worker", Column: Integer, Width: 8, Workers: 1, start: nanoflakes},
	{Name: "ulidflake", Title: "Ulid-Flake", Column: Integer, Width: 8, start: ulidflakes},
	{Name: "snowflakesi", Title: "Snowflake-SI", Column: Integer, Width: 8, start: snowflakes},
	{Name: "sno", Title: "sno", Column: Bytes, Width: sno.SizeBinary, start: snos},
	{Name: "sno-one", Title: "sno, one worker", Column: Bytes, Width: sno.SizeBinary, Workers: 1, start: snos},
	{Name: "scru160", Title: "SCRU160", Column: Bytes, Width: scru160.Size, start: scru160s},
	{Name: "scru160-text", Title: "SCRU160 as text", Column: Chars, Width: 32, start: scru160Texts},
	// The same keys with a collation for texts of a language, as a table gets by default.
	{Name: "scru160-words", Title: "SCRU160 as text, collated", Column: Words, Width: 32, start: scru160Texts},
	{Name: "uuidv7", Title: "UUIDv7", Column: UUID, Width: uuid.Size, start: uuidV7s},
	{Name: "uuidv7-bytes", Title: "UUIDv7 as bytes", Column: Bytes, Width: uuid.Size, Only: MariaDB, start: uuidV7s},
	{Name: "uuidv4", Title: "UUIDv4", Column: UUID, Width: uuid.Size, start: uuidV4s},
}

// each makes a generator for each worker, and returns the maker that asks the worker's generator.
func each[G any](p Pace, start func(worker int) (G, error), add func(g G, dst []byte) ([]byte, error)) (maker, error) {
	var all []G
	for worker := range p.Workers {
		g, err := start(worker)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return func(dst []byte, worker int) ([]byte, error) { return add(all[worker], dst) }, nil
}

// firn returns the start of a format of Firn whose makers append keys by a function. Makers call the
// generator's way that does not wait: on a simulated clock, a wait would never end. The workers begin at a number.
func firn(d *shape.Format, first int, key func(dst, id []byte) ([]byte, error)) func(Pace, *clock) (maker, error) {
	return func(p Pace, c *clock) (maker, error) {
		var id []byte
		return each(p, func(worker int) (shape.Generator, error) {
			r := shape.Recipe{Clock: c.read}
			if d.Worker != "" {
				r.Worker = first + worker
			}
			return d.New(r)
		}, func(g shape.Generator, dst []byte) (_ []byte, err error) {
			if id, err = g.TryAppendBinary(id[:0], 1); err != nil {
				return dst, err
			}
			return key(dst, id)
		})
	}
}

// asBytes appends the binary form of an ID.
func asBytes(dst, id []byte) ([]byte, error) { return append(dst, id...), nil }

var (
	nanoflakes = firn(nanoflake.Descriptor(), 0, asBytes)
	// Only the scalable version keeps workers apart.
	ulidflakes   = firn(ulidflake.DescriptorScalable(), 0, asBytes)
	snowflakes   = firn(snowflakesi.Descriptor(), 0, asBytes)
	snos         = firn(sno.Descriptor(), 1, asBytes)
	scru160s     = firn(scru160.Descriptor(), 0, asBytes)
	scru160Texts = firn(scru160.Descriptor(), 0, scru160.Descriptor().AppendText)
)

func startUUID(int) (*uuid.Gen, error) { return uuid.NewGen(), nil }

func uuidV7s(p Pace, c *clock) (maker, error) {
	return each(p, startUUID, func(g *uuid.Gen, dst []byte) ([]byte, error) {
		id, err := g.NewV7AtTime(c.now)
		return append(dst, id[:]...), err
	})
}

func uuidV4s(p Pace, _ *clock) (maker, error) {
	return each(p, startUUID, func(g *uuid.Gen, dst []byte) ([]byte, error) {
		id, err := g.NewV4()
		return append(dst, id[:]...), err
	})
}
