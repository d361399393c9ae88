package keys

import (
	"encoding/binary"

	"github.com/gofrs/uuid/v5"

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

// integer appends an integer, or returns the error of the generator. Makers call TryNext: on a
// simulated clock, Next would wait for ever.
func integer[ID ~int64](dst []byte, id ID, err error) ([]byte, error) {
	return binary.BigEndian.AppendUint64(dst, uint64(id)), err
}

func nanoflakes(p Pace, c *clock) (maker, error) {
	return each(p, func(worker int) (*nanoflake.Generator, error) {
		return nanoflake.NewGenerator(nanoflake.Config{GeneratorID: worker, Clock: c.read})
	}, func(g *nanoflake.Generator, dst []byte) ([]byte, error) {
		id, err := g.TryNext()
		return integer(dst, id, err)
	})
}

// ulidflakes makes scalable IDs: only the scalable version keeps workers apart.
func ulidflakes(p Pace, c *clock) (maker, error) {
	return each(p, func(worker int) (*ulidflake.ScalableGenerator, error) {
		return ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: worker, Clock: c.read})
	}, func(g *ulidflake.ScalableGenerator, dst []byte) ([]byte, error) {
		id, err := g.TryNext()
		return integer(dst, id, err)
	})
}

func snowflakes(p Pace, c *clock) (maker, error) {
	return each(p, func(worker int) (*snowflakesi.Generator, error) {
		return snowflakesi.NewGenerator(snowflakesi.Config{MachineID: worker, Clock: c.read})
	}, func(g *snowflakesi.Generator, dst []byte) ([]byte, error) {
		id, err := g.TryNext()
		return integer(dst, id, err)
	})
}

func snos(p Pace, c *clock) (maker, error) {
	return each(p, func(worker int) (*sno.Generator, error) {
		snapshot := new(sno.GeneratorSnapshot)
		snapshot.Partition.PutUint16(uint16(worker + 1))
		return sno.NewGeneratorWith(sno.Config{Snapshot: snapshot, Clock: c.read})
	}, func(g *sno.Generator, dst []byte) ([]byte, error) {
		id, err := g.TryNext(0)
		return append(dst, id[:]...), err
	})
}

func startScru160(c *clock) func(int) (*scru160.Generator, error) {
	return func(int) (*scru160.Generator, error) { return scru160.NewGenerator(scru160.Config{Clock: c.read}) }
}

func scru160s(p Pace, c *clock) (maker, error) {
	return each(p, startScru160(c), func(g *scru160.Generator, dst []byte) ([]byte, error) {
		id, err := g.TryNext()
		return append(dst, id[:]...), err
	})
}

func scru160Texts(p Pace, c *clock) (maker, error) {
	return each(p, startScru160(c), func(g *scru160.Generator, dst []byte) ([]byte, error) {
		id, err := g.TryNext()
		if err != nil {
			return dst, err
		}
		return id.AppendText(dst)
	})
}

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
