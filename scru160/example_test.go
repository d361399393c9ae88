package scru160_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/firn-id/firn/scru160"
)

// now is the clock of the examples. Programs set no Clock.
func now() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC) }

// Generators need no number of their own: random bits keep their IDs apart.
func ExampleNewGenerator() {
	gen, err := scru160.NewGenerator(scru160.Config{Clock: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Hex()[:12], len(id.String()), id.Time()) // the rest is the counter and random bits
	// Output: 019c21acec65 32 2026-02-03 04:05:06.789 +0000 UTC
}

// A node ID tells generators apart, and makes equal IDs impossible.
func ExampleConfig() {
	gen, err := scru160.NewGenerator(scru160.Config{
		NodeBits: 10,
		NodeID:   7,
		Start:    scru160.StartBits(0), // more IDs in a millisecond, and easier to guess
		Clock:    now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.NodeID(), id.NodeID(0, 10), id.Counter())
	// Output: 7 7 0
}

// Fill makes many IDs at once, for rows that are written in one batch.
func ExampleGenerator_Fill() {
	gen, err := scru160.NewGenerator(scru160.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := make([]scru160.ID, 1000)
	n, err := gen.Fill(context.Background(), ids)
	fmt.Println(n, err, slices.IsSortedFunc(ids, scru160.ID.Compare))
	// Output: 1000 <nil> true
}

// A scan from First of a time to Last of another time finds all IDs between.
func ExampleFirst() {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	first, last := scru160.First(at), scru160.Last(at.Add(time.Minute))
	fmt.Println(first)
	fmt.Println(last)

	id := scru160.MustParse("06E23B7CCL83QK5LQ04AF9K79M1CF0BR")
	fmt.Println(first.Compare(id) <= 0 && id.Compare(last) <= 0)
	// Output:
	// 06E23B79A00000000000000000000000
	// 06E23BEJM3VVVVVVVVVVVVVVVVVVVVVV
	// true
}

func ExampleParse() {
	id, err := scru160.Parse("06e23b7ccl83qk5lq04af9k79m1cf0br") // either case
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id, id.Time())
	fmt.Println(id.Hex())

	_, err = scru160.Parse("06E23B7CCL83QK5LQ04AF9K79M1CF0B")
	fmt.Println(err)
	_, err = scru160.Parse("06E23B7CCL83QK5LQ04AF9K79M1CF0BZ")
	fmt.Println(err)
	// Output:
	// 06E23B7CCL83QK5LQ04AF9K79M1CF0BR 2026-02-03 04:05:06.789 +0000 UTC
	// 019c21acec65503d50b5d008a7a6874d82c7817b
	// scru160: "06E23B7CCL83QK5LQ04AF9K79M1CF0B": length is 31, not 32 (base32hex) or 40 (hex)
	// scru160: "06E23B7CCL83QK5LQ04AF9K79M1CF0BZ": offset 31: character 'Z' is not in base32hex
}

// FromTime makes the IDs of rows that are older than their IDs.
func ExampleFromTime() {
	id, err := scru160.FromTime(time.Date(2022, 5, 1, 9, 30, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(id.Hex()[:12], id.Time()) // the rest is the counter and random bits
	// Output: 01807ef495c0 2022-05-01 09:30:00 +0000 UTC
}

// An ID in JSON is a string. The zero ID is null; the option omitzero leaves it out.
func ExampleID_MarshalJSON() {
	type order struct {
		ID     scru160.ID `json:"id"`
		Parent scru160.ID `json:"parent,omitzero"`
	}
	text, err := json.Marshal(order{ID: scru160.MustParse("06E23B7CCL83QK5LQ04AF9K79M1CF0BR")})
	if err != nil {
		fmt.Println(err)
		return
	}
	var read order
	err = json.Unmarshal(text, &read)
	fmt.Println(string(text), read.ID, err)
	// Output: {"id":"06E23B7CCL83QK5LQ04AF9K79M1CF0BR"} 06E23B7CCL83QK5LQ04AF9K79M1CF0BR <nil>
}
