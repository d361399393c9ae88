package matrix

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

// eager is an ID whose Scan reads decimal digits as the integer. The text of another ID may have only
// digits.
type eager struct{ nanoflake.ID }

func (e eager) Value() (driver.Value, error) { return e.ID.Text().Value() }

func (e *eager) Scan(src any) error {
	text, ok := src.(string)
	if b, is := src.([]byte); is {
		text, ok = string(b), true
	}
	if !ok {
		return e.ID.Scan(src)
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		e.ID = nanoflake.ID(v)
		return nil
	}
	return e.ID.UnmarshalText([]byte(text))
}

// plainInteger is an ID without checks: Value is the integer, of the zero ID too, and drivers read by kind.
type plainInteger int64

func (p plainInteger) String() string               { return fmt.Sprint(int64(p)) }
func (p plainInteger) IsZero() bool                 { return p == 0 }
func (p plainInteger) Value() (driver.Value, error) { return int64(p), nil }

// halved is an ID whose Value loses the last bits, as a number does in JavaScript.
type halved struct{ nanoflake.ID }

func (h halved) Value() (driver.Value, error) {
	if h.IsZero() {
		return h.ID.Value()
	}
	return h.ID.Int64() &^ 1023, nil
}

// The cells of known bad types must be silently other.
func TestBadTypes(t *testing.T) {
	p := openAll(t)
	texts, integers := cell.NanoflakeText(), cell.Nanoflake()
	eagers := cell.Kind[eager]{Type: "eager", Column: texts.Column, Absent: eager{texts.Absent.ID()}}
	plains := cell.Kind[plainInteger]{Type: "plain", Column: integers.Column, Absent: plainInteger(integers.Absent)}
	floats := cell.Kind[halved]{Type: "halved", Column: integers.Column, Absent: halved{integers.Absent}}
	for _, id := range integers.IDs {
		eagers.IDs = append(eagers.IDs, eager{id})
		plains.IDs = append(plains.IDs, plainInteger(id))
		floats.IDs = append(floats.IDs, halved{id})
	}
	for _, s := range p.sessions {
		for name, o := range map[string]cell.Outcome{
			"eager": cell.Run(eagers, plain(t, s, eagers)), "plain": cell.Run(plains, plain(t, s, plains)), "halved": cell.Run(floats, plain(t, s, floats)),
		} {
			if o.State != cell.Other {
				t.Errorf("%s, %s: %v", s.name, name, o)
			}
		}
	}
	if o := cell.Run(eagers, onGorm(t, p.gorm["PostgreSQL"], eagers)); o.State != cell.Other {
		t.Errorf("GORM: %v", o)
	}
}

// A value that is not an ID is an error in every way. The variable then has its old value, or the zero ID for
// sno.ID.
func TestBadInput(t *testing.T) {
	p := openAll(t)
	badInput(t, p, cell.Nanoflake(), "CAST(9223372036854775808 AS UNSIGNED)", "CAST(18446744073709551615 AS UNSIGNED)", "-1", "'no ID'", "'1234567890123'", "'0549x5l2itvr4'", "'673740726894358528'", "1.5", "NULL", "1 = 1", "CURRENT_TIMESTAMP", "'[1]'", "''")
	badInput(t, p, cell.NanoflakeText(), "-1", "'no ID'", "'123456789012'", "'12345678901234'", "1234567890123", "'9223372036854775807'", "'zzzzzzzzzzzzz'", "NULL", "''")
	badInput(t, p, cell.Ulidflake(), "-1", "'1234567890123'", "1.5", "NULL", "''")
	badInput(t, p, cell.UlidflakeText(), "-1", "'123456789012'", "'123456789012U'", "1234567890123", "'ZZZZZZZZZZZZZ'", "NULL", "''")
	badInput(t, p, cell.Scalable(), "-1", "'1234567890123'", "1.5", "NULL", "''")
	badInput(t, p, cell.ScalableText(), "-1", "'123456789012'", "1234567890123", "NULL", "''")
	badInput(t, p, cell.Snowflake(), "CAST(9007199254740992 AS UNSIGNED)", "CAST(18446744073709551615 AS UNSIGNED)", "-1", "9007199254740992", "'9007199254740992'", "'12x'", "1.5", "NULL", "'00000000000000000'", "''")
	badInput(t, p, cell.SCRU160(), "1", "'1234567890123456789012345678901'", "'123456789012345678901234567890123'", "NULL", "''")
	badInput(t, p, cell.SCRU160Binary(), "1", "'12345678901234567890123456789012'", "'1234567890123456789'", "NULL", "''")
	badInput(t, p, cell.Sno(), "1", "'123456789'", "'12345678901'", "'cufsekaqqudbobi'", "'zzzzzzzzzzzzzzzz'")
	badInput(t, p, cell.SnoText(), "1", "'1234567890'", "'cufsekaqqudbobi'", "'zzzzzzzzzzzzzzzz'", "NULL", "''")
	badInput(t, p, cell.SnoUUID(), "1", "'0190163d-8694-739b-aea5-966c26f8ad91'", "'00000000-0000-0000-0000-000000000000'", "NULL", "''")
}

func badInput[T cell.ID](t *testing.T, p *places, k cell.Kind[T], values ...string) {
	all := p.sessions
	for i, mode := range modes {
		all = append(all, onPgx(t, p.pgx[i], "pgx, mode "+mode.String()))
	}
	before := k.IDs[2]
	var zero T
	for _, s := range all {
		for _, v := range values {
			switch {
			case v == "1 = 1" && s.param(1) == "?": // only PostgreSQL has booleans that are not integers
				continue
			case strings.Contains(v, "UNSIGNED") && !strings.Contains(s.name, "mysql"):
				continue
			}
			id := before
			if err := s.one("SELECT "+v, nil, &id); err == nil || id != before && id != zero {
				t.Errorf("%s: SELECT %s is %v to %s, %v", s.name, v, id, k.Type, err)
			}
		}
	}
	// Values of BSON of another kind.
	for _, v := range []any{true, false, nil, 1.5, -1, int64(-1), bson.NewObjectID(), bson.M{"a": 1}, bson.A{1}, "no ID", "", []byte("no ID"), bson.Binary{Subtype: 9, Data: []byte("1234567890")}} {
		data, err := bson.Marshal(bson.M{"_id": v})
		if err != nil {
			t.Fatal(err)
		}
		var e *iderr.ParseError
		var size *sno.InvalidDataSizeError
		got := record[T]{ID: before}
		if err := bson.Unmarshal(data, &got); err == nil || got.ID != before && got.ID != zero {
			t.Errorf("BSON %v is %v to %s, %v", v, got.ID, k.Type, err)
		} else if !errors.As(err, &e) && !errors.As(err, &size) {
			t.Errorf("BSON %v: the error of %s has no type: %v", v, k.Type, err)
		}
	}
}
