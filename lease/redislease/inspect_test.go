package redislease

import (
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	for want, i := range map[string]info{
		"":                             {"role": "master", "aof_enabled": "1", "aof_last_write_status": "ok"},
		"is a replica":                 {"role": "slave", "aof_last_write_status": "ok"},
		"aof_last_write_status is err": {"role": "master", "aof_enabled": "1", "aof_last_write_status": "err"},
	} {
		switch found := i.refusals(); {
		case want == "" && len(found) > 0,
			want != "" && (len(found) != 1 || !found[0].Blocks || found[0].Loses || !strings.Contains(found[0].Text, want)):
			t.Errorf("%v: %+v, want a finding that blocks: %q", i, found, want)
		}
	}
}
