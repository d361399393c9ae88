package main

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/firn-id/firn/bench/call"
)

// boundSubjects are no ways to make IDs: what Firn's can hardly be faster than. Portable generators read the clock of the
// package time for each ID; and who writes or reads one ID by vectors calls assembly. Only the table of limits shows them.
var boundSubjects = []subject{
	{
		name: "time-since", title: "time.Since alone", kin: "nanoflake", bound: true,
		next: func() (loop, error) {
			began := time.Now()
			return loopOf(func(n int) (d time.Duration, err error) {
				for range n {
					d = time.Since(began)
				}
				return d, nil
			}), nil
		},
	},
	{
		name: "call-sno", title: "a call that copies 10 bytes", kin: "sno", loose: true, bound: true,
		codec: func() (*codec, error) {
			return codecOf(func() (v call.Bytes10, err error) { binary.LittleEndian.PutUint64(v[:], rand.Uint64()); return v, nil },
				func(buf []byte, ids []call.Bytes10) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []call.Bytes10) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
				},
				func(texts []string) (id call.Bytes10, err error) {
					for _, s := range texts {
						if id, err = call.ParseBytes10(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	{
		name: "call-ulidflake", title: "a call that copies an integer", kin: "ulidflake", loose: true, bound: true,
		codec: func() (*codec, error) {
			return codecOf(func() (call.Integer, error) { return call.Integer(rand.Int64()), nil },
				func(buf []byte, ids []call.Integer) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []call.Integer) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
				},
				func(texts []string) (id call.Integer, err error) {
					for _, s := range texts {
						if id, err = call.ParseInteger(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
	{
		name: "call-scru160", title: "a call that copies 20 bytes", kin: "scru160", loose: true, bound: true,
		codec: func() (*codec, error) {
			return codecOf(func() (v call.Bytes20, err error) { binary.LittleEndian.PutUint64(v[:], rand.Uint64()); return v, nil },
				func(buf []byte, ids []call.Bytes20) []byte {
					for i := range ids {
						buf, _ = ids[i].AppendText(buf[:0])
					}
					return buf
				},
				func(ids []call.Bytes20) (s string) {
					for i := range ids {
						s = ids[i].String()
					}
					return s
				},
				func(texts []string) (id call.Bytes20, err error) {
					for _, s := range texts {
						if id, err = call.ParseBytes20(s); err != nil {
							return id, err
						}
					}
					return id, nil
				})
		},
	},
}
