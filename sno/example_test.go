package sno_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/firn-id/firn/sno"
)

// now is the clock of the examples, so that their IDs are always the same. Programs set no Clock.
func now() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC) }

// The partition of the package-level New is drawn at random: it is for a system with one process.
func ExampleNew() {
	const PersonType = 1
	id := sno.New(PersonType)
	fmt.Println(id.Meta(), len(id), len(id.String()))
	// Output: 1 10 16
}

// Each generator of a system has a partition of its own. The goroutines of a process share the
// generator.
func ExampleNewGenerator() {
	gen, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: sno.Partition{'A', 10}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	id := gen.New(255)
	fmt.Println(id.Partition(), id.Meta())
	// Output: [65 10] 255
}

func ExampleNewGeneratorWith() {
	gen, err := sno.NewGeneratorWith(sno.Config{
		Snapshot:    &sno.GeneratorSnapshot{Partition: sno.Partition{0, 7}},
		MaxBackward: -1, // where Next would wait for the clock, an error at once
		Clock:       now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background(), 255)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id, id.Time(), id.Meta(), id.Partition().AsUint16(), id.Sequence())
	// Output: 9eglwgjkxu22g222 2026-02-03 04:05:06.788 +0000 UTC 255 7 0
}

// TryNext never waits, and says so if there is no ID.
func ExampleGenerator_TryNext() {
	gen, err := sno.NewGeneratorWith(sno.Config{
		Snapshot: &sno.GeneratorSnapshot{Partition: sno.Partition{0, 7}, SequenceMax: 99},
		Clock:    now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 0; ; n++ {
		if _, err := gen.TryNext(0); errors.Is(err, sno.ErrExhausted) {
			fmt.Println(n, "IDs, then:", err)
			return
		}
	}
	// Output: 100 IDs, then: sno: sequence exhausted in this time unit
}

// Fill makes many IDs at once, for rows that are written in one batch.
func ExampleGenerator_Fill() {
	gen, err := sno.NewGeneratorWith(sno.Config{Snapshot: &sno.GeneratorSnapshot{Partition: sno.Partition{0, 7}}, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]sno.ID, 3)
	if _, err := gen.Fill(context.Background(), 255, ids); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids)
	// Output: [9eglwgjkxu22g222 9eglwgjkxu22g223 9eglwgjkxu22g224]
}

// TryFill takes what a generator has now, and never waits.
func ExampleGenerator_TryFill() {
	gen, err := sno.NewGeneratorWith(sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 99}, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.TryFill(255, make([]sno.ID, 1000)))
	// Output: 100 sno: sequence exhausted in this time unit
}

