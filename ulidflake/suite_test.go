package ulidflake_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testkit"
	"github.com/firn-id/firn/ulidflake"
)

var suite = testkit.OfInt64(testkit.Suite[ulidflake.ID, *ulidflake.ID]{
	Model:        testkit.UlidFlake,
	Parse:        ulidflake.Parse,
	MustParse:    ulidflake.MustParse,
	ParseDecimal: ulidflake.ParseDecimal,
	Decimal:      ulidflake.ID.Decimal,
	FromInt64:    ulidflake.FromInt64,
	ParseHex:     ulidflake.ParseHex,
	FromBytes:    ulidflake.FromBytes,
})

var scalable = testkit.OfInt64(testkit.Suite[ulidflake.ScalableID, *ulidflake.ScalableID]{
	Model:        testkit.UlidFlakeScalable,
	Parse:        ulidflake.ParseScalable,
	MustParse:    ulidflake.MustParseScalable,
	ParseDecimal: ulidflake.ParseScalableDecimal,
	Decimal:      ulidflake.ScalableID.Decimal,
	FromInt64:    ulidflake.ScalableFromInt64,
	ParseHex:     ulidflake.ParseScalableHex,
	FromBytes:    ulidflake.ScalableFromBytes,
})

// both runs a suite for stand-alone and for scalable IDs.
func both(t *testing.T, standAlone, scalable func(*testing.T)) {
	t.Run("stand-alone", standAlone)
	t.Run("scalable", scalable)
}

func TestRejects(t *testing.T)    { both(t, suite.Rejects, scalable.Rejects) }
func TestForeign(t *testing.T)    { both(t, suite.Foreign, scalable.Foreign) }
func TestRoundTrips(t *testing.T) { both(t, suite.RoundTrips, scalable.RoundTrips) }
func TestJSON(t *testing.T)       { both(t, suite.JSON, scalable.JSON) }
func TestSQL(t *testing.T)        { both(t, suite.SQL, scalable.SQL) }
func TestShows(t *testing.T)      { both(t, suite.Shows, scalable.Shows) }

func TestOrder(t *testing.T) {
	suite.Orders(t, false)
	scalable.Orders(t, false)
}

func TestNoIDs(t *testing.T) {
	suite.NoIDs(t, -1, -1<<63)
	scalable.NoIDs(t, -1, -1<<63)
}
