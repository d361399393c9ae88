package nanoflake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
)

// now is the clock of the examples, so that their IDs are always the same. Programs set no Clock.
func now() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC) }

// Each generator of a system has a generator ID of its own. The goroutines of a process share the
// generator.
func ExampleNewGenerator() {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id, id.Int64())
	fmt.Println(gen.Time(id), id.GeneratorID(), id.Sequence())
	// Output:
	// 0549x5l2itvr4 673740726894358528
	// 2026-02-03 04:05:06.789 +0000 UTC 7 0
}

func ExampleConfig() {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{
		GeneratorID: 7,
		Epoch:       time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), // the same for all generators of the system
		Start:       nanoflake.StartAnywhere,                     // IDs spread over shards by id % n
		MaxBackward: -1,                                          // a clock that went back is an error at once
		Clock:       now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Epoch(), gen.ExpiresAt().Year(), gen.GeneratorID())
	// Output: 2024-01-01 00:00:00 +0000 UTC 2093 7
}

// TryNext never waits, and says so if there is no ID.
func ExampleGenerator_TryNext() {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 0; ; n++ {
		if _, err := gen.TryNext(); errors.Is(err, iderr.ErrExhausted) {
			fmt.Println(n, "IDs, then:", err)
			return
		}
	}
	// Output: 4096 IDs, then: nanoflake: sequence exhausted in this millisecond
}

// Fill makes many IDs at once, for rows that are written in one batch.
func ExampleGenerator_Fill() {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]nanoflake.ID, 3)
	if _, err := gen.Fill(context.Background(), ids); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids)
	// Output: [0549x5l2itvr4 0549x5l2itvr5 0549x5l2itvr6]
}

// TryFill takes what a generator has now. Another generator makes the rest.
func ExampleGenerator_TryFill() {
	ids, made := make([]nanoflake.ID, 5000), 0
	for generatorID := 7; made < len(ids); generatorID++ {
		gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: generatorID, Clock: now})
		if err != nil {
			fmt.Println(err)
			return
		}
		n, err := gen.TryFill(ids[made:])
		made += n
		fmt.Println(n, err)
	}
	// Output:
	// 4096 nanoflake: sequence exhausted in this millisecond
	// 904 <nil>
}

func ExampleGenerator_Seq() {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	for id, err := range gen.Seq(context.Background(), 3) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(id)
	}
	// Output:
	// 0549x5l2itvr4
	// 0549x5l2itvr5
	// 0549x5l2itvr6
}

// A scan from First of a time to Last of another time finds all IDs between.
func ExampleGenerator_First() {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	from := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	until := from.AddDate(0, 0, 1)
	fmt.Println("SELECT * FROM orders WHERE id >=", gen.First(from).Int64(), "AND id <", gen.First(until).Int64())
	// Output: SELECT * FROM orders WHERE id >= 673679042150400000 AND id < 674041430016000000
}

