package sno_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

var list = testkit.List[sno.ID]{
	Shortest:  16,
	AppendAll: sno.AppendAll,
	ParseAll:  sno.ParseAll,
	Append:    sno.ID.AppendText,
	Parse:     sno.Parse,
	Some:      randomID,
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }
