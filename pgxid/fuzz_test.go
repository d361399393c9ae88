package pgxid_test

import (
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

// FuzzScan reads any bytes from any column into each type. The model is pgx without Register: pgx
// then calls Scan and ScanBytes. The model must read the same ID. An error leaves the destination
// at zero.
func FuzzScan(f *testing.F) {
	m, model := registered(), pgtype.NewMap()
	var types []reflect.Type
	each(func(oid uint32, value, target any) {
		types = append(types, reflect.TypeOf(value))
		for _, format := range []int16{binary, text} {
			src, err := m.Encode(oid, format, value, nil)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	})
	f.Add([]byte{})
	f.Add([]byte("1234567890123"))
	f.Add([]byte(`"abcdefgh"`))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, typ := range types {
			for _, oid := range []uint32{pgtype.Int8OID, pgtype.TextOID, pgtype.ByteaOID, pgtype.UUIDOID, pgtype.JSONBOID, pgtype.Float8OID, pgtype.NameOID, pgtype.NumericOID} {
				for _, format := range []int16{binary, text} {
					got, want := reflect.New(typ), reflect.New(typ)
					if err := m.Scan(oid, format, src, got.Interface()); err != nil {
						if !got.Elem().IsZero() {
							t.Errorf("%v from OID %d, format %d: %v, %v", typ, oid, format, got.Elem(), err)
						}
						continue
					}
					if err := model.Scan(oid, format, src, want.Interface()); err != nil || !got.Elem().Equal(want.Elem()) {
						t.Errorf("%v from OID %d, format %d: %v; the model reads %v, %v", typ, oid, format, got.Elem(), want.Elem(), err)
					}
				}
			}
		}
	})
}

// FuzzScanAll compares the errors too. For integers and UUIDs, the codecs and the model accept the
// same bytes.
func FuzzScanAll(f *testing.F) {
	m, model := registered(), pgtype.NewMap()
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1})
	f.Add([]byte("xxxxxxxxxxxxxxxx"))
	f.Fuzz(func(t *testing.T, src []byte) {
		each(func(oid uint32, value, _ any) {
			if oid != pgtype.Int8OID && oid != pgtype.UUIDOID {
				return
			}
			got, want := reflect.New(reflect.TypeOf(value)), reflect.New(reflect.TypeOf(value))
			err := m.Scan(oid, binary, src, got.Interface())
			if bad := model.Scan(oid, binary, src, want.Interface()); (err == nil) != (bad == nil) || !got.Elem().Equal(want.Elem()) {
				t.Errorf("%T: %v, %v; the model reads %v, %v", value, got.Elem(), err, want.Elem(), bad)
			}
		})
	})
}