func ExampleGenerator_Seq() {
	gen, err := sno.NewGeneratorWith(sno.Config{Snapshot: &sno.GeneratorSnapshot{Partition: sno.Partition{0, 7}}, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	for id, err := range gen.Seq(context.Background(), 255, 3) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(id)
	}
	// Output:
	// 9eglwgjkxu22g222
	// 9eglwgjkxu22g223
	// 9eglwgjkxu22g224
}

// A program saves a Snapshot after its last ID. Its next run restores the generator: the new IDs do not
// repeat the old IDs, also if the clock was set back in between.
func ExampleGenerator_Snapshot() {
	generator, err := sno.NewGeneratorWith(sno.Config{Snapshot: &sno.GeneratorSnapshot{Partition: sno.Partition{'A', 10}}, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(generator.New(0))

	// The program ends, and starts again.
	saved, err := json.Marshal(generator.Snapshot())
	if err != nil {
		fmt.Println(err)
		return
	}
	var snapshot sno.GeneratorSnapshot
	if err := json.Unmarshal(saved, &snapshot); err != nil {
		fmt.Println(err)
		return
	}
	restored, err := sno.NewGeneratorWith(sno.Config{Snapshot: &snapshot, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(restored.New(0))
	// Output:
	// 9eglwgjk232im222
	// 9eglwgjk232im223
}

// A receiver learns of time units in which calls had to wait. A channel with a buffer misses fewer
// notifications.
func ExampleSequenceOverflowNotification() {
	overflows := make(chan *sno.SequenceOverflowNotification, 16)
	gen, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: sno.Partition{0, 7}, SequenceMax: 3}, overflows)
	if err != nil {
		fmt.Println(err)
		return
	}
	for len(overflows) == 0 { // a time unit has 4 IDs
		gen.New(0)
	}
	fmt.Println((<-overflows).Count, "call had to wait")
	// Output: 1 call had to wait
}

// A scan from First of a time to Last of another time finds all IDs between.
func ExampleFirst() {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	first, last := sno.First(at), sno.Last(at.Add(time.Minute))
	id := sno.MustParse("9eglwgjkxu22g222")
	fmt.Println(first, last, first.Compare(id) <= 0 && id.Compare(last) <= 0)
	// Output: 9eglwg7a22222222 9eglxdgrxxxxxxxx true
}

func ExampleParse() {
	id, err := sno.Parse("9eglwgjkxu22g222")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Time(), id.Meta(), id.Partition(), id.Sequence(), id.TickTock())

	_, err = sno.Parse("9eglwgjkxu22g22z")
	fmt.Println(err)
	_, err = sno.Parse("9eglwgjkxu22g22")
	fmt.Println(err)
	// Output:
	// 2026-02-03 04:05:06.788 +0000 UTC 255 [0 7] 0 0
	// sno: "9eglwgjkxu22g22z": offset 15: character 'z' is not in [2-9a-x]
	// sno: length of data is 15: a text has 16 characters, the binary form 10 bytes
}

func ExampleParseError() {
	_, err := sno.Parse("9eglwgjkxu22g22z")
	if bad, ok := errors.AsType[*sno.ParseError](err); ok {
		fmt.Println(bad.Offset)
	}
	// Output: 15
}

func ExamplePartition_PutUint16() {
	var p sno.Partition
	p.PutUint16(65535)
	fmt.Println(p, p.AsUint16())
	// Output: [255 255] 65535
}

// FromTime makes the IDs of rows that are older than their IDs. A partition that no generator uses keeps
// these IDs apart from new IDs.
func ExampleFromTime() {
	created := time.Date(2022, 5, 1, 9, 30, 0, 0, time.UTC)
	for sequence := range uint16(2) {
		id, err := sno.FromTime(created, 255, sno.Partition{255, 255}, sequence)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(id, id.Time())
	}
	// Output:
	// 7n7w85p2xxxxw222 2022-05-01 09:30:00 +0000 UTC
	// 7n7w85p2xxxxw223 2022-05-01 09:30:00 +0000 UTC
}

// An ID in JSON is a string. The zero ID is null; the option omitzero leaves it out.
func ExampleID_MarshalJSON() {
	type order struct {
		ID     sno.ID `json:"id"`
		Parent sno.ID `json:"parent,omitzero"`
	}
	text, err := json.Marshal(order{ID: sno.MustParse("9eglwgjkxu22g222")})
	if err != nil {
		fmt.Println(err)
		return
	}
	var read order
	err = json.Unmarshal(text, &read)
	fmt.Println(string(text), read.ID, err)
	// Output: {"id":"9eglwgjkxu22g222"} 9eglwgjkxu22g222 <nil>
}

func ExampleID_log() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // the time of the example would change its output
		}
		return a
	}}))
	log.Info("order placed", "id", sno.MustParse("9eglwgjkxu22g222"))
	// Output: level=INFO msg="order placed" id=9eglwgjkxu22g222
}

// Sort is several times as fast as slices.SortFunc. IDs sort by time, and so do their texts.
func ExampleSort() {
	ids := []sno.ID{
		sno.MustParse("9eglwgjkxu22g222"),
		sno.MustParse("7n7w85p2xxxxw222"),
	}
	sno.Sort(ids)
	fmt.Println(ids)
	// Output: [7n7w85p2xxxxw222 9eglwgjkxu22g222]
}

// A UUID is an ID for a column of type UUID.
func ExampleID_UUID() {
	id := sno.MustParse("9eglwgjkxu22g222")
	// db.Exec("INSERT INTO people (id) VALUES ($1)", id.UUID())
	fmt.Println(id.UUID())

	var u sno.UUID
	// db.QueryRow("SELECT id FROM people").Scan(&u)
	if err := u.Scan("3965676c-7767-6a6b-7875-323267323232"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sno.FromUUID(u))
	// Output:
	// 3965676c-7767-6a6b-7875-323267323232
	// 9eglwgjkxu22g222 <nil>
}

// The functions of encoded fields read a field of a text, and decode no more.
func ExampleEncodedMeta() {
	const text = "9eglwgjkxu22g222"
	fmt.Println(sno.EncodedMeta(text))
	fmt.Println(sno.EncodedPartition(text))
	fmt.Println(sno.EncodedSequence(text))
	fmt.Println(sno.EncodedTime(text))
	// Output:
	// 255 <nil>
	// [0 7] <nil>
	// 0 <nil>
	// 2026-02-03 04:05:06.788 +0000 UTC <nil>
}

// Lists of IDs have a fast form: a text for each line.
func ExampleAppendAll() {
	ids := []sno.ID{sno.MustParse("7n7w85p2xxxxw222"), sno.MustParse("9eglwgjkxu22g222")}
	text, err := sno.AppendAll(nil, ids, '\n')
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	read, err := sno.ParseAll(nil, text, '\n')
	fmt.Println(slices.Equal(read, ids), err)
	// Output:
	// 7n7w85p2xxxxw222
	// 9eglwgjkxu22g222
	// true <nil>
}
