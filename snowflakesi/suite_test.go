package snowflakesi_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

var suite = testkit.OfInt64(testkit.Suite[snowflakesi.ID, *snowflakesi.ID]{
	Model:     testkit.SnowflakeSI,
	Parse:     snowflakesi.Parse,
	MustParse: snowflakesi.MustParse,
	FromInt64: snowflakesi.FromInt64,
	ParseHex:  snowflakesi.ParseHex,
	FromBytes: snowflakesi.FromBytes,
})

var column = testkit.Column[snowflakesi.ID, *snowflakesi.ID]{
	Model: testkit.SnowflakeSI, Type: "snowflakesi.ID", Writes: testkit.Integers, Reads: testkit.Integers | testkit.Texts | testkit.Doubles, SQL: "bigint", Else: "BIGINT",
	Make:  suite.Make,
	Value: suite.Value,
}

func TestRejects(t *testing.T)    { suite.Rejects(t) }
func TestForeign(t *testing.T)    { suite.Foreign(t) }
func TestRoundTrips(t *testing.T) { suite.RoundTrips(t) }
func TestOrder(t *testing.T)      { suite.Orders(t, true) }
func TestNoIDs(t *testing.T)      { suite.NoIDs(t, -1, -1<<63, 1<<53, 1<<63-1) }
func TestJSON(t *testing.T)       { suite.JSON(t) }
func TestColumn(t *testing.T)     { column.Test(t) }
func TestShows(t *testing.T)      { suite.Shows(t) }
