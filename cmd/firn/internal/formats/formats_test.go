package formats

import (
	"testing"

	"github.com/firn-id/firn/inspect"
)

func TestMisspelled(t *testing.T) {
	for word, want := range map[string]string{
		"sno": "sno", "SNO": "sno", "sn": "sno", "so": "sno", "no": "sno", "snoo": "sno", "ssno": "sno", "sna": "sno", "son": "sno", "nso": "sno",
		"scru16": "scru160", "SCRU-160": "scru160", "scru106": "scru160", "scrul60": "scru160",
		"ulid-flake": "ulidflake", "ulidflake-Scalable": "ulidflake-scalable", "ulidflake_scalable": "ulidflake-scalable", "snowflakesl": "snowflakesi", "snowflake-si": "snowflakesi",
		"": "", "s": "", "ns": "", "snooo": "", "ons": "", "snaa": "", "xsnox": "", "osn": "", "nanofla": "", "ulidflake-": "ulidflake", "ulid": "", "snowflake": "", "07en9rb30swmf": "",
	} {
		if got := Misspelled(word); got != want {
			t.Errorf("%q is meant to be %q, want %q", word, got, want)
		}
	}
}

func TestEveryFormatHasAMaker(t *testing.T) {
	known := map[string]bool{}
	for _, f := range inspect.Formats() {
		known[f.Name()] = true
		if own, ok := Lookup(f.Name()); !ok {
			t.Errorf("%s is not in makers: firn new does not make its IDs", f.Name())
		} else if (own.lastWorker != nil && own.name != "scru160") != (f.Worker() != "") {
			t.Errorf("%s: makers and package inspect differ on whether it has workers", f.Name())
		}
	}
	for _, name := range Names() {
		if !known[name] {
			t.Errorf("%s is in makers and not in package inspect", name)
		}
	}
}
