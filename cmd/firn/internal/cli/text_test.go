package cli

import (
	"testing"
	"time"
)

func TestRelative(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		t    time.Time
		want string
	}{
		{now, "now"},
		{now.Add(-time.Second), "1 second ago"},
		{now.Add(59 * time.Second), "in 59 seconds"},
		{now.Add(-119 * time.Second), "1 minute ago"},
		{now.Add(2 * time.Hour), "in 2 hours"},
		{now.Add(-47 * time.Hour), "47 hours ago"},
		{now.Add(48 * time.Hour), "in 2 days"},
		{now.AddDate(-1, 0, 0), "365 days ago"},
		{now.AddDate(2, 0, 1), "in 2 years"},
		{now.AddDate(-57, 0, 0), "57 years ago"},
		{time.UnixMilli(1<<48 - 1), "in 8862 years"},
	} {
		if got := Relative(test.t, now); got != test.want {
			t.Errorf("%v is %q, not %q", test.t, got, test.want)
		}
	}
}
