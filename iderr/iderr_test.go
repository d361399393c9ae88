package iderr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/testing/testkit"
)

func TestMessages(t *testing.T) {
	date := time.Date(2026, 7, 1, 2, 3, 4, 5e6, time.FixedZone("", 3600))
	for _, v := range []struct {
		err  error
		is   error
		want string
	}{
		{wrong.Length("f", "abc", "4"), iderr.ErrLength, `f: "abc": length is 3, not 4`},
		{wrong.Length("f", []byte{}, "8 bytes"), iderr.ErrLength, `f: "": length is 0, not 8 bytes`},
		{wrong.Character("f", "a-c", 1, "a digit"), iderr.ErrCharacter, `f: "a-c": offset 1: character '-' is not a digit`},
		{wrong.Character("f", "aéc", 1, "a digit"), iderr.ErrCharacter, `f: "aéc": offset 1: character 'é' is not a digit`},
		{wrong.Character("f", "a😀", 1, "a digit"), iderr.ErrCharacter, `f: "a😀": offset 1: character '😀' is not a digit`},
		{wrong.Character("f", "a\xffc", 1, "a digit"), iderr.ErrCharacter, `f: "a\xffc": offset 1: byte 0xff is not a digit`},
		{wrong.Character("f", "a\xc3", 1, "a digit"), iderr.ErrCharacter, `f: "a\xc3": offset 1: byte 0xc3 is not a digit`},
		{wrong.Character("f", "a\ufffd", 1, "a digit"), iderr.ErrCharacter, `f: "a` + "\ufffd" + `": offset 1: character '` + "\ufffd" + `' is not a digit`},
		{wrong.Character("f", "\x00", 0, "a digit"), iderr.ErrCharacter, `f: "\x00": offset 0: character '\x00' is not a digit`},
		{wrong.Range("f", "9", "0 to 8"), iderr.ErrRange, `f: "9": value is not in 0 to 8`},
		{&iderr.ListError{Index: 2, Offset: 34, Err: wrong.Length("f", "abc", "4")}, iderr.ErrLength, `ID 3 at byte 34: f: "abc": length is 3, not 4`},
		{&iderr.ListError{Index: 0, Offset: -1, Err: wrong.Range("f", "-1", "0 to 8")}, iderr.ErrRange, `ID 1: f: "-1": value is not in 0 to 8`},
		{wrong.Type("f", 1.5), iderr.ErrType, `f: a value of type float64 holds no ID`},
		{wrong.Config("f", "Field", -1, "in 0 to 3"), iderr.ErrConfig, `f: Field -1 is not in 0 to 3`},
		{wrong.Config("f", "Epoch", date, "in the past"), iderr.ErrConfig, `f: Epoch 2026-07-01T01:03:04.005Z is not in the past`},
		{wrong.NotLeased("f"), iderr.ErrConfig, "f: Leased false is not true: make a generator for a lease with Config.Leased"},
		{wrong.SetTwice("f", "GeneratorID", 7), iderr.ErrConfig, "f: GeneratorID 7 is not 0 beside Leased: a lease gives the generator its worker, so leave out one of the two"},
		{wrong.ZeroID("f", "worker 0"), iderr.ErrConfig, `f: sequence 0 is not 1 or more, as worker 0 needs at the epoch: the ID would be zero, which means no ID`},
		{&iderr.ClockError{Format: "f", By: 1500 * time.Millisecond}, iderr.ErrClockBackwards, `f: clock went backwards: the last ID is 1.5s ahead of the clock: check the clock, or retry in 1.5s`},
		{&iderr.EarlyError{Format: "f", Begins: date, By: 90 * time.Second}, iderr.ErrFenced,
			`f: outside the granted interval: the next interval begins at 2026-07-01T01:03:04.005Z, 1m30s ahead of the clock: check the clock, or retry then`},
		{&iderr.TimeError{Format: "f", Time: date, First: date.Add(1), Last: date.Add(2)}, iderr.ErrTimeRange,
			`f: time 2026-07-01T01:03:04.005Z is before the first timestamp: use a time from 2026-07-01T01:03:04.005000001Z to 2026-07-01T01:03:04.005000002Z`},
		{&iderr.TimeError{Format: "f", Time: date.Add(3), First: date, Last: date}, iderr.ErrTimeRange,
			`f: time 2026-07-01T01:03:04.005000003Z is after the last timestamp: use a time from 2026-07-01T01:03:04.005Z to 2026-07-01T01:03:04.005Z`},
	} {
		testkit.Same(t, v.err.Error(), v.want)
		if !errors.Is(v.err, v.is) || !errors.Is(fmt.Errorf("wrapped: %w", v.err), v.is) {
			t.Errorf("%v is not %v", v.err, v.is)
		}
	}
}

