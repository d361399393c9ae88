package sno_test

import (
	"math/big"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

func ofInt(v *big.Int) (id sno.ID) { v.FillBytes(id[:]); return id }
func intOf(id sno.ID) *big.Int     { return new(big.Int).SetBytes(id[:]) }

var column = testkit.Column[sno.ID, *sno.ID]{
	Model: testkit.Sno, Type: "sno.ID", Writes: testkit.Bytes, Reads: testkit.Bytes | testkit.Texts, SQL: "bytes", Else: "sno.Text", Published: true,
	Make:  ofInt,
	Value: intOf,
}

var textColumn = testkit.Column[sno.Text, *sno.Text]{
	Model: testkit.Sno, Type: "sno.Text", Writes: testkit.Texts, Reads: testkit.Texts, SQL: "varchar(16)", Else: "sno.ID",
	Make:  func(v *big.Int) sno.Text { return ofInt(v).Text() },
	Value: func(t sno.Text) *big.Int { return intOf(t.ID()) },
}

func TestColumn(t *testing.T)     { column.Test(t) }
func TestTextColumn(t *testing.T) { textColumn.Test(t) }
func TestText(t *testing.T) {
	testkit.Mirrors(t, []sno.ID{{}, {9: 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, sno.MustParse("cufsekaqqudbobiw")}, sno.ID.Text)
}

func FuzzColumn(f *testing.F)     { column.Fuzz(f) }
func FuzzTextColumn(f *testing.F) { textColumn.Fuzz(f) }
