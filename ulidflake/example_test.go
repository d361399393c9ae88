package ulidflake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/ulidflake"
)

// now is the clock of the examples. Programs set no Clock.
func now() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC) }

// A stand-alone generator is for a system with one generator. The goroutines of a process share the
// generator.
func ExampleNewGenerator() {
	gen, err := ulidflake.NewGenerator(ulidflake.Config{Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.String()[:9], gen.Time(id)) // the rest of the text is random
	// Output: 01XFNNY35 2026-02-03 04:05:06.789 +0000 UTC
}

// Each scalable generator of a system has a scalability of its own.
func ExampleNewScalableGenerator() {
	gen, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: 7, Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.String()[:9], gen.Time(id), id.Scalability())
	// Output: 01XFNNY35 2026-02-03 04:05:06.789 +0000 UTC 7
}

// Fewer bits of increment leave more IDs in a millisecond, and make the next ID easier to guess.
func ExampleConfig() {
	gen, err := ulidflake.NewGenerator(ulidflake.Config{
		IncrementBits: 4,
		Epoch:         time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		MaxBackward:   -1, // a clock that went back is an error at once
		Clock:         now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Epoch(), gen.ExpiresAt().Year())
	// Output: 2020-01-01 00:00:00 +0000 UTC 2298
}

// Fill makes many IDs at once, for rows that are written in one batch.
func ExampleGenerator_Fill() {
	gen, err := ulidflake.NewGenerator(ulidflake.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]ulidflake.ID, 1000)
	n, err := gen.Fill(context.Background(), ids)
	fmt.Println(n, err, slices.IsSorted(ids))
	// Output: 1000 <nil> true
}

// A scan from First of a time to Last of another time finds all IDs between.
func ExampleGenerator_First() {
	gen, err := ulidflake.NewGenerator(ulidflake.Config{Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	from := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	until := from.AddDate(0, 0, 1)
	fmt.Println("SELECT * FROM orders WHERE id >=", gen.First(from).Int64(), "AND id <", gen.First(until).Int64())
	// Output: SELECT * FROM orders WHERE id >= 69216082329600000 AND id < 69306679296000000
}

func ExampleParse() {
	id, err := ulidflake.Parse("01xfnny35sy1d") // either case
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id, id.Time(ulidflake.DefaultEpoch()))

	_, err = ulidflake.Parse("8ZZZZZZZZZZZZ")
	fmt.Println(err)
	fmt.Println(errors.Is(err, iderr.ErrRange))
	_, err = ulidflake.Parse("O1XFNNY35SY1D")
	fmt.Println(err)
	// Output:
	// 01XFNNY35SY1D 2026-02-03 04:05:06.789 +0000 UTC
	// ulidflake: "8ZZZZZZZZZZZZ": value is not in 0000000000000 to 7ZZZZZZZZZZZZ
	// true
	// ulidflake: "O1XFNNY35SY1D": offset 0: character 'O' is not in Crockford's base-32, which has 0 in its place
}

func ExampleParseScalable() {
	id, err := ulidflake.ParseScalable("01XFNNY35ZJA7")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Time(ulidflake.DefaultEpoch()), id.Randomness(), id.Scalability())
	// Output: 2026-02-03 04:05:06.789 +0000 UTC 32330 7
}

// FromTime makes the IDs of rows that are older than their IDs. IDs of one millisecond can be equal: let
// the database refuse a duplicate, and make another ID.
func ExampleFromTime() {
	created := time.Date(2024, 5, 1, 9, 30, 0, 0, time.UTC)
	id, err := ulidflake.FromTime(created, time.Time{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.String()[:9], id.Time(time.Time{})) // the rest of the text is random

	_, err = ulidflake.FromTime(created.AddDate(-1, 0, 0), time.Time{})
	fmt.Println(errors.Is(err, iderr.ErrTimeRange))
	// Output:
	// 009RJPNE0 2024-05-01 09:30:00 +0000 UTC
	// true
}

// An ID in JSON is a string. The zero ID is null; the option omitzero leaves it out.
func ExampleID_MarshalJSON() {
	type order struct {
		ID     ulidflake.ID `json:"id"`
		Parent ulidflake.ID `json:"parent,omitzero"`
	}
	text, err := json.Marshal(order{ID: ulidflake.MustParse("01XFNNY35SY1D")})
	if err != nil {
		fmt.Println(err)
		return
	}
	var read order
	err = json.Unmarshal(text, &read)
	fmt.Println(string(text), read.ID, err)
	// Output: {"id":"01XFNNY35SY1D"} 01XFNNY35SY1D <nil>
}
