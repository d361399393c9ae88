package sno_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// The errors of sno are those of its specification, so only suites without errors apply.
var suite = testkit.Suite[sno.ID, *sno.ID]{
	Model: testkit.Sno, Value: intOf, Make: ofInt, Parse: sno.Parse, MustParse: sno.MustParse, ParseHex: sno.ParseHex, FromBytes: sno.FromBinaryBytes,
}

func TestOrder(t *testing.T) { suite.Orders(t, false) }
func TestShows(t *testing.T) { suite.Shows(t) }
