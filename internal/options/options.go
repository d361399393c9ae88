// Package options checks the options of formats: the settings that some formats have and others have not. People give
// them by flags of the command, and by settings of the server's files, which have the same names.
package options

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
)

// A Set is the options that somebody has given. The zero Set is the defaults of each format.
type Set struct {
	Epoch   time.Time      // zero unless it is given
	Numbers map[string]int // those that are given, by name, such as clock-bits
	Micro   bool
	Reset   bool
	Fenced  bool // lease the times of a format without workers
}

// An Error is a fault of an option.
type Error struct {
	Option string
	Value  string // "" if the format does not take the option
	Reason string // such as "is not in 0 to 13"
}

func (e *Error) Error() string {
	if e.Value == "" {
		return e.Option + ": " + e.Reason
	}
	return e.Option + " " + e.Value + ": " + e.Reason
}

// refusals are the options, and the error of the formats without the option; %s is the format's name.
var refusals = []struct{ option, reason string }{
	{"epoch", "the epoch of %s is fixed"},
	{"clock-bits", "the widths of %s are fixed"},
	{"machine-bits", "the widths of %s are fixed"},
	{"counter-bits", "%s has no counter"},
	{"node-bits", "%s has no node ID"},
	{"micro", "%s counts in no microseconds"},
	{"increment-bits", "%s has no random increments"},
	{"start-bits", "%s has no choice of random bits"},
	{"reset", "the sequence of %s has one way to begin"},
	{"meta", "%s has no metabyte"},
	{"sequence-min", "the sequence of %s has no bounds"},
	{"sequence-max", "the sequence of %s has no bounds"},
}

// Refuse returns an *[Error] if a name is an option that the format does not have.
func Refuse(f *shape.Format, name string) error {
	for _, r := range refusals {
		if r.option != name || f.Has(name) {
			continue
		}
		reason := fmt.Sprintf(r.reason, f.Name)
		if name == "epoch" {
			s := f.Default()
			reason += ": " + s.Start().Format(time.RFC3339)
		}
		return &Error{Option: name, Reason: reason}
	}
	return nil
}

// has reports whether an option is given.
func (s *Set) has(option string) bool {
	_, ok := s.Numbers[option]
	return ok || option == "epoch" && !s.Epoch.IsZero() || option == "micro" && s.Micro || option == "reset" && s.Reset
}

// Settings returns what a reader of IDs has to know, or an *[Error] for widths that the format does not have.
func (s *Set) Settings(f *shape.Format) (shape.Settings, error) {
	const none = -1 // snowflakesi.NoMachineBits
	set := shape.Settings{Epoch: s.Epoch, ClockBits: s.Numbers["clock-bits"], MachineBits: s.Numbers["machine-bits"],
		CounterBits: s.Numbers["counter-bits"], NodeBits: s.Numbers["node-bits"], Microseconds: s.Micro}
	if s.has("clock-bits") && set.ClockBits == 0 { // the default in a Layout, but a mistake here
		return set, s.bad("clock-bits", "is not 40 or 41")
	}
	if s.has("machine-bits") && set.MachineBits == 0 {
		set.MachineBits = none
	}
	if s.has("machine-bits") && f.Has("machine-bits") {
		without, err := f.Of(shape.Settings{ClockBits: set.ClockBits, MachineBits: none})
		if err != nil {
			return set, s.Explain(err)
		}
		if err := s.inRange("machine-bits", 0, without.Fields[without.Sequence].Bits); err != nil {
			return set, err
		}
	}
	_, err := f.Of(set)
	return set, s.Explain(err)
}

// Recipe returns how a generator makes the IDs, or an *[Error]. Other errors are those of a generator without an option,
// such as a clock that is out of range.
func (s *Set) Recipe(f *shape.Format) (shape.Recipe, error) {
	for _, r := range refusals {
		if err := Refuse(f, r.option); err != nil && s.has(r.option) {
			return shape.Recipe{}, err
		}
	}
	set, err := s.Settings(f)
	if err != nil {
		return shape.Recipe{}, err
	}
	form, err := f.Of(set)
	if err != nil {
		return shape.Recipe{}, err
	}
	if _, worker := form.LastWorker(); worker && s.Fenced {
		return shape.Recipe{}, &Error{Option: "fenced", Reason: f.Name + " leases its times with its worker: leave it out"}
	}
	if err := s.inRange("increment-bits", 1, form.Fields[form.Sequence].Bits); err != nil {
		return shape.Recipe{}, err
	}
	if err := s.inRange("meta", 0, math.MaxUint8); err != nil {
		return shape.Recipe{}, err
	}
	r := shape.Recipe{Settings: set, IncrementBits: s.Numbers["increment-bits"], Reset: s.Reset, Meta: byte(s.Numbers["meta"])}
	if bits, ok := s.Numbers["start-bits"]; ok {
		r.StartBits = &bits
	}
	leased := r
	leased.Leased = true // any worker
	_, err = f.New(leased)
	return r, s.Explain(err)
}

// inRange returns an error if a number is given that is out of range.
func (s *Set) inRange(option string, least, most int) error {
	if n, ok := s.Numbers[option]; ok && (n < least || n > most) {
		return s.bad(option, fmt.Sprintf("is not in %d to %d", least, most))
	}
	return nil
}

// bad returns the error of the value of an option.
func (s *Set) bad(option, reason string) error {
	value := s.Epoch.UTC().Format(time.RFC3339Nano)
	if option != "epoch" {
		value = strconv.Itoa(s.Numbers[option])
	}
	return &Error{Option: option, Value: value, Reason: reason}
}

// fields are the options by the fields of the formats' Configs.
var fields = map[string]string{
	"Epoch": "epoch", "ClockBits": "clock-bits", "MachineBits": "machine-bits", "ExtraCounterBits": "counter-bits", "NodeBits": "node-bits",
	"IncrementBits": "increment-bits", "Start": "start-bits",
}

// Explain returns an error of a format as an *[Error], if it is about an option that is given.
func (s *Set) Explain(err error) error {
	if outside, ok := errors.AsType[*iderr.TimeError](err); ok && s.has("epoch") {
		if outside.Time.Before(outside.First) {
			return s.bad("epoch", "is not in the past")
		}
		return s.bad("epoch", "is too long ago: its timestamps ended at "+outside.Last.UTC().Format(time.RFC3339Nano))
	}
	if config, ok := errors.AsType[*iderr.ConfigError](err); ok && s.has(fields[config.Field]) {
		return s.bad(fields[config.Field], "is not "+config.Want)
	}
	return err
}
