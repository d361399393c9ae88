package nanoflake_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testkit"
	"github.com/firn-id/firn/nanoflake"
)

var suite = testkit.OfInt64(testkit.Suite[nanoflake.ID, *nanoflake.ID]{
	Model:        testkit.Nanoflake,
	Parse:        nanoflake.Parse,
	MustParse:    nanoflake.MustParse,
	ParseDecimal: nanoflake.ParseDecimal,
	Decimal:      nanoflake.ID.Decimal,
	ParseBase36:  nanoflake.ParseBase36,
	FromInt64:    nanoflake.FromInt64,
	ParseHex:     nanoflake.ParseHex,
	FromBytes:    nanoflake.FromBytes,
})

func TestRejects(t *testing.T)    { suite.Rejects(t) }
func TestForeign(t *testing.T)    { suite.Foreign(t) }
func TestRoundTrips(t *testing.T) { suite.RoundTrips(t) }
func TestOrder(t *testing.T)      { suite.Orders(t, false) }
func TestNoIDs(t *testing.T)      { suite.NoIDs(t, -1, -1<<63) }
func TestJSON(t *testing.T)       { suite.JSON(t) }
func TestSQL(t *testing.T)        { suite.SQL(t) }
func TestShows(t *testing.T)      { suite.Shows(t) }
