package ulidflake_test

import (
	"math/big"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
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

var column = testkit.Column[ulidflake.ID, *ulidflake.ID]{
	Model: testkit.UlidFlake, Type: "ulidflake.ID", Writes: testkit.Integers, Reads: testkit.Integers, SQL: "bigint", Else: "ulidflake.Text",
	Make:  suite.Make,
	Value: suite.Value,
}

var textColumn = testkit.Column[ulidflake.Text, *ulidflake.Text]{
	Model: testkit.UlidFlake, Type: "ulidflake.Text", Writes: testkit.Texts, Reads: testkit.Texts, SQL: "varchar(13)", Else: "ulidflake.ID",
	Make:  func(v *big.Int) ulidflake.Text { return suite.Make(v).Text() },
	Value: func(t ulidflake.Text) *big.Int { return suite.Value(t.ID()) },
}

var scalableColumn = testkit.Column[ulidflake.ScalableID, *ulidflake.ScalableID]{
	Model: testkit.UlidFlakeScalable, Type: "ulidflake.ScalableID", Writes: testkit.Integers, Reads: testkit.Integers, SQL: "bigint", Else: "ulidflake.ScalableText",
	Make:  scalable.Make,
	Value: scalable.Value,
}

var scalableTextColumn = testkit.Column[ulidflake.ScalableText, *ulidflake.ScalableText]{
	Model: testkit.UlidFlakeScalable, Type: "ulidflake.ScalableText", Writes: testkit.Texts, Reads: testkit.Texts, SQL: "varchar(13)", Else: "ulidflake.ScalableID",
	Make:  func(v *big.Int) ulidflake.ScalableText { return scalable.Make(v).Text() },
	Value: func(t ulidflake.ScalableText) *big.Int { return scalable.Value(t.ID()) },
}

func TestRejects(t *testing.T)    { both(t, suite.Rejects, scalable.Rejects) }
func TestForeign(t *testing.T)    { both(t, suite.Foreign, scalable.Foreign) }
func TestRoundTrips(t *testing.T) { both(t, suite.RoundTrips, scalable.RoundTrips) }
func TestJSON(t *testing.T)       { both(t, suite.JSON, scalable.JSON) }
func TestColumn(t *testing.T)     { both(t, column.Test, scalableColumn.Test) }
func TestTextColumn(t *testing.T) { both(t, textColumn.Test, scalableTextColumn.Test) }
func TestText(t *testing.T) {
	testkit.Mirrors(t, []ulidflake.ID{0, 1, ulidflake.Max, ulidflake.MustParse("1234567890123"), -1}, ulidflake.ID.Text)
	testkit.Mirrors(t, []ulidflake.ScalableID{0, 1, ulidflake.MaxScalable, ulidflake.MustParseScalable("1234567890123"), -1}, ulidflake.ScalableID.Text)
}
func TestShows(t *testing.T) { both(t, suite.Shows, scalable.Shows) }

func TestOrder(t *testing.T) {
	suite.Orders(t, false)
	scalable.Orders(t, false)
}

func TestNoIDs(t *testing.T) {
	suite.NoIDs(t, -1, -1<<63)
	scalable.NoIDs(t, -1, -1<<63)
}
