package pgxid

import (
	"database/sql"
	"encoding/binary"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// direct gives integers and arrays of bytes plans for the binary format without a call by an
// interface. The plans leave NULL, the zero ID and values of a wrong size to encodeBinary and
// scanBinary.
func direct(forms map[reflect.Type]form) {
	integers(forms, nanoflake.Max)
	integers(forms, ulidflake.Max)
	integers(forms, ulidflake.MaxScalable)
	integers(forms, snowflakesi.Max)
	replaceScan[scru160.ID](forms, scanArray[scru160.ID]{scru160.Size, func(id *scru160.ID, b []byte) { *id = scru160.ID(b) }})
	replaceScan[scru160.Binary](forms, scanArray[scru160.Binary]{scru160.Size, func(id *scru160.Binary, b []byte) { *id = scru160.Binary(b) }})
	replaceScan[sno.ID](forms, scanArray[sno.ID]{sno.SizeBinary, func(id *sno.ID, b []byte) { *id = sno.ID(b) }})
}

func integers[T ~int64](forms map[reflect.Type]form, largest T) {
	t := reflect.TypeFor[T]()
	f := forms[t]
	f.encode = func(next pgtype.EncodePlan) pgtype.EncodePlan {
		if _, ok := next.(encodeBinary); ok {
			return encodeInteger[T]{largest}
		}
		return next
	}
	forms[t] = f
	replaceScan[T](forms, scanInteger[T]{largest})
}

// replaceScan replaces the plan scanBinary of a *T.
func replaceScan[T any](forms map[reflect.Type]form, plan pgtype.ScanPlan) {
	t := reflect.TypeFor[*T]()
	f := forms[t]
	f.scan = func(next pgtype.ScanPlan) pgtype.ScanPlan {
		if _, ok := next.(scanBinary); ok {
			return plan
		}
		return next
	}
	forms[t] = f
}

// encodeInteger is encodeBinary for a T.
type encodeInteger[T ~int64] struct{ largest T }

func (p encodeInteger[T]) Encode(value any, buf []byte) ([]byte, error) {
	id := value.(T)
	if id <= 0 || id > p.largest {
		return encodeBinary{}.Encode(value, buf)
	}
	return binary.BigEndian.AppendUint64(buf, uint64(id)), nil
}

// scanInteger is scanBinary for a *T.
type scanInteger[T ~int64] struct{ largest T }

func (p scanInteger[T]) Scan(src []byte, dst any) error {
	target, ok := dst.(*T)
	if ok && len(src) == 8 {
		if v := T(binary.BigEndian.Uint64(src)); v >= 0 && v <= p.largest {
			*target = v
			return nil
		}
	}
	return scanNoID(src, dst)
}

// scanNoID returns the error of a bigint that is no ID. The error of Scan has the decimal digits,
// and the error of UnmarshalBinary would have the bytes.
func scanNoID(src []byte, dst any) error {
	if id, ok := dst.(sql.Scanner); ok && len(src) == 8 {
		return id.Scan(int64(binary.BigEndian.Uint64(src)))
	}
	return scanBinary{}.Scan(src, dst)
}

// scanArray is scanBinary for a *T. All values of size bytes must be IDs.
type scanArray[T any] struct {
	size int
	set  func(*T, []byte)
}

func (p scanArray[T]) Scan(src []byte, dst any) error {
	if target, ok := dst.(*T); ok && len(src) == p.size {
		p.set(target, src)
		return nil
	}
	return scanBinary{}.Scan(src, dst)
}
