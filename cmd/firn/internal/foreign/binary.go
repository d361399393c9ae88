package foreign

import (
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/oklog/ulid/v2"
	"github.com/segmentio/ksuid"
	"go.jetify.com/typeid"
)

var (
	ulidKind     = Kind{Name: "ulid", Fields: fields("timestamp randomness", 48, 80)}
	ksuidKind    = Kind{Name: "ksuid", Fields: fields("timestamp payload", 32, 128)}
	xidKind      = Kind{Name: "xid", Fields: fields("timestamp machine_id process_id counter", 32, 24, 16, 24)}
	objectIDKind = Kind{Name: "objectid", Fields: fields("timestamp random counter", 32, 40, 24)}

	// A TypeID has a UUID of version 7, or any other UUID.
	typeIDKind      = Kind{Name: "typeid", Fields: uuidKinds[7].Fields}
	typeIDOtherKind = Kind{Name: "typeid", Fields: fields("uuid", 128)}
)

func ulids(ids []ID, s string) []ID {
	u, err := ulid.ParseStrict(s)
	if err != nil {
		return ids
	}
	return append(ids, ID{Kind: &ulidKind, Text: u.String(), Binary: u[:], Timed: true, Time: u.Timestamp().UTC()})
}

func ksuids(ids []ID, s string) []ID {
	k, err := ksuid.Parse(s)
	if err != nil || k.String() != s {
		return ids
	}
	return append(ids, ID{Kind: &ksuidKind, Text: s, Binary: k.Bytes(), Timed: true, Time: k.Time().UTC()})
}

// xids reads an xid. The library of xid reads files of the machine as soon as a program starts, so only the tests
// have the library.
func xids(ids []ID, s string) []ID {
	const digits = "0123456789abcdefghijklmnopqrstuv"
	encoding := base32.NewEncoding(digits).WithPadding(base32.NoPadding)
	b, err := encoding.DecodeString(s)
	if err != nil || encoding.EncodeToString(b) != s { // the last character has bits that do not count
		return ids
	}
	return appendUsual(ids, ID{Kind: &xidKind, Text: s, Binary: b, Timed: true, Time: unix(b)})
}

// objectIDs reads the ID of a MongoDB document.
func objectIDs(ids []ID, s string) []ID {
	b, err := hex.DecodeString(s)
	if err != nil {
		return ids
	}
	return append(ids, ID{Kind: &objectIDKind, Text: strings.ToLower(s), Binary: b, Timed: true, Time: unix(b)})
}

// unix returns the time of the first four bytes in seconds.
func unix(b []byte) time.Time { return time.Unix(int64(binary.BigEndian.Uint32(b)), 0).UTC() }

// typeIDs reads a TypeID. Without a prefix, only the UUID of version 7 tells a TypeID from a ULID in lower case.
func typeIDs(ids []ID, s string) []ID {
	const suffix = 26 // characters
	if len(s) < suffix || len(s) > suffix && s[len(s)-suffix-1] != '_' {
		return ids
	}
	t, err := typeid.FromString(s)
	if err != nil {
		return ids
	}
	u := uuid.UUID(t.UUIDBytes())
	id := ID{Kind: &typeIDOtherKind, Text: s, Prefix: t.Prefix(), Binary: u[:]}
	if u.Version() == uuid.V7 && u.Variant() == uuid.VariantRFC9562 {
		id.Kind = &typeIDKind
		id.Time, id.Timed = uuidTime(u)
	}
	if id.Prefix == "" && !id.Timed {
		return ids
	}
	return append(ids, id)
}
