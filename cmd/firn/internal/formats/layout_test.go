package formats

import (
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/grant"
)

// TestLayoutOf: the name of a pool says what it is for, and how firn pool create would make it, unless it
// is somebody's own.
func TestLayoutOf(t *testing.T) {
	for name, want := range map[string]string{
		"nanoflake": "nanoflake", "ulidflake": "ulidflake", "ulidflake-scalable": "ulidflake-scalable", "scru160": "scru160", "sno": "sno",
		"snowflakesi":                      "snowflakesi",
		"nanoflake@1577836800000":          "nanoflake --epoch 1577836800000",
		"ulidflake-scalable@1577836800000": "ulidflake-scalable --epoch 1577836800000",
		"snowflakesi-41-2":                 "snowflakesi --clock-bits 41 --machine-bits 2",
		"snowflakesi-40-0@1577836800000":   "snowflakesi --clock-bits 40 --machine-bits 0 --epoch 1577836800000",
		"scru160-0-8":                      "scru160 --node-bits 8",
		"scru160-us":                       "scru160 --micro",
		"scru160-3-0":                      "scru160 --counter-bits 3",
		"scru160-4-8":                      "scru160 --counter-bits 4 --node-bits 8",
		"scru160-16-0-us":                  "scru160 --counter-bits 16 --micro",
		"orders":                           "", "nanoflakes": "", "nanoflake-1-2": "", "nanoflake@": "", "nanoflake@9999999999999999": "", "snowflakesi-40-5": "",
		"snowflakesi-41-99": "", "scru160-9-8": "", "scru160-0-0": "", "scru160-us-us": "", "nanoflake-us": "", "scru160-0-8-ms": "", "scru160-0-17": "", "sno@5": "", "": "", "nanoflake@1577836800000@1": "",
	} {
		words, layout, ok := LayoutOf(name)
		if strings.Join(words, " ") != want || ok != (want != "") || ok && layout.Workers == 0 {
			t.Errorf("%s: %v, %+v, %v", name, words, layout, ok)
		}
		if f, _, known := SettingsOf(layout); ok && (!known || f.Name() != layout.Format) {
			t.Errorf("%s: the layout %+v is of no format", name, layout)
		}
		if got := len(LayoutsOf(name)); ok && got != 1 || !ok && got != len(All()) {
			t.Errorf("%s may be for %d layouts", name, got)
		}
	}
}

func TestAlike(t *testing.T) {
	named := func(name, like string) grant.Spec {
		_, layout, _ := LayoutOf(like)
		return grant.Spec{Name: name, Layout: layout}
	}
	for _, v := range []struct {
		a, b grant.Spec
		want bool
	}{
		{named("a", "nanoflake"), named("b", "nanoflake"), true},
		{named("a", "nanoflake"), named("b", "nanoflake@1577836800000"), false},
		{named("a", "nanoflake"), named("b", "sno"), false},
		{named("a", "snowflakesi"), named("b", "snowflakesi-41-5"), false},
		{named("a", "nanoflake"), named("torture-0123456789abcdef", "nanoflake"), false},
		{named("torture-0123456789abcde", "nanoflake"), named("b", "nanoflake"), true},
		{named("torture-0123456789abcdeg", "nanoflake"), named("b", "nanoflake"), true},
	} {
		if Alike(v.a, v.b) != v.want || Alike(v.b, v.a) != v.want {
			t.Errorf("%v and %v: not %v", v.a, v.b, v.want)
		}
	}
}
