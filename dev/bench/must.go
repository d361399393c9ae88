package main

import (
	"fmt"
	"io"
)

// A limit is a goal of Firn, and the peer to compare with.
type limit struct {
	what    string
	measure key
	bound   float64 // at most, unless atLeast
	atLeast bool
	peer    string // the benchmark of the peer, in the same unit; "" for none
	floor   string // the benchmark of a bound, in the same unit; "" for none
}

// firnNames is a regular expression for the names of the formats in names of benchmarks.
const firnNames = "nanoflake|sno|snowflakesi|ulidflake|ulidflake-n8|ulidflake-scalable|scru160"

// limits returns the limits in the order of the table.
func limits() []limit {
	var all []limit
	atMost := func(what string, measure key, bound float64, peer, floor string) {
		all = append(all, limit{what: what, measure: measure, bound: bound, peer: peer, floor: floor})
	}
	counters := []struct{ format, title, peer string }{
		{"nanoflake", "Nanoflakes", "bwmarrin-snowflake"},
		{"sno", "sno", "rs-xid"},
		{"snowflakesi", "Snowflake-SI with 13 UIN bits", "bwmarrin-snowflake"},
	}
	next := func(id string) string { return name(groupNext, id, "") }
	for _, c := range counters {
		atMost(c.title+", one goroutine, below its cap", key{next(c.format), "", "ns/op"}, 12, next(c.peer), next("counter-add"))
		atMost(c.title+", likewise, portable", key{next(c.format), portable, "ns/op"}, 30, next(c.peer), next("time-since"))
	}
	two := "/cores=2"
	for _, c := range counters {
		atMost(c.title+", two goroutines on two cores, per ID", key{name(groupParallel, c.format, two), "", "ns/op"}, 15,
			name(groupParallel, "rs-xid", two), name(groupParallel, "counter-add", two))
	}
	atMost("Ulid-Flake, n = 1", key{next("ulidflake"), "", "ns/op"}, 20, next("oklog-ulid"), "")
	atMost("Ulid-Flake, n = 8", key{next("ulidflake-n8"), "", "ns/op"}, 20, next("oklog-ulid"), "")
	atMost("Ulid-Flake, scalable, n = 1", key{next("ulidflake-scalable"), "", "ns/op"}, 20, next("oklog-ulid"), "")
	atMost("SCRU160", key{next("scru160"), "", "ns/op"}, 28, next("google-uuid"), "")
	fill := func(id string) key { return key{name(groupBatch, id, ""), "", "ns/op"} }
	for _, c := range counters {
		atMost("`Fill`, "+c.title+", per ID", fill(c.format), 1.5, next(c.peer), "")
	}
	atMost("`Fill`, Ulid-Flake, n = 1, per ID", fill("ulidflake"), 1.5, next("oklog-ulid"), "")
	atMost("`Fill`, SCRU160, per ID", fill("scru160"), 6, name(groupBatch, "segmentio-ksuid", ""), "")
	one := "/goroutines=1"
	for _, s := range []struct {
		format, title string
		cores         float64
		floor         string
	}{{"nanoflake", "Nanoflakes", 0.15, name(groupSaturation, "sleep", one)}, {"sno", "sno", 0.5, ""}} {
		saturation := name(groupSaturation, s.format, one)
		peer := name(groupSaturation, "bwmarrin-snowflake", one)
		all = append(all, limit{what: s.title + " at saturation, share of the cap", measure: key{saturation, "", "%cap"}, bound: 99.9, atLeast: true, peer: peer, floor: s.floor})
		atMost(s.title+" at saturation, cores used", key{saturation, "", "cores"}, s.cores, peer, "")
	}
	for _, c := range []struct {
		format, title  string
		encode, decode float64
		peer           string
	}{{"sno", "sno", 2, 3, "rs-xid"}, {"ulidflake", "Ulid-Flake", 3, 4, "oklog-ulid"}, {"scru160", "SCRU160", 4, 6, "google-uuid"}} {
		atMost("encode into a buffer, "+c.title, key{name(groupEncode, c.format, ""), "", "ns/op"}, c.encode, name(groupEncode, c.peer, ""), "")
		atMost("decode strictly, "+c.title, key{name(groupDecode, c.format, ""), "", "ns/op"}, c.decode, name(groupDecode, c.peer, ""), "")
	}
	atMost("sort 1 M sno IDs", key{name(groupSort, "sno", ""), "", "ns/op"}, 20e6, name(groupSort, "sno-by-comparison", ""), "")
	return all
}

func (l limit) met(v float64) bool {
	if l.atLeast {
		return v >= l.bound
	}
	return v <= l.bound
}

// writeLimits writes the table of the limits and the measurements.
func writeLimits(w io.Writer, r *results) {
	fmt.Fprintf(w, "| what | limit | measured | met | bound by, same run | peer, same run | ratio |\n|---|---|---|---|---|---|---|\n")
	for _, l := range limits() {
		sign := "≤ "
		if l.atLeast {
			sign = "≥ "
		}
		measured, met, floor, peer, ratio := "not measured", "", "", "", ""
		got, ok := r.median(l.measure)
		if ok {
			measured, met = amount(got.Center, l.measure.unit), "**no**"
			if l.met(got.Center) {
				met = "yes"
			}
		}
		if bound, have := r.median(key{l.floor, "", l.measure.unit}); have {
			floor = titleOf(l.floor) + " " + amount(bound.Center, l.measure.unit)
		}
		if other, have := r.median(key{l.peer, "", l.measure.unit}); have {
			peer = titleOf(l.peer) + " " + amount(other.Center, l.measure.unit)
			if ok {
				ratio = times(other.Center, got.Center)
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", l.what, sign+amount(l.bound, l.measure.unit), measured, met, floor, peer, ratio)
	}
}