// A ConfigError also wraps its Err, if there is one.
func TestConfigErrorOfTime(t *testing.T) {
	config := wrong.Config("f", "Epoch", 1, "0")
	if errors.Is(config, iderr.ErrTimeRange) {
		t.Error("a ConfigError is ErrTimeRange")
	}
	config.Err = &iderr.TimeError{Format: "f"}
	err := fmt.Errorf("wrapped: %w", config)
	outside, ok := errors.AsType[*iderr.TimeError](err)
	if !ok || outside != config.Err || !errors.Is(err, iderr.ErrTimeRange) || !errors.Is(err, iderr.ErrConfig) {
		t.Errorf("%v is %v", err, outside)
	}
	if err.Error() != "wrapped: f: Epoch 1 is not 0" {
		t.Errorf("message %v", err)
	}
}

// A time after the last timestamp is a value out of range, and a time before the first is not.
func TestTimeErrorIsRange(t *testing.T) {
	first := time.UnixMilli(0)
	last := first.Add(time.Hour)
	for _, v := range []struct {
		time time.Time
		want bool
	}{{first.Add(-1), false}, {last.Add(1), true}, {last.AddDate(300, 0, 0), true}} {
		err := fmt.Errorf("wrapped: %w", &iderr.TimeError{Format: "f", Time: v.time, First: first, Last: last})
		if errors.Is(err, iderr.ErrRange) != v.want || !errors.Is(err, iderr.ErrTimeRange) {
			t.Errorf("%v is ErrRange: %t", err, !v.want)
		}
	}
}

// The sentinels are distinct.
func TestSentinels(t *testing.T) {
	all := []error{
		iderr.ErrExhausted, iderr.ErrClockBackwards, iderr.ErrTimeRange, iderr.ErrFenced, iderr.ErrNotReady, iderr.ErrConfig,
		iderr.ErrLength, iderr.ErrCharacter, iderr.ErrRange, iderr.ErrType, iderr.ErrNoID,
	}
	texts := make(map[string]bool)
	for i, a := range all {
		for j, b := range all {
			if errors.Is(a, b) != (i == j) {
				t.Errorf("%v and %v", a, b)
			}
		}
		texts[a.Error()] = true
	}
	testkit.Same(t, len(texts), len(all))
}

// The error of a huge input is small, and does not keep the input.
func TestHugeInput(t *testing.T) {
	huge := strings.Repeat("é", 1<<20)
	for _, err := range []*iderr.ParseError{
		wrong.Length("f", huge, "4"), wrong.Range("f", []byte(huge), "0"), wrong.Character("f", huge, 1<<20, "a digit"),
	} {
		if len(err.Input) != 64 || len(err.Error()) > 200 || !strings.Contains(err.Error(), "…") {
			t.Errorf("an input of %d bytes: %v", len(err.Input), err)
		}
	}
	b := []byte("abc")
	clipped := wrong.Clip(b)
	b[0] = 'x'
	testkit.Same(t, clipped, "abc")
}
