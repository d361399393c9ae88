package scru160_test

import (
	"math/big"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

var suite = testkit.Suite[scru160.ID, *scru160.ID]{
	Model:     testkit.SCRU160,
	Value:     func(id scru160.ID) *big.Int { return new(big.Int).SetBytes(id[:]) },
	Make:      func(v *big.Int) (id scru160.ID) { v.FillBytes(id[:]); return id },
	Parse:     scru160.Parse,
	MustParse: scru160.MustParse,
	ParseHex:  scru160.ParseHex,
	FromBytes: scru160.FromBytes,
}

var column = testkit.Column[scru160.ID, *scru160.ID]{
	Model: testkit.SCRU160, Type: "scru160.ID", Writes: testkit.Texts, Reads: testkit.Texts | testkit.Bytes, SQL: "varchar(32)", Else: "CHAR(32)",
	Make:  suite.Make,
	Value: suite.Value,
}

var binaryColumn = testkit.Column[scru160.Binary, *scru160.Binary]{
	Model: testkit.SCRU160, Type: "scru160.Binary", Writes: testkit.Bytes, Reads: testkit.Bytes, SQL: "bytes", Else: "scru160.ID",
	Make:  func(v *big.Int) scru160.Binary { return suite.Make(v).Binary() },
	Value: func(b scru160.Binary) *big.Int { return suite.Value(b.ID()) },
}

func TestRejects(t *testing.T)      { suite.Rejects(t) }
func TestForeign(t *testing.T)      { suite.Foreign(t) }
func TestRoundTrips(t *testing.T)   { suite.RoundTrips(t) }
func TestOrder(t *testing.T)        { suite.Orders(t, false) }
func TestJSON(t *testing.T)         { suite.JSON(t) }
func TestColumn(t *testing.T)       { column.Test(t) }
func TestBinaryColumn(t *testing.T) { binaryColumn.Test(t) }
func TestBinary(t *testing.T) {
	testkit.Mirrors(t, []scru160.ID{{}, {19: 1}, scru160.Max(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}, scru160.ID.Binary)
}
func TestShows(t *testing.T) { suite.Shows(t) }
