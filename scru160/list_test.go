package scru160_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

var list = testkit.List[scru160.ID]{
	Shortest:  32,
	AppendAll: scru160.AppendAll,
	ParseAll:  scru160.ParseAll,
	Append:    scru160.ID.AppendText,
	Parse:     scru160.Parse,
	Some: func(r *rand.Rand) (id scru160.ID) {
		for at := 0; at < scru160.Size; at += 4 {
			binary.BigEndian.PutUint32(id[at:], r.Uint32())
		}
		return id
	},
	More: []string{"05ttup1hncpna1qhtdhrtcu3v32pd7c6", "0123456789abcdef0123456789ABCDEF01234567"},
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }
