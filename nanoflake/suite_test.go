package nanoflake_test

import (
	"math/big"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
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

var column = testkit.Column[nanoflake.ID, *nanoflake.ID]{
	Model: testkit.Nanoflake, Type: "nanoflake.ID", Writes: testkit.Integers, Reads: testkit.Integers, SQL: "bigint", Else: "nanoflake.Text",
	Make:  suite.Make,
	Value: suite.Value,
}

var textColumn = testkit.Column[nanoflake.Text, *nanoflake.Text]{
	Model: testkit.Nanoflake, Type: "nanoflake.Text", Writes: testkit.Texts, Reads: testkit.Texts, SQL: "varchar(13)", Else: "nanoflake.ID",
	Make:  func(v *big.Int) nanoflake.Text { return suite.Make(v).Text() },
	Value: func(t nanoflake.Text) *big.Int { return suite.Value(t.ID()) },
}

func TestRejects(t *testing.T)    { suite.Rejects(t) }
func TestForeign(t *testing.T)    { suite.Foreign(t) }
func TestRoundTrips(t *testing.T) { suite.RoundTrips(t) }
func TestOrder(t *testing.T)      { suite.Orders(t, false) }
func TestNoIDs(t *testing.T)      { suite.NoIDs(t, -1, -1<<63) }
func TestJSON(t *testing.T)       { suite.JSON(t) }
func TestColumn(t *testing.T)     { column.Test(t) }
func TestTextColumn(t *testing.T) { textColumn.Test(t) }
func TestText(t *testing.T) {
	ids := []nanoflake.ID{0, 1, nanoflake.Max, nanoflake.MustParse("0549x5l2itvr4"), -1}
	testkit.Mirrors(t, ids, nanoflake.ID.Text)
}
func TestShows(t *testing.T) { suite.Shows(t) }
