package scru160_test

import (
	"math/big"
	"testing"

	"github.com/firn-id/firn/internal/testkit"
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

func TestRejects(t *testing.T)    { suite.Rejects(t) }
func TestForeign(t *testing.T)    { suite.Foreign(t) }
func TestRoundTrips(t *testing.T) { suite.RoundTrips(t) }
func TestOrder(t *testing.T)      { suite.Orders(t, false) }
func TestJSON(t *testing.T)       { suite.JSON(t) }
func TestSQL(t *testing.T)        { suite.SQL(t) }
func TestShows(t *testing.T)      { suite.Shows(t) }
