package filelease

import "testing"

// TestEscapeNames: a file has the name of its key, unless Windows takes the name for something else.
func TestEscapeNames(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "0007": "0007", "con": "con~", "con.x": "con~.x", "con.": "con~.~", "cone": "cone", "com1": "com1~", "com": "com", "com10": "com10", "lpt9.a.b": "lpt9~.a.b",
		"a.": "a.~", "a..": "a..~", "a.b": "a.b", "x.con": "x.con", "nul": "nul~", "aux": "aux~", "prn": "prn~", "a@b": "a@b",
	} {
		if got := escapeName(name); got != want {
			t.Errorf("escapeName(%s) = %s, want %s", name, got, want)
		}
	}
}
