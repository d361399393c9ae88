package main

import (
	"slices"
	"time"

	"github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rogpeppe/fastuuid"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"
)

// peerSubjects are other packages. The loops of a peer call the functions that its documentation shows
// first, and the cheapest function of the same strength.
var peerSubjects = []subject{
	{
		name: "bwmarrin-snowflake", title: "bwmarrin/snowflake", module: "github.com/bwmarrin/snowflake",
		kin: "nanoflake", cap: capacity{4096, time.Millisecond},
		next: func() (loop, error) {
			node, err := snowflake.NewNode(1)
			return loopOf(func(n int) (id snowflake.ID, err error) {
				for ; n > 0; n-- {
					id = node.Generate()
				}
				return id, nil
			}), err
		},
		codec: func() (*codec, error) {
			node, err := snowflake.NewNode(1)
			if err != nil {
				return nil, err
			}
			return codecOf(func() (snowflake.ID, error) { return node.Generate(), nil },
				nil,
				func(ids []snowflake.ID) (s string) {
					for i := range ids {
						s = ids[i].Base36()
					}
					return s
				},
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
		name: "sony-sonyflake", title: "sony/sonyflake", module: "github.com/sony/sonyflake",
		kin: "nanoflake", cap: capacity{256, 10 * time.Millisecond},
		next: func() (loop, error) {
			flake, err := sonyflake.New(sonyflake.Settings{MachineID: func() (uint16, error) { return 1, nil }})
			return loopOf(func(n int) (id uint64, err error) {
				for ; n > 0 && err == nil; n-- {
					id, err = flake.NextID()
				}
				return id, err
			}), err
		},
	},
	{
		// A counter without a time: no counter is cheaper. The function is small enough to be inlined, so
		// the loop keeps the ID.
		name: "rogpeppe-fastuuid", title: "rogpeppe/fastuuid (no time)", module: "github.com/rogpeppe/fastuuid",
		kin: "nanoflake",
		next: func() (loop, error) {
			g, err := fastuuid.NewGenerator()
			return loopOf(func(n int) (id [24]byte, err error) {
				for ; n > 0; n-- {
					id = g.Next()
				}
				return id, nil
			}), err
		},
		codec: func() (*codec, error) {
			g, err := fastuuid.NewGenerator()
			if err != nil {
				return nil, err
			}
			return codecOf(func() ([24]byte, error) { return g.Next(), nil },
				nil,
				func(ids [][24]byte) (s string) {
					for i := range ids {
						s = fastuuid.Hex128(ids[i])
					}
					return s
				},
				nil)
		},
	},
	{
		name: "rs-xid", title: "rs/xid", module: "github.com/rs/xid", kin: "sno",
		next: func() (loop, error) {
			return func(n int) error {
				for ; n > 0; n-- {
					_ = xid.New()
				}
				return nil
			}, nil
		},
		codec: func() (*codec, error) {
			return codecOf(newXID,
				func(buf []byte, ids []xid.ID) []byte {
					buf = buf[:20]
					for i := range ids {
						ids[i].Encode(buf)
					}
					return buf
				},
				func(ids []xid.ID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
		sort: func(n int) (*sorter, error) { return sorterOf(n, newXID, xid.Sort, xid.ID.Compare) },
	},
	{
		name: "oklog-ulid", title: "oklog/ulid", module: "github.com/oklog/ulid/v2", kin: "ulidflake",
		next: func() (loop, error) {
			return func(n int) error {
				for ; n > 0; n-- {
					_ = ulid.Make()
				}
				return nil
			}, nil
		},
		codec: func() (*codec, error) {
			return codecOf(newULID,
				func(buf []byte, ids []ulid.ULID) []byte {
					buf = buf[:ulid.EncodedSize]
					for _, id := range ids { // by value: faster than by index here
						_ = id.MarshalTextTo(buf)
					}
					return buf
				},
				func(ids []ulid.ULID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
		sort: func(n int) (*sorter, error) {
			return sorterOf(n, newULID, func(ids []ulid.ULID) { slices.SortFunc(ids, ulid.ULID.Compare) }, ulid.ULID.Compare)
		},
	},
	{
		name: "segmentio-ksuid", title: "segmentio/ksuid", module: "github.com/segmentio/ksuid", kin: "scru160", loose: true,
		next: func() (loop, error) {
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = ksuid.NewRandom()
				}
				return err
			}, nil
		},
		batch: func() (loop, error) { // of a sequence: one seed and a counter
			return batchesOf(func(dst []ksuid.KSUID) (int, error) {
				seed, err := ksuid.NewRandom()
				seq := ksuid.Sequence{Seed: seed}
				for i := range dst {
					if err != nil {
						return i, err
					}
					dst[i], err = seq.Next()
				}
				return len(dst), err
			}), nil
		},
		codec: func() (*codec, error) {
			return codecOf(ksuid.NewRandom,
				func(buf []byte, ids []ksuid.KSUID) []byte {
					for i := range ids {
						buf = ids[i].Append(buf[:0])
					}
					return buf
				},
				func(ids []ksuid.KSUID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
		sort: func(n int) (*sorter, error) { return sorterOf(n, ksuid.NewRandom, ksuid.Sort, ksuid.Compare) },
	},
	{
		name: "google-uuid", title: "google/uuid v7", module: "github.com/google/uuid", kin: "scru160",
		next: func() (loop, error) {
			google.DisableRandPool()
			return googleV7, nil
		},
		codec: func() (*codec, error) {
			return codecOf(google.NewV7,
				func(buf []byte, ids []google.UUID) []byte {
					for i := range ids {
						buf, _ = ids[i].MarshalText()
					}
					return buf
				},
				func(ids []google.UUID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
	{
		// The documentation offers a pool of random bytes for throughput.
		name: "google-uuid-pool", title: "google/uuid v7, EnableRandPool", module: "github.com/google/uuid", kin: "scru160",
		next: func() (loop, error) {
			google.EnableRandPool()
			return googleV7, nil
		},
	},
	{
		name: "gofrs-uuid", title: "gofrs/uuid v7", module: "github.com/gofrs/uuid/v5", kin: "scru160",
		next: func() (loop, error) {
			return func(n int) (err error) {
				for ; n > 0 && err == nil; n-- {
					_, err = gofrs.NewV7()
				}
				return err
			}, nil
		},
		codec: func() (*codec, error) {
			return codecOf(gofrs.NewV7,
				func(buf []byte, ids []gofrs.UUID) []byte {
					for i := range ids {
						buf, _ = ids[i].MarshalText()
					}
					return buf
				},
				func(ids []gofrs.UUID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
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
}

func googleV7(n int) (err error) {
	for ; n > 0 && err == nil; n-- {
		_, err = google.NewV7()
	}
	return err
}

func newXID() (xid.ID, error)     { return xid.New(), nil }
func newULID() (ulid.ULID, error) { return ulid.Make(), nil }
