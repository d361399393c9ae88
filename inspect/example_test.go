package inspect_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/firn-id/firn/inspect"
)

// An ID of an unknown format: Candidates tries all formats and all forms, and ranks the candidates by how
// plausible the time is.
func ExampleCandidates() {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range inspect.Candidates("673740726894358528", inspect.Settings{}, now) {
		fmt.Println(c.Format.Name(), c.ID, c.Time.Format(time.DateOnly))
	}
	// Output:
	// nanoflake 0549x5l2itvr4 2026-02-03
	// ulidflake 0JPCVKWCM0W00 2044-05-11
	// ulidflake-scalable 0JPCVKWCM0W00 2044-05-11
}

// The fields of an ID of a known format.
func ExampleFormat_Inspect() {
	format, _ := inspect.Lookup("nanoflake")
	info, err := format.Inspect("0549x5l2itvr4", inspect.Text, inspect.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range info.Fields {
		fmt.Println(f.Name, f.Value)
	}
	fmt.Println(info.Time)
	// Output:
	// timestamp 160632306789
	// generator_id 7
	// sequence 0
	// 2026-02-03 04:05:06.789 +0000 UTC
}

// The canonical form of an ID that is written in hex.
func ExampleFormat_Read() {
	format, _ := inspect.Lookup("sno")
	info, err := format.Read("3b1d3f3a32ff00070000", inspect.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.ID)
	// Output: 9eglwgjkxu22g222
}

// An Info is one JSON object, as firn inspect --json prints it.
func ExampleInfo_MarshalJSON() {
	format, _ := inspect.Lookup("snowflakesi")
	info, err := format.Inspect("1315899857217280", inspect.Text, inspect.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	object, err := json.Marshal(info)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(object))
	// Output: {"format":"snowflakesi","id":"1315899857217280","int":"1315899857217280","hex":"0004accdcf8ca700","time":"2026-02-03T04:05:06.789Z","unix_ms":1770091506789,"fields":{"timestamp":160632306789,"machine_id":7,"sequence":0}}
}

// The names of all formats.
func ExampleFormats() {
	for _, f := range inspect.Formats() {
		fmt.Println(f.Name())
	}
	// Output:
	// nanoflake
	// ulidflake
	// ulidflake-scalable
	// snowflakesi
	// scru160
	// sno
}

// A Reader reads many IDs, and writes an object for each, without an allocation.
func ExampleReader() {
	format, _ := inspect.Lookup("nanoflake")
	reader, err := format.NewReader(inspect.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var id, object []byte
	for _, text := range []string{"0549x5l2itvr4", "673740726894358529"} {
		if id, err = reader.AppendRead(id[:0], []byte(text)); err != nil {
			fmt.Println(err)
			continue
		}
		object, _ = reader.AppendJSON(object[:0], id)
		fmt.Println(reader.Time(id), len(object))
	}
	// Output:
	// 2026-02-03 04:05:06.789 +0000 UTC 219
	// 2026-02-03 04:05:06.789 +0000 UTC 219
}

// An ID read with a wrong epoch often has a time in the future.
func ExamplePlausible() {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	fmt.Println(inspect.Plausible(now.AddDate(-1, 0, 0), now))
	fmt.Println(inspect.Plausible(now.AddDate(1, 0, 0), now))
	// Output:
	// true
	// false
}