// Without a generator, the bounds of a time need the epoch: the zero time is the default epoch.
func ExampleFirst() {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	first, err := nanoflake.First(at, time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	last, err := nanoflake.Last(at.Add(time.Minute), time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	id := nanoflake.MustParse("0549x5l2itvr4")
	fmt.Println(first, last, first <= id && id <= last)
	// Output: 0549x5jjsjcw0 0549x8r5tupz3 true
}

func ExampleParse() {
	id, err := nanoflake.Parse("0549x5l2itvr4")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Time(nanoflake.DefaultEpoch()))

	_, err = nanoflake.Parse("0549x5l2itvr")
	fmt.Println(err)
	_, err = nanoflake.Parse("0549x5-2itvr4")
	fmt.Println(err)
	// Output:
	// 2026-02-03 04:05:06.789 +0000 UTC
	// nanoflake: "0549x5l2itvr": length is 12, not 13: if its leading zeros were left out, read it as base36
	// nanoflake: "0549x5-2itvr4": offset 6: character '-' is not a base-36 digit
}

// FromTime makes the IDs of rows that are older than their IDs. A generator ID that no generator uses
// keeps these IDs apart from new IDs.
func ExampleFromTime() {
	created := []time.Time{
		time.Date(2022, 5, 1, 9, 30, 0, 0, time.UTC),
		time.Date(2022, 5, 1, 9, 30, 0, 0, time.UTC),
		time.Date(2022, 5, 1, 9, 31, 0, 0, time.UTC),
	}
	numbers := make(map[int64]int) // of the IDs in each millisecond
	for _, at := range created {
		ms := at.UnixMilli()
		id, err := nanoflake.FromTime(at, time.Time{}, nanoflake.MaxGeneratorID, numbers[ms])
		if err != nil {
			fmt.Println(err)
			return
		}
		numbers[ms]++
		fmt.Println(id, id.Time(time.Time{}))
	}
	// Output:
	// 01c3zwd3qf8qo 2022-05-01 09:30:00 +0000 UTC
	// 01c3zwd3qf8qp 2022-05-01 09:30:00 +0000 UTC
	// 01c3zzkpp8phc 2022-05-01 09:31:00 +0000 UTC
}

// An ID in JSON is a string. The zero ID is null; the option omitzero leaves it out.
func ExampleID_MarshalJSON() {
	type order struct {
		ID     nanoflake.ID `json:"id"`
		Parent nanoflake.ID `json:"parent,omitzero"`
	}
	text, err := json.Marshal(order{ID: nanoflake.MustParse("0549x5l2itvr4")})
	if err != nil {
		fmt.Println(err)
		return
	}
	var read order
	err = json.Unmarshal(text, &read)
	fmt.Println(string(text), read.ID, err)
	// Output: {"id":"0549x5l2itvr4"} 0549x5l2itvr4 <nil>
}

func ExampleID_log() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // the time of the example would change its output
		}
		return a
	}}))
	log.Info("order placed", "id", nanoflake.MustParse("0549x5l2itvr4"))
	// Output: level=INFO msg="order placed" id=0549x5l2itvr4
}

// IDs sort by time, as integers and as texts.
func ExampleID_Compare() {
	ids := []nanoflake.ID{
		nanoflake.MustParse("0549x5l2itvr5"),
		nanoflake.MustParse("01c3zwd3qf8qo"),
		nanoflake.MustParse("0549x5l2itvr4"),
	}
	slices.Sort(ids) // or slices.SortFunc(ids, nanoflake.ID.Compare)
	fmt.Println(ids)
	// Output: [01c3zwd3qf8qo 0549x5l2itvr4 0549x5l2itvr5]
}

// Lists of IDs have a fast form: a text for each line.
func ExampleAppendAll() {
	ids := []nanoflake.ID{nanoflake.MustParse("01c3zwd3qf8qo"), nanoflake.MustParse("0549x5l2itvr4")}
	text, err := nanoflake.AppendAll(nil, ids, '\n')
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	read, err := nanoflake.ParseAll(nil, bytes.ToUpper(text), '\n')
	fmt.Println(slices.Equal(read, ids), err)
	// Output:
	// 01c3zwd3qf8qo
	// 0549x5l2itvr4
	// true <nil>
}

// The ID of a tweet is a Nanoflake with Twitter's epoch. Twitter's two IDs of 5 bits, of the datacenter
// and of the worker, are the generator ID.
func ExampleID_Time_twitter() {
	epoch := time.UnixMilli(1288834974657)
	id, err := nanoflake.FromInt64(1541815603606036480)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Time(epoch))
	fmt.Println("datacenter", id.GeneratorID()/32, "worker", id.GeneratorID()%32, "sequence", id.Sequence())

	gen, err := nanoflake.NewGenerator(nanoflake.Config{Epoch: epoch, GeneratorID: 11*32 + 26, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Next(context.Background())) // goes on where Twitter's generator ended
	// Output:
	// 2022-06-28 16:07:40.105 +0000 UTC
	// datacenter 11 worker 26 sequence 0
	// 0fc3bd3oniqyo <nil>
}
