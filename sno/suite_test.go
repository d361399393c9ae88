package sno_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

var suite = testkit.Suite[sno.ID, *sno.ID]{
	Model: testkit.Sno, Value: intOf, Make: ofInt, Parse: sno.Parse, MustParse: sno.MustParse, ParseHex: sno.ParseHex, FromBytes: sno.FromBinaryBytes,
	Sized: func(err error) (int, bool) {
		e, ok := errors.AsType[*sno.InvalidDataSizeError](err)
		if !ok {
			return 0, false
		}
		return e.Size, true
	},
	More: map[string]func(string) (sno.ID, error){
		"FromEncodedString": sno.FromEncodedString,
		"FromEncodedBytes":  func(s string) (sno.ID, error) { return sno.FromEncodedBytes([]byte(s)) },
		"Scan": func(s string) (id sno.ID, err error) {
			if s == "" { // Scan reads the zero ID
				return sno.Parse(s)
			}
			id = marked // Scan sets the zero ID on an error
			err = id.Scan(s)
			return id, err
		},
		"FromUUID": func(s string) (sno.ID, error) {
			if len(s) != sno.SizeEncoded {
				return sno.Parse(s)
			}
			return sno.FromUUID([16]byte([]byte(s)))
		},
		"flag.TextVar": func(s string) (id sno.ID, err error) {
			var set flag.FlagSet
			set.TextVar(&id, "id", id, "")
			err = set.Lookup("id").Value.Set(s)
			return id, err
		},
	},
}

func TestRejects(t *testing.T)    { suite.Rejects(t) }
func TestForeign(t *testing.T)    { suite.Foreign(t) }
func TestRoundTrips(t *testing.T) { suite.RoundTrips(t) }
func TestOrder(t *testing.T)      { suite.Orders(t, false) }
func TestJSON(t *testing.T)       { suite.JSON(t) }
func TestShows(t *testing.T)      { suite.Shows(t) }
