package formats

import "testing"

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
