package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"
)

// A codec is the codec of a type of PostgreSQL. A codec hands all values but IDs to the embedded
// codec.
type codec struct {
	pgtype.Codec
	column column
	name   string // of the type of PostgreSQL
	forms  map[reflect.Type]form
}

// PlanEncode implements [pgtype.Codec].
func (c *codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	f, ok := c.forms[reflect.TypeOf(value)]
	switch {
	case !ok || f.encode == nil:
		return c.Codec.PlanEncode(m, oid, format, value)
	case !f.writes.has(c.column):
		return refuseEncode{f.refuse(c)}
	}
	return f.encode(c.encoder(f, format))
}

// PlanScan implements [pgtype.Codec].
func (c *codec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	f, ok := c.forms[reflect.TypeOf(target)]
	switch {
	case !ok || f.scan == nil:
		return c.Codec.PlanScan(m, oid, format, target)
	case reflect.TypeOf(target).Elem().Kind() == reflect.Pointer:
		return nil // m takes pointers to pointers apart, and asks for a plan of the inner pointer
	case !f.reads.has(c.column):
		return f.scan(refuseScan{f.refuse(c)})
	}
	return f.scan(c.scanner(f, m, oid, format))
}

// encoder returns the plan for a parameter of a type that the column holds.
func (c *codec) encoder(f form, format int16) pgtype.EncodePlan {
	switch {
	case !f.ours || format == pgtype.TextFormatCode && c.column&(bigint|bytea) != 0:
		return encodeValue{c.column, format}
	case c.column == text || format == pgtype.TextFormatCode:
		return encodeText{}
	}
	return encodeBinary{}
}

// scanner returns the plan for a destination of a type that the column holds.
func (c *codec) scanner(f form, m *pgtype.Map, oid uint32, format int16) pgtype.ScanPlan {
	padded := c.name == "bpchar"
	switch {
	case !f.ours || format == pgtype.TextFormatCode && c.column&(bigint|bytea) != 0:
		p := scanValue{column: c.column, format: format, padded: padded, name: f.format}
		if c.column == bytea {
			p.bytes = c.Codec.PlanScan(m, oid, format, new([]byte))
			p.size = f.size
		}
		return p
	case c.column == text || format == pgtype.TextFormatCode:
		return scanText{padded}
	}
	return scanBinary{}
}

// An appender has the forms of a type of the formats, without memory of their own.
type appender interface {
	ID
	encoding.BinaryAppender
	encoding.TextAppender
}

// encodeBinary writes the binary form. The binary form of an integer is also the form of an int8.
type encodeBinary struct{}

func (encodeBinary) Encode(value any, buf []byte) ([]byte, error) {
	id := value.(appender)
	if id.IsZero() {
		return noID(id)
	}
	return id.AppendBinary(buf)
}

// encodeText writes the canonical text.
type encodeText struct{}

func (encodeText) Encode(value any, buf []byte) ([]byte, error) {
	id := value.(appender)
	if id.IsZero() {
		return noID(id)
	}
	return id.AppendText(buf)
}

// noID returns the error of the zero ID. Value of a sno.ID has no error, as its published API says.
func noID(id driver.Valuer) ([]byte, error) {
	_, err := id.Value()
	if v, ok := id.(pgtype.BytesValuer); ok && err == nil {
		_, err = v.BytesValue()
	}
	return nil, err
}

// refuseEncode returns the error of an ID in a foreign column.
type refuseEncode struct{ err error }

func (p refuseEncode) Encode(any, []byte) ([]byte, error) { return nil, p.err }

// pointerPlan writes a *T, and NULL for nil.
type pointerPlan[T any] struct{ next pgtype.EncodePlan }

func (p pointerPlan[T]) Encode(value any, buf []byte) ([]byte, error) {
	if value.(*T) == nil {
		return nil, nil
	}
	return p.next.Encode(value, buf) // *T has the methods of T
}

// nullPlan writes a sql.Null[T] or a *sql.Null[T], and NULL for an invalid one.
type nullPlan[T any] struct{ next pgtype.EncodePlan }

func (p nullPlan[T]) Encode(value any, buf []byte) ([]byte, error) {
	n, ok := value.(sql.Null[T])
	if !ok {
		pointer := value.(*sql.Null[T])
		if pointer == nil {
			return nil, nil
		}
		n = *pointer
	}
	if !n.Valid {
		return nil, nil
	}
	return p.next.Encode(n.V, buf)
}

// scanBinary reads the binary form.
type scanBinary struct{}

func (scanBinary) Scan(src []byte, dst any) error {
	if len(src) == 0 {
		return scanEmpty(src, dst)
	}
	id, ok := dst.(encoding.BinaryUnmarshaler)
	if !ok {
		return pgtype.ErrScanTargetTypeChanged
	}
	return id.UnmarshalBinary(src)
}

// scanText reads the canonical text.
type scanText struct {
	padded bool // a column of type char has spaces at the end
}

func (p scanText) Scan(src []byte, dst any) error {
	if len(src) == 0 {
		return scanEmpty(src, dst)
	}
	id, ok := dst.(encoding.TextUnmarshaler)
	if !ok {
		return pgtype.ErrScanTargetTypeChanged
	}
	return id.UnmarshalText(p.trim(src))
}

func (p scanText) trim(src []byte) []byte {
	for p.padded && len(src) > 1 && src[len(src)-1] == ' ' {
		src = src[:len(src)-1]
	}
	return src
}

// scanEmpty reads NULL, and a value of no bytes. Scan of the type returns an error; only a sno.ID
// reads both as the zero ID.
func scanEmpty(src []byte, dst any) error {
	id, ok := dst.(sql.Scanner)
	switch {
	case !ok:
		return pgtype.ErrScanTargetTypeChanged
	case src == nil:
		return id.Scan(nil)
	}
	return id.Scan([]byte{})
}

// refuseScan returns the error of a destination and a foreign column.
type refuseScan struct{ err error }

func (p refuseScan) Scan(src []byte, dst any) error {
	if src == nil {
		if id, ok := dst.(sql.Scanner); ok {
			return id.Scan(nil)
		}
	}
	return p.err
}

// nullScan reads into a sql.Null[T].
type nullScan[T any] struct{ next pgtype.ScanPlan }

func (p nullScan[T]) Scan(src []byte, dst any) error {
	n, ok := dst.(*sql.Null[T])
	if !ok {
		return pgtype.ErrScanTargetTypeChanged
	}
	var read sql.Null[T]
	if src != nil {
		if err := p.next.Scan(src, &read.V); err != nil {
			return err
		}
		read.Valid = true
	}
	*n = read
	return nil
}
