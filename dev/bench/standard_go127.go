//go:build go1.27

package main

import "uuid"

// standardSubjects is the standard library's package uuid, new in Go 1.27.
var standardSubjects = []subject{
	{
		name: "std-uuid", title: "standard library uuid v7", kin: "scru160",
		next: func() (loop, error) {
			return func(n int) error {
				for ; n > 0; n-- {
					_ = uuid.NewV7()
				}
				return nil
			}, nil
		},
		codec: func() (*codec, error) {
			return codecOf(func() (uuid.UUID, error) { return uuid.NewV7(), nil },
				func(buf []byte, ids []uuid.UUID) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []uuid.UUID) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
				},
				func(texts []string) (id uuid.UUID, err error) {
					for _, s := range texts {
						if id, err = uuid.Parse(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
}
