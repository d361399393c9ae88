package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/iderr"
)

// The plans of this file are for types of programs. The text of such a type may differ from the
// text of the embedded ID, for example by a prefix. Value and Scan define the value of a column.

// encodeValue writes the result of Value.
type encodeValue struct {
	column column
	format int16
}

func (p encodeValue) Encode(value any, buf []byte) ([]byte, error) {
	v, err := p.value(value)
	if err != nil {
		return nil, err
	}
	asText := p.format == pgtype.TextFormatCode
	switch v := v.(type) {
	case int64:
		switch {
		case p.column != bigint:
		case asText:
			return strconv.AppendInt(buf, v, 10), nil
		default:
			return binary.BigEndian.AppendUint64(buf, uint64(v)), nil
		}
	case []byte:
		switch {
		case p.column != bytea:
		case asText:
			return hex.AppendEncode(append(buf, `\x`...), v), nil
		default:
			return append(buf, v...), nil
		}
	case string:
		switch {
		case p.column == text || p.column == uuid && asText:
			return append(buf, v...), nil
		case p.column == uuid:
			var u pgtype.UUID
			if err := u.Scan(v); err != nil {
				return nil, err
			}
			return append(buf, u.Bytes[:]...), nil
		}
	}
	return nil, &iderr.ParseError{Format: "pgxid", Offset: -1, Err: iderr.ErrType, Reason: fmt.Sprintf("a value of type %T holds no ID", v)}
}

// value returns the value for the column. A scru160.ID has two.
func (p encodeValue) value(value any) (driver.Value, error) {
	if p.column == bytea {
		if id, ok := value.(pgtype.BytesValuer); ok {
			return id.BytesValue()
		}
	}
	return value.(driver.Valuer).Value()
}

// scanValue reads by Scan.
type scanValue struct {
	column column
	format int16
	padded bool            // a column of type char has spaces at the end
	bytes  pgtype.ScanPlan // reads a bytea
	size   int             // of a bytea: Scan would read the characters of a text, too
	name   string          // of the format
}

func (p scanValue) Scan(src []byte, dst any) error {
	id, ok := dst.(sql.Scanner)
	switch {
	case !ok:
		return pgtype.ErrScanTargetTypeChanged
	case src == nil || len(src) == 0 && p.column != bytea:
		return scanEmpty(src, dst)
	case p.column == bigint:
		v, err := p.integer(src)
		if err != nil {
			return err
		}
		return id.Scan(v)
	case p.column == bytea && p.bytes != nil:
		var b []byte
		if err := p.bytes.Scan(src, &b); err != nil {
			return err
		}
		if len(b) != p.size && len(b) > 0 {
			return wrongLength(p.name, b, p.size)
		}
		return id.Scan(b)
	case p.column == uuid && p.format == pgtype.BinaryFormatCode:
		return id.Scan(src)
	}
	return id.Scan(string(scanText{p.padded}.trim(src)))
}

// integer reads a bigint.
func (p scanValue) integer(src []byte) (int64, error) {
	if p.format == pgtype.TextFormatCode {
		return strconv.ParseInt(string(src), 10, 64)
	}
	if len(src) != 8 {
		return 0, wrongLength("pgxid", src, 8)
	}
	return int64(binary.BigEndian.Uint64(src)), nil
}

// wrongLength returns the error of bytes that are not an ID of size bytes.
func wrongLength(format string, b []byte, size int) error {
	const most = 64 // bytes of an input that an error keeps
	return &iderr.ParseError{Format: format, Input: string(b[:min(len(b), most)]), Cut: len(b) > most, Offset: -1, Err: iderr.ErrLength,
		Reason: fmt.Sprintf("length is %d, not %d bytes", len(b), size)}
}
