package redislease

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
)

// TestOpen has addresses with mistakes, and hosts without Redis.
func TestOpen(t *testing.T) {
	silent, gone := storetest.Silent(t), storetest.Gone(t)
	storetest.Refused(t, Open, map[string][]string{
		"nonsense":                                       {"invalid address"},
		"http://u:hunter2@h/0":                           {"invalid address", "not redis://", "http://h:6379/0"},
		"redis://u:hunter2@h/x":                          {"invalid address", "number of a database"},
		"redis://u@h/0":                                  {"invalid address", "no password"},
		"redis://h/0?colour=red":                         {"invalid address", "no setting colour"},
		"redis://h/0?prefix=a{b}":                        {"invalid address", "prefix"},
		"redis://h/0?wait-replicas=-1":                   {"invalid address", "wait-replicas=-1"},
		"redis://h,i/0":                                  {"invalid address", "more than one host"},
		"redis://h/1?cluster=true":                       {"invalid address", "no database but 0"},
		"redis://h/0?cluster=true&sentinel=x":            {"invalid address", "without cluster=true"},
		"redis://h/0?cluster=true&wait-replicas=1":       {"invalid address", "not available"},
		"redis://h/0?sentinel-password=hunter2":          {"invalid address", "go with sentinel=NAME"},
		"redis://u:hunter2@" + gone:                      {"connection refused", "remedy: connect", "redis://" + gone + "/0"},
		"redis://nowhere.invalid?timeout=3s":             {"nowhere.invalid", "remedy: address"},
		"redis://" + gone + "?sentinel=main":             {"remedy: address"},
		"redis://" + gone + "?cluster=true&timeout=1s":   {"remedy: connect"},
		"redis://u:hunter2@" + silent + "?timeout=300ms": {"no answer in time", "remedy: connect"},
		"rediss://" + silent + "?timeout=300ms":          {"no answer in time"},
	})
	storetest.Cancelled(t, Open, "redis://u:hunter2@"+silent)
}
