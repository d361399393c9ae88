package natslease

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
)

// TestOpen has addresses with mistakes, and hosts without NATS.
func TestOpen(t *testing.T) {
	silent, gone := storetest.Silent(t), storetest.Gone(t)
	storetest.Refused(t, Open, map[string][]string{
		"nonsense":                                         {"invalid address"},
		"http://u:hunter2@h/b":                             {"invalid address", "not nats://", "http://h:4222/b"},
		"nats://u:hunter2@h/b?password=x":                  {"invalid address", "two passwords"},
		"nats://u@h/b":                                     {"invalid address", "go together"},
		"nats://h/b?password=hunter2":                      {"invalid address", "go together"},
		"nats://u:hunter2@h/b?token=x":                     {"invalid address", "more than one"},
		"nats://h/b?colour=red":                            {"invalid address", "no setting colour"},
		"nats://h/a.b":                                     {"invalid address", "bucket"},
		"nats://h/a/b":                                     {"invalid address", "bucket"},
		"nats://h/b?replicas=6":                            {"invalid address", "replicas=6"},
		"nats://h/b?creds-file=/not/there":                 {"/not/there"},
		"nats://h/b?nkey-file=/not/there":                  {"/not/there"},
		"nats://u:hunter2@" + gone:                         {"no servers available", "remedy: connect", "nats://" + gone + "/firn"},
		"nats://nowhere.invalid?timeout=3s":                {"nowhere.invalid", "remedy: address"},
		"nats://u:hunter2@" + silent + "?timeout=300ms":    {"remedy: connect"},
		"nats://" + silent + "?timeout=300ms&tls=true":     {"remedy: connect"},
		"nats://" + silent + "," + gone + "?timeout=300ms": {"remedy: connect"},
	})
	storetest.Cancelled(t, Open, "nats://u:hunter2@"+silent)
}
