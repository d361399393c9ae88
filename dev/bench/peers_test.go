package bench

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rogpeppe/fastuuid"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"

	"github.com/firn-id/firn/internal/engine/clock"
)

// peerSubjects are other packages. The loops of a peer call the functions that its documentation shows
// first, and the cheapest function of the same strength.
var peerSubjects = []subject{
	{
		name: "bwmarrin-snowflake", cap: 4096,
		next: func(*testing.B) loop {
			node := must(snowflake.NewNode(1))
			return last(func(n int) (id snowflake.ID, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = node.Generate(), nil
				}
				return id, err
			})
		},
		codec: func(*testing.B) codec {
			node := must(snowflake.NewNode(1))
			return codecOf(func() (snowflake.ID, error) { return node.Generate(), nil }, snowflake.ID.Base36,
				nil,
				func(texts []string) (id snowflake.ID, err error) {
					for _, s := range texts {
						if id, err = snowflake.ParseBase36(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	{
		name: "sony-sonyflake", cap: 256, tick: 10 * time.Millisecond, burst: 192,
		next: func(*testing.B) loop {
			flake := must(sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }}))
			return last(func(n int) (id uint64, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = flake.NextID()
				}
				return id, err
			})
		},
	},
	// A counter without a time: no counter is cheaper. The function is small enough to be inlined, so
	// the loop keeps the ID.
	{
		name: "rogpeppe-fastuuid",
		next: func(*testing.B) loop {
			g := must(fastuuid.NewGenerator())
			return last(func(n int) (id [24]byte, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = g.Next(), nil
				}
				return id, err
			})
		},
	},
	{
		name: "rs-xid",
		next: func(*testing.B) loop {
			return func(n int) (err error) {
				for ; n > 0; n-- {
					_ = xid.New()
				}
				return err
			}
		},
		codec: func(*testing.B) codec {
			return codecOf(newXID, xid.ID.String,
				func(buf []byte, ids []xid.ID) []byte {
					buf = buf[:20]
					for i := range ids {
						ids[i].Encode(buf)
					}
					return buf
				},
				func(texts []string) (id xid.ID, err error) {
					for _, s := range texts {
						if id, err = xid.FromString(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
		sort: func(*testing.B) (shuffle, sort func()) { return sorterOf(newXID, xid.Sort) },
	},
	{
		name: "oklog-ulid",
		next: func(*testing.B) loop {
			return func(n int) (err error) {
				for ; n > 0; n-- {
					_ = ulid.Make()
				}
				return err
			}
		},
		codec: func(*testing.B) codec {
			return codecOf(newULID, ulid.ULID.String,
				func(buf []byte, ids []ulid.ULID) []byte {
					buf = buf[:ulid.EncodedSize]
					for _, id := range ids { // by value: faster than by index here
						_ = id.MarshalTextTo(buf)
					}
					return buf
				},
				func(texts []string) (id ulid.ULID, err error) {
					for _, s := range texts {
						if id, err = ulid.ParseStrict(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
		sort: func(*testing.B) (shuffle, sort func()) {
			return sorterOf(newULID, func(ids []ulid.ULID) { slices.SortFunc(ids, ulid.ULID.Compare) })
		},
	},
	{
		name: "segmentio-ksuid",
		next: func(*testing.B) loop {
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = ksuid.NewRandom()
				}
				return err
			}
		},
		batch: func(*testing.B) loop { // of a sequence: one seed and a counter
			return batches(func(dst []ksuid.KSUID) (n int, err error) {
				seq := ksuid.Sequence{Seed: must(ksuid.NewRandom())}
				for ; n < len(dst) && err == nil; n++ {
					dst[n], err = seq.Next()
				}
				return n, err
			})
		},
		codec: func(*testing.B) codec {
			return codecOf(ksuid.NewRandom, ksuid.KSUID.String,
				func(buf []byte, ids []ksuid.KSUID) []byte {
					for i := range ids {
						buf = ids[i].Append(buf[:0])
					}
					return buf
				},
				func(texts []string) (id ksuid.KSUID, err error) {
					for _, s := range texts {
						if id, err = ksuid.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
		sort: func(*testing.B) (shuffle, sort func()) { return sorterOf(ksuid.NewRandom, ksuid.Sort) },
	},
	{
		name: "google-uuid",
		next: func(*testing.B) loop { google.DisableRandPool(); return googleV7 },
		codec: func(*testing.B) codec {
			return codecOf(google.NewV7, google.UUID.String,
				func(buf []byte, ids []google.UUID) []byte {
					for i := range ids {
						buf, _ = ids[i].MarshalText()
					}
					return buf
				},
				func(texts []string) (id google.UUID, err error) {
					for _, s := range texts {
						if id, err = google.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	// The documentation offers a pool of random bytes for throughput.
	{name: "google-uuid-pool", next: func(*testing.B) loop { google.EnableRandPool(); return googleV7 }},
	{
		name: "gofrs-uuid",
		next: func(*testing.B) loop {
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = gofrs.NewV7()
				}
				return err
			}
		},
		codec: func(*testing.B) codec {
			return codecOf(gofrs.NewV7, gofrs.UUID.String,
				func(buf []byte, ids []gofrs.UUID) []byte {
					for i := range ids {
						buf, _ = ids[i].MarshalText()
					}
					return buf
				},
				func(texts []string) (id gofrs.UUID, err error) {
					for _, s := range texts {
						if id, err = gofrs.FromString(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	// The last two make no IDs: they do the least that a generator must do. A portable generator calls
	// time.Since for each ID; another looks at the counter and adds to a word.
	{
		name: "time-since",
		next: func(*testing.B) loop {
			began := time.Now()
			return last(func(n int) (id time.Duration, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = time.Since(began), nil
				}
				return id, err
			})
		},
	},
	{
		name: "counter-add",
		next: func(*testing.B) loop {
			_, mark := clock.New(nil).Mark()
			deadline := mark.In(time.Millisecond)
			var word atomic.Uint64
			return last(func(n int) (last uint64, err error) {
				for ; n > 0; n-- {
					if deadline.AheadByCycles() { // the branch costs the same either way
						last++
					}
					last ^= word.Add(1)
				}
				return last, nil
			})
		},
	},
}

func googleV7(n int) (err error) {
	for ; n > 0 && err == nil; n-- {
		_, err = google.NewV7()
	}
	return err
}

func newXID() (xid.ID, error)     { return xid.New(), nil }
func newULID() (ulid.ULID, error) { return ulid.Make(), nil }
