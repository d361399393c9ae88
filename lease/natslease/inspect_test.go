package natslease

import (
	"strings"
	"testing"
)

// TestUnsynced has the versions in which the servers gained sync_interval, for their messages and for
// their log.
func TestUnsynced(t *testing.T) {
	const (
		minute = "syncs its disk once a minute"
		log    = "once in five minutes, also with sync_interval: always"
		unseen = "unless the servers have sync_interval: always"
	)
	for _, c := range []struct {
		version            string
		replicas           int
		unset, set, advice string // parts of the finding without and with sync-always, and of the advice
	}{
		{"2.9.25", 1, minute, minute, "use NATS 2.10 or later on all servers"},
		{"2.9.25", 3, minute, minute, "use NATS 2.10.23 or later on all servers"},
		{"2.10.0", 1, unseen, "", "set sync_interval: always"},
		{"2.10.22", 1, unseen, "", "set sync_interval: always"},
		{"2.10.22", 3, log, log, "use NATS 2.10.23 or later on all servers"},
		{"2.10.23", 3, unseen, "", "set sync_interval: always"},
		{"2.11.0-RC.1", 3, unseen, "", "set sync_interval: always"},
		{"3.0.0", 3, unseen, "", "set sync_interval: always"},
		{"unknown", 3, unseen, "", "set sync_interval: always"},
	} {
		for always, want := range map[bool]string{false: c.unset, true: c.set} {
			text, what := unsynced(c.version, c.replicas, always)
			if !strings.Contains(text, want) || (text == "") != (want == "") {
				t.Errorf("%s, %d replicas, sync-always=%t: the finding is %q, want %q", c.version, c.replicas, always, text, want)
			}
			if want != "" && !strings.Contains(what, c.advice) || want == "" && what != "" {
				t.Errorf("%s, %d replicas, sync-always=%t: the advice is %q, want %q", c.version, c.replicas, always, what, c.advice)
			}
		}
	}
}
