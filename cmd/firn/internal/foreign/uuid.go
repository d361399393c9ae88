package foreign

import (
	"time"

	"github.com/gofrs/uuid/v5"
)

// uuidKinds are the kinds of UUIDs by the version. 32 hexadecimal digits with a version and a variant are a text of
// scru160, too, but of 2^32 such texts one has these digits alone. The names of the fields are those of RFC 9562.
var uuidKinds = [...]Kind{
	1: {Name: "uuidv1", Marked: true, Fields: fields("time_low time_mid version time_high variant clock_seq node", 32, 16, 4, 12, 2, 14, 48)},
	2: {Name: "uuidv2", Marked: true, Fields: fields("local_id time_mid version time_high variant clock_seq domain node", 32, 16, 4, 12, 2, 6, 8, 48)},
	3: {Name: "uuidv3", Marked: true, Fields: fields("md5_high version md5_mid variant md5_low", 48, 4, 12, 2, 62)},
	4: {Name: "uuidv4", Marked: true, Fields: fields("random_a version random_b variant random_c", 48, 4, 12, 2, 62)},
	5: {Name: "uuidv5", Marked: true, Fields: fields("sha1_high version sha1_mid variant sha1_low", 48, 4, 12, 2, 62)},
	6: {Name: "uuidv6", Marked: true, Fields: fields("time_high time_mid version time_low variant clock_seq node", 32, 16, 4, 12, 2, 14, 48)},
	7: {Name: "uuidv7", Marked: true, Fields: fields("unix_ts_ms version rand_a variant rand_b", 48, 4, 12, 2, 62)},
	8: {Name: "uuidv8", Marked: true, Fields: fields("custom_a version custom_b variant custom_c", 48, 4, 12, 2, 62)},
}

// uuids reads a UUID of a version: the usual text or 32 digits, also in braces or behind urn:uuid:.
func uuids(ids []ID, s string) []ID {
	const digits = 32
	if len(s) == digits && !consists(s, hexDigits) { // errors take time
		return ids
	}
	u, err := uuid.FromString(s)
	if err != nil || u.Variant() != uuid.VariantRFC9562 || u.Version() < 1 || int(u.Version()) >= len(uuidKinds) {
		return ids
	}
	id := ID{Kind: &uuidKinds[u.Version()], Text: u.String(), Binary: u[:]}
	id.Time, id.Timed = uuidTime(u)
	return append(ids, id)
}

// uuidTime returns the time of a UUID. ok is false for a version without a time.
func uuidTime(u uuid.UUID) (t time.Time, ok bool) {
	var since uuid.Timestamp
	var err error
	switch u.Version() {
	case uuid.V1:
		since, err = uuid.TimestampFromV1(u)
	case 2:
		// A local ID stands in the place of the lowest 32 bits of the time, which are 7 minutes. The other bits
		// are those of version 1.
		clear(u[:4])
		u.SetVersion(uuid.V1)
		since, err = uuid.TimestampFromV1(u)
	case uuid.V6:
		since, err = uuid.TimestampFromV6(u)
	case uuid.V7:
		since, err = uuid.TimestampFromV7(u)
	default:
		return time.Time{}, false
	}
	if err == nil {
		t, err = since.Time()
	}
	return t.UTC(), err == nil
}
