package cli

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-07-01T12:00:00Z": noon, "2026-07-01T14:00:00+02:00": noon, "1782907200000": noon, "2026-07-01T12:00:00.000000001Z": noon.Add(1),
		"2026-07-01": noon.Add(-12 * time.Hour), "0": time.Unix(0, 0), "-1": time.UnixMilli(-1), "100000000000": time.UnixMilli(1e11), "9999-12-31": time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
		"0001-01-01": {},
	} {
		if got, err := ParseTime(text); err != nil || got != want.UTC() {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", " ", "now", "2026-07-01 12:00:00", "2026-07-32", "+1", "1e3", "0000-01-01", "9223372036854775808", "9223372036854775807", "-9223372036854775808",
		"1577836800", "20200101", "99999999999", "1", // seconds
		"0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
	} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"15m": 15 * time.Minute, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "1h30m": 90 * time.Minute, "1.5d": 36 * time.Hour, "4ms": 4 * time.Millisecond,
	} {
		var d Span
		if err := d.Set(text); err != nil || d.Value != want || d.String() != text {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "15", "-1h", "0", "0s", "1y", "m", "15 m", "200000w", "99999999999999999999h"} {
		var d Span
		if err := d.Set(text); err == nil {
			t.Errorf("%q: %v", text, d.Value)
		}
	}
}
