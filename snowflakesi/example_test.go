package snowflakesi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/firn-id/firn/snowflakesi"
)

// now is the clock of the examples, so that their IDs are always the same. Programs set no Clock.
func now() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC) }

// Each generator of a system has a machine ID of its own. The goroutines of a process share the
// generator.
func ExampleNewGenerator() {
	gen, err := snowflakesi.NewGenerator(snowflakesi.Config{MachineID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id)
	fmt.Println(gen.Time(id), id.MachineID(gen.Layout()), id.Sequence(gen.Layout()))
	// Output:
	// 1315899857217280
	// 2026-02-03 04:05:06.789 +0000 UTC 7 0
}

// A layout with 41 bits of timestamp lasts twice as long. The other fields have the rest of the 53 bits.
func ExampleLayout() {
	layout := snowflakesi.Layout{ClockBits: 41, MachineBits: 3}
	fmt.Println(layout.Widths())
	fmt.Println(layout.MaxMachineID()+1, "machines,", layout.MaxSequence()+1, "IDs in a millisecond")

	fmt.Println(snowflakesi.Layout{ClockBits: 41, MachineBits: 13}.Check())
	// Output:
	// 41 3 9
	// 8 machines, 512 IDs in a millisecond
	// snowflakesi: MachineBits 13 is not in 1 to 12 or NoMachineBits
}

func ExampleConfig() {
	gen, err := snowflakesi.NewGenerator(snowflakesi.Config{
		MachineID:   7,
		Layout:      snowflakesi.Layout{ClockBits: 41},           // the same for all generators of the system
		Epoch:       time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), // the same for all generators of the system
		Sequence:    snowflakesi.SequenceResets,                  // each millisecond starts at 0
		MaxBackward: -1,                                          // a clock that went back is an error at once
		Clock:       now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Epoch(), gen.ExpiresAt().Year(), gen.MachineID(), gen.Layout())
	// Output: 2024-01-01 00:00:00 +0000 UTC 2093 7 {41 5}
}

// Fill makes many IDs at once, for rows that are written in one batch.
func ExampleGenerator_Fill() {
	gen, err := snowflakesi.NewGenerator(snowflakesi.Config{MachineID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]snowflakesi.ID, 3)
	if _, err := gen.Fill(context.Background(), ids); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ids)
	// Output: [1315899857217280 1315899857217281 1315899857217282]
}

// A scan from First of a time to Last of another time finds all IDs between.
func ExampleGenerator_First() {
	gen, err := snowflakesi.NewGenerator(snowflakesi.Config{MachineID: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	from := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	until := from.AddDate(0, 0, 1)
	fmt.Println("SELECT * FROM orders WHERE id >=", gen.First(from).Int64(), "AND id <", gen.First(until).Int64())
	// Output: SELECT * FROM orders WHERE id >= 1315779379200000 AND id < 1316487168000000
}

func ExampleParse() {
	id, err := snowflakesi.Parse("1315899857217281")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Time(snowflakesi.Layout{}, snowflakesi.DefaultEpoch()))

	_, err = snowflakesi.Parse("131589985721728A")
	fmt.Println(err)
	// Output:
	// 2026-02-03 04:05:06.789 +0000 UTC
	// snowflakesi: "131589985721728A": offset 15: character 'A' is not a decimal digit
}

// FromTime makes the IDs of rows that are older than their IDs. A machine ID that no generator uses
// keeps these IDs apart from new IDs.
func ExampleFromTime() {
	layout := snowflakesi.DefaultLayout()
	created := []time.Time{
		time.Date(2022, 5, 1, 9, 30, 0, 0, time.UTC),
		time.Date(2022, 5, 1, 9, 30, 0, 0, time.UTC),
		time.Date(2022, 5, 1, 9, 31, 0, 0, time.UTC),
	}
	numbers := make(map[int64]int) // of the IDs in each millisecond
	for _, at := range created {
		ms := at.UnixMilli()
		id, err := snowflakesi.FromTime(layout, at, time.Time{}, layout.MaxMachineID(), numbers[ms])
		if err != nil {
			fmt.Println(err)
			return
		}
		numbers[ms]++
		fmt.Println(id, id.Time(snowflakesi.Layout{}, time.Time{}))
	}
	// Output:
	// 343557734407936 2022-05-01 09:30:00 +0000 UTC
	// 343557734407937 2022-05-01 09:30:00 +0000 UTC
	// 343558225927936 2022-05-01 09:31:00 +0000 UTC
}

// An ID in JSON is a number. The zero ID is null; the option omitzero leaves it out.
func ExampleID_MarshalJSON() {
	type order struct {
		ID     snowflakesi.ID `json:"id"`
		Parent snowflakesi.ID `json:"parent,omitzero"`
	}
	text, err := json.Marshal(order{ID: snowflakesi.MustParse("1315899857217281")})
	if err != nil {
		fmt.Println(err)
		return
	}
	var read order
	err = json.Unmarshal(text, &read)
	fmt.Println(string(text), read.ID, err)
	// Output: {"id":1315899857217281} 1315899857217281 <nil>
}

// IDs sort by time as integers. Their texts have no padding, and do not always sort by time.
func ExampleID_Compare() {
	ids := []snowflakesi.ID{
		snowflakesi.MustParse("1315899857217282"),
		snowflakesi.MustParse("343557734401792"),
		snowflakesi.MustParse("1315899857217281"),
	}
	slices.Sort(ids) // or slices.SortFunc(ids, snowflakesi.ID.Compare)
	fmt.Println(ids)
	// Output: [343557734401792 1315899857217281 1315899857217282]
}
