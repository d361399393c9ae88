package drivertest

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease/driver"
)

// historyWithFaults runs a history in which each handle loses, delays and repeats.
func historyWithFaults(t testing.TB, open func() driver.Store, seed uint64) (o Outcome, counts []faults.Counts) {
	var handles []driver.Store
	var faulty []*Faulty
	for i := range uint64(3) {
		faulty = append(faulty, NewFaulty(open(), rand.New(rand.NewPCG(seed, i)),
			Chances{LoseRequest: 0.05, LoseReply: 0.1, Late: 0.15, Repeat: 0.1, Delay: 0.3}))
		handles = append(handles, faulty[i].Confirming())
	}
	o = History(t, handles, seed)
	for _, f := range faulty {
		counts = append(counts, f.Counts())
	}
	return o, counts
}

// TestHistoryWithFaults has faults between clients and a good store, which passes.
func TestHistoryWithFaults(t *testing.T) {
	occurred := make(map[string]int64)
	for seed := range uint64(20) {
		o, counts := historyWithFaults(t, memory(t), seed)
		if o.Found == 0 || o.Changed == 0 || o.Conflicts == 0 || o.Unknown == 0 || o.Failed == 0 {
			t.Errorf("seed %d: the history shows nothing: %+v", seed, o)
		}
		for _, c := range counts {
			v := reflect.ValueOf(c)
			for i := range v.NumField() {
				occurred[v.Type().Field(i).Name] += v.Field(i).Int()
			}
		}
	}
	t.Log(occurred)
	for name, n := range occurred {
		if n == 0 {
			t.Errorf("there were no %s", name)
		}
	}
}

// TestRegister has Porcupine judge small histories whose verdicts follow from the design.
func TestRegister(t *testing.T) {
	get := func(call, ret int64, value string, rev driver.Revision) porcupine.Operation {
		return porcupine.Operation{Call: call, Return: ret, Input: request{}, Output: reply{done, value, rev}}
	}
	none := func(call, ret int64) porcupine.Operation {
		return porcupine.Operation{Call: call, Return: ret, Input: request{}, Output: reply{result: notFound}}
	}
	put := func(call, ret int64, value string, rev, made driver.Revision) porcupine.Operation {
		out := reply{result: done, rev: made}
		if made == "conflict" || made == "unknown" {
			out = reply{result: result(made)}
		}
		return porcupine.Operation{Call: call, Return: ret, Input: request{put: true, value: value, rev: rev}, Output: out}
	}
	const end = 100
	for _, test := range []struct {
		name    string
		ok      bool
		history []porcupine.Operation
	}{
		{"changes one after another", true, []porcupine.Operation{none(1, 2), put(3, 4, "x", "", "1"), get(5, 6, "x", "1"), put(7, 8, "y", "1", "2"), get(9, 10, "y", "2")}},
		{"a read during a change, before or after it", true, []porcupine.Operation{put(1, 4, "x", "", "1"), none(2, 3), get(2, 3, "x", "1")}},
		{"a read that is out of date", false, []porcupine.Operation{put(1, 2, "x", "", "1"), put(3, 4, "y", "1", "2"), get(5, 6, "x", "1")}},
		{"an entry that is gone", false, []porcupine.Operation{put(1, 2, "x", "", "1"), none(3, 4)}},
		{"a value of nobody", false, []porcupine.Operation{put(1, 2, "x", "", "1"), get(3, 4, "z", "1")}},
		{"another revision", false, []porcupine.Operation{put(1, 2, "x", "", "1"), get(3, 4, "x", "2")}},
		{"two creations", false, []porcupine.Operation{put(1, 4, "x", "", "1"), put(2, 3, "y", "", "2")}},
		{"two changes of one revision", false, []porcupine.Operation{put(1, 2, "x", "", "1"), put(3, 6, "y", "1", "2"), put(4, 5, "z", "1", "3")}},
		{"two reads in the wrong order", false, []porcupine.Operation{put(1, 2, "x", "", "1"), put(3, 9, "y", "1", "2"), get(4, 5, "y", "2"), get(6, 7, "x", "1")}},
		{"a conflict", true, []porcupine.Operation{put(1, 2, "x", "", "1"), put(3, 4, "y", "", "conflict"), get(5, 6, "x", "1")}},
		{"a conflict without a reason", false, []porcupine.Operation{put(1, 2, "x", "", "1"), put(3, 4, "y", "1", "conflict"), get(5, 6, "x", "1")}},
		{"a conflict that wrote over another", false, []porcupine.Operation{put(1, 2, "x", "", "1"), put(3, 4, "y", "", "conflict"), get(5, 6, "y", "2")}},
		{"a conflict of a Put with itself", true, []porcupine.Operation{put(1, 2, "x", "", "1"), put(3, 4, "y", "1", "conflict"), get(5, 6, "y", "2")}},
		{"an unknown Put that is made", true, []porcupine.Operation{put(1, end, "x", "", "unknown"), get(3, 4, "x", "1"), put(5, 6, "y", "1", "2")}},
		{"an unknown Put that is never made", true, []porcupine.Operation{put(1, end, "x", "", "unknown"), none(3, 4), put(5, 6, "y", "", "2"), get(7, 8, "y", "2")}},
		{"an unknown Put that is made later", true, []porcupine.Operation{put(1, end, "x", "", "unknown"), none(3, 4), none(5, 6), get(7, 8, "x", "1")}},
		{"an unknown Put that is made too late", false, []porcupine.Operation{put(1, end, "x", "", "unknown"), put(3, 4, "y", "", "1"), get(5, 6, "x", "2")}},
		{"an unknown Put that is made twice", false, []porcupine.Operation{put(1, end, "x", "", "unknown"), get(2, 3, "x", "1"), put(4, 5, "y", "1", "2"), get(6, 7, "x", "3")}},
		{"an unknown Put that is made before its call", false, []porcupine.Operation{get(1, 2, "x", "1"), put(3, end, "x", "", "unknown")}},
		{"an unknown Put that comes and goes", false, []porcupine.Operation{put(1, end, "x", "", "unknown"), get(2, 3, "x", "1"), none(4, 5)}},
		{"an unknown Put whose revision changes", false, []porcupine.Operation{put(1, end, "x", "", "unknown"), get(2, 3, "x", "1"), get(4, 5, "x", "2")}},
		{"two unknown Puts, both made", true, []porcupine.Operation{put(1, end, "x", "", "unknown"), get(2, 3, "x", "1"), put(4, end, "y", "1", "unknown"), get(5, 6, "x", "1"), get(7, 8, "y", "2")}},
		{"two unknown Puts with one revision, both made", false, []porcupine.Operation{put(1, end, "x", "", "unknown"), put(2, end, "y", "", "unknown"), get(3, 4, "x", "1"), get(5, 6, "y", "2")}},
	} {
		if ok := porcupine.CheckOperations(register, test.history); ok != test.ok {
			t.Errorf("%s: linearizable is %t, want %t", test.name, ok, test.ok)
		}
	}
}
