package main

import (
	"fmt"
	"io"
)

// A limit is what Firn has set itself to reach, and the peer it is to be compared with.
type limit struct {
	what  string
	of    key
	bound float64 // at most, or at least
	least bool
	peer  string // the benchmark of the same unit; "" for none
	atop  string // what it can hardly be better than, likewise
}

// firnNames are the formats, as benchmarks' names have them, for a regular expression.
const firnNames = "nanoflake|sno|snowflakesi|ulidflake|ulidflake-scalable|scru160"

// limits are in the order in which they are shown.
func limits() []limit {
	var all []limit
	most := func(what string, of key, bound float64, peer, atop string) {
		all = append(all, limit{what: what, of: of, bound: bound, peer: peer, atop: atop})
	}
	counters := []struct{ format, title, peer string }{
		{"nanoflake", "Nanoflakes", "bwmarrin-snowflake"},
		{"sno", "sno", "rs-xid"},
		{"snowflakesi", "Snowflake-SI with 13 UIN bits", "bwmarrin-snowflake"},
	}
	next := func(id string) string { return name(groupNext, id, "") }
	for _, c := range counters {
		most(c.title+", one goroutine, below its cap", key{next(c.format), "", "ns/op"}, 12, next(c.peer), next("counter-add"))
		most(c.title+", likewise, portable", key{next(c.format), portable, "ns/op"}, 30, next(c.peer), next("time-since"))
	}
	two := "/cores=2"
	for _, c := range counters {
		most(c.title+", two goroutines on two cores, per ID", key{name(groupParallel, c.format, two), "", "ns/op"}, 15,
			name(groupParallel, "rs-xid", two), name(groupParallel, "counter-add", two))
	}
	most("Ulid-Flake", key{next("ulidflake"), "", "ns/op"}, 20, next("oklog-ulid"), "")
	most("Ulid-Flake, scalable", key{next("ulidflake-scalable"), "", "ns/op"}, 20, next("oklog-ulid"), "")
	most("SCRU160", key{next("scru160"), "", "ns/op"}, 28, next("google-uuid"), "")
	fill := func(id string) key { return key{name(groupBatch, id, ""), "", "ns/op"} }
	for _, c := range counters {
		most("`Fill`, "+c.title+", per ID", fill(c.format), 1.5, next(c.peer), "")
	}
	most("`Fill`, Ulid-Flake, per ID", fill("ulidflake"), 1.5, next("oklog-ulid"), "")
	most("`Fill`, SCRU160, per ID", fill("scru160"), 6, name(groupBatch, "segmentio-ksuid", ""), "")
	one := "/goroutines=1"
	for _, s := range []struct {
		format, title string
		cores         float64
		atop          string
	}{{"nanoflake", "Nanoflakes", 0.15, name(groupSaturation, "sleep", one)}, {"sno", "sno", 0.5, ""}} {
		of := name(groupSaturation, s.format, one)
		peer := name(groupSaturation, "bwmarrin-snowflake", one)
		all = append(all, limit{what: s.title + " at saturation, share of the cap", of: key{of, "", "%cap"}, bound: 99.9, least: true, peer: peer, atop: s.atop})
		most(s.title+" at saturation, cores used", key{of, "", "cores"}, s.cores, peer, "")
	}
	for _, c := range []struct {
		format, title  string
		encode, decode float64
		peer           string
	}{{"sno", "sno", 2, 3, "rs-xid"}, {"ulidflake", "Ulid-Flake", 3, 4, "oklog-ulid"}, {"scru160", "SCRU160", 4, 6, "google-uuid"}} {
		most("encode into a buffer, "+c.title, key{name(groupEncode, c.format, ""), "", "ns/op"}, c.encode, name(groupEncode, c.peer, ""),
			name(groupEncode, "call-"+c.format, ""))
		most("decode strictly, "+c.title, key{name(groupDecode, c.format, ""), "", "ns/op"}, c.decode, name(groupDecode, c.peer, ""),
			name(groupDecode, "call-"+c.format, ""))
	}
	most("sort 1 M sno IDs", key{name(groupSort, "sno", ""), "", "ns/op"}, 20e6, name(groupSort, "sno-by-comparison", ""), "")
	return all
}

func (l limit) met(v float64) bool {
	if l.least {
		return v >= l.bound
	}
	return v <= l.bound
}

// writeLimits writes the limits with what was measured.
func writeLimits(w io.Writer, r *results) {
	fmt.Fprintf(w, "| what | limit | measured | met | bound by, same run | peer, same run | ratio |\n|---|---|---|---|---|---|---|\n")
	for _, l := range limits() {
		sign := "≤ "
		if l.least {
			sign = "≥ "
		}
		measured, met, atop, peer, ratio := "not measured", "", "", "", ""
		got, ok := r.of(l.of)
		if ok {
			measured, met = amount(got.Center, l.of.unit), "**no**"
			if l.met(got.Center) {
				met = "yes"
			}
		}
		if bound, have := r.of(key{l.atop, "", l.of.unit}); have {
			atop = titleOf(l.atop) + " " + amount(bound.Center, l.of.unit)
		}
		if other, have := r.of(key{l.peer, "", l.of.unit}); have {
			peer = titleOf(l.peer) + " " + amount(other.Center, l.of.unit)
			if ok {
				ratio = times(other.Center, got.Center)
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", l.what, sign+amount(l.bound, l.of.unit), measured, met, atop, peer, ratio)
	}
}
