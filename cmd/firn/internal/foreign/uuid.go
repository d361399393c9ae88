package foreign

import (
	"time"

	"github.com/google/uuid"
)

// uuidKinds are the kinds of UUIDs by the version. The names of the fields are those of RFC 9562.
var uuidKinds = [...]Kind{
	1: {Name: "uuidv1", Fields: fields("time_low time_mid version time_high variant clock_seq node", 32, 16, 4, 12, 2, 14, 48)},
	2: {Name: "uuidv2", Fields: fields("local_id time_mid version time_high variant clock_seq domain node", 32, 16, 4, 12, 2, 6, 8, 48)},
	3: {Name: "uuidv3", Fields: fields("md5_high version md5_mid variant md5_low", 48, 4, 12, 2, 62)},
	4: {Name: "uuidv4", Fields: fields("random_a version random_b variant random_c", 48, 4, 12, 2, 62)},
	5: {Name: "uuidv5", Fields: fields("sha1_high version sha1_mid variant sha1_low", 48, 4, 12, 2, 62)},
	6: {Name: "uuidv6", Fields: fields("time_high time_mid version time_low variant clock_seq node", 32, 16, 4, 12, 2, 14, 48)},
	7: {Name: "uuidv7", Fields: fields("unix_ts_ms version rand_a variant rand_b", 48, 4, 12, 2, 62)},
	8: {Name: "uuidv8", Fields: fields("custom_a version custom_b variant custom_c", 48, 4, 12, 2, 62)},
}

// uuids reads a UUID of a version: the usual text, also in braces or behind urn:uuid:, or 32 digits.
func uuids(ids []ID, s string) []ID {
	const braced, plain, digits = 38, 36, 32
	if len(s) == digits && !consists(s, hexDigits) { // errors take time
		return ids
	}
	u, err := uuid.Parse(s)
	if err != nil || len(s) == braced && (s[0] != '{' || s[plain+1] != '}') { // the library reads any brackets
		return ids
	}
	if u.Variant() != uuid.RFC4122 || u.Version() < 1 || int(u.Version()) >= len(uuidKinds) {
		return ids
	}
	id := ID{Kind: &uuidKinds[u.Version()], Text: u.String(), Binary: u[:]}
	id.Time, id.Timed = uuidTime(u)
	return append(ids, id)
}

// uuidTime returns the time of a UUID. ok is false for a version without a time.
func uuidTime(u uuid.UUID) (t time.Time, ok bool) {
	switch u.Version() {
	case 1, 6, 7:
	case 2:
		// A local ID stands in the place of the lowest 32 bits of the time, which are 7 minutes.
		clear(u[:4])
	default:
		return time.Time{}, false
	}
	return time.Unix(u.Time().UnixTime()).UTC(), true
}
