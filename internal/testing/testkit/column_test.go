package testkit

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/nanoflake"
)

// Types of IDs with one fault each, which the checks of a Column must find.
type (
	decimalText struct{ nanoflake.ID } // reads decimal digits as an integer
	nullIsZero  struct{ nanoflake.ID } // reads NULL as the zero ID
	zeroStored  struct{ nanoflake.ID } // stores the zero ID
	textStored  struct{ nanoflake.ID } // stores the text
	trueIsOne   struct{ nanoflake.ID } // reads a boolean of BSON
	looseRedis  struct{ nanoflake.ID } // reads decimal digits from Redis
	hexOfText   struct{ nanoflake.ID } // shows the characters of the text for %x
)

func (m *decimalText) Scan(src any) error {
	if s, ok := src.(string); ok {
		v, err := strconv.ParseInt(s, 10, 64)
		if err == nil {
			m.ID = nanoflake.ID(v)
			return nil
		}
	}
	return m.ID.Scan(src)
}

func (m *nullIsZero) Scan(src any) error {
	if src == nil {
		m.ID = 0
		return nil
	}
	return m.ID.Scan(src)
}

func (m zeroStored) Value() (driver.Value, error) { return int64(m.ID), nil }
func (m textStored) Value() (driver.Value, error) { return m.String(), nil }

func (m *trueIsOne) UnmarshalBSONValue(kind byte, data []byte) error {
	if kind == 0x08 {
		m.ID = nanoflake.ID(data[0])
		return nil
	}
	return m.ID.UnmarshalBSONValue(kind, data)
}

func (m *looseRedis) ScanRedis(s string) error {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return m.ID.ScanRedis(s)
	}
	m.ID = nanoflake.ID(v)
	return nil
}

func (m hexOfText) Format(s fmt.State, verb rune) {
	fmt.Fprintf(s, fmt.FormatString(s, verb), m.String())
}

func (m decimalText) Compare(o decimalText) int { return m.ID.Compare(o.ID) }
func (m nullIsZero) Compare(o nullIsZero) int   { return m.ID.Compare(o.ID) }
func (m zeroStored) Compare(o zeroStored) int   { return m.ID.Compare(o.ID) }
func (m textStored) Compare(o textStored) int   { return m.ID.Compare(o.ID) }
func (m trueIsOne) Compare(o trueIsOne) int     { return m.ID.Compare(o.ID) }
func (m looseRedis) Compare(o looseRedis) int   { return m.ID.Compare(o.ID) }
func (m hexOfText) Compare(o hexOfText) int     { return m.ID.Compare(o.ID) }

// A recorder takes the errors of a check.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// faults returns the errors of a type whose underlying type is a struct of an ID.
func faults[S Stored[S], P StoredPointer[S]](wrap func(nanoflake.ID) S, unwrap func(S) nanoflake.ID) string {
	var r recorder
	Column[S, P]{
		Model: Nanoflake, Type: "nanoflake.ID", Writes: Integers, Reads: Integers, SQL: "bigint", Else: "nanoflake.Text",
		Make:  func(v *big.Int) S { return wrap(nanoflake.ID(v.Int64())) },
		Value: func(s S) *big.Int { return big.NewInt(int64(unwrap(s))) },
	}.test(&r)
	return strings.Join(r.errors, "\n")
}

func TestColumnFindsFaults(t *testing.T) {
	same := func(id nanoflake.ID) nanoflake.ID { return id }
	if got := faults(same, same); got != "" {
		t.Errorf("no fault: %s", got)
	}
	for name, v := range map[string]struct{ got, want string }{
		"decimal text": {faults(func(id nanoflake.ID) decimalText { return decimalText{id} }, func(m decimalText) nanoflake.ID { return m.ID }), "Scan(string"},
		"NULL is zero": {faults(func(id nanoflake.ID) nullIsZero { return nullIsZero{id} }, func(m nullIsZero) nanoflake.ID { return m.ID }), "want an error"},
		"zero stored":  {faults(func(id nanoflake.ID) zeroStored { return zeroStored{id} }, func(m zeroStored) nanoflake.ID { return m.ID }), "Value of the zero ID"},
		"text stored":  {faults(func(id nanoflake.ID) textStored { return textStored{id} }, func(m textStored) nanoflake.ID { return m.ID }), "is string"},
		"true is one":  {faults(func(id nanoflake.ID) trueIsOne { return trueIsOne{id} }, func(m trueIsOne) nanoflake.ID { return m.ID }), "BSON of true"},
		"loose Redis":  {faults(func(id nanoflake.ID) looseRedis { return looseRedis{id} }, func(m looseRedis) nanoflake.ID { return m.ID }), "Redis"},
		"hex of text":  {faults(func(id nanoflake.ID) hexOfText { return hexOfText{id} }, func(m hexOfText) nanoflake.ID { return m.ID }), "%x is"},
	} {
		if !strings.Contains(v.got, v.want) {
			t.Errorf("%s is not found: %q", name, v.got)
		}
	}
}
