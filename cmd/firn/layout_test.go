package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/leased"
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
		"orders":                           "", "nanoflakes": "", "nanoflake-1-2": "", "nanoflake@": "", "nanoflake@9999999999999999": "", "snowflakesi-40-5": "",
		"snowflakesi-41-99": "", "scru160-4-8": "", "scru160-0-17": "", "sno@5": "", "": "", "nanoflake@1577836800000@1": "",
	} {
		words, layout, ok := layoutOf(name)
		if strings.Join(words, " ") != want || ok != (want != "") || ok && layout.Workers == 0 {
			t.Errorf("%s: %v, %+v, %v", name, words, layout, ok)
		}
		if got := len(layoutsOf(name)); ok && got != 1 || !ok && got != len(makers) {
			t.Errorf("%s may be for %d layouts", name, got)
		}
	}
}

func TestAlike(t *testing.T) {
	pool := func(name, like string) leased.Pool {
		_, layout, _ := layoutOf(like)
		return leased.Pool{Name: name, Layout: layout}
	}
	for _, v := range []struct {
		a, b leased.Pool
		want bool
	}{
		{pool("a", "nanoflake"), pool("b", "nanoflake"), true},
		{pool("a", "nanoflake"), pool("b", "nanoflake@1577836800000"), false},
		{pool("a", "nanoflake"), pool("b", "sno"), false},
		{pool("a", "snowflakesi"), pool("b", "snowflakesi-41-5"), false},
		{pool("a", "nanoflake"), pool("torture-0123456789abcdef", "nanoflake"), false},
		{pool("torture-0123456789abcde", "nanoflake"), pool("b", "nanoflake"), true},
		{pool("torture-0123456789abcdeg", "nanoflake"), pool("b", "nanoflake"), true},
	} {
		if alike(v.a, v.b) != v.want || alike(v.b, v.a) != v.want {
			t.Errorf("%v and %v: not %v", v.a, v.b, v.want)
		}
	}
}

// TestCommand: a command that is printed is what a shell takes for the words that were given, and has no
// secret.
func TestCommand(t *testing.T) {
	for _, dir := range []string{"/a", "a b", "it's", "$HOME", "a;b", "~", "a\\b", "*", "=a", "é", "a&b", "#"} {
		out, err := exec.Command("sh", "-c", "printf '%s\\n' "+(&state{dir: directory(dir)}).command("firn")).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err != nil || !slices.Equal(got, []string{"firn", "--state", dir}) {
			t.Errorf("%s: %q, %v", dir, got, err)
		}
	}
	for addr, want := range map[string]string{
		"etcd://a,b/p": "x --store etcd://a,b/p",
		"postgres://me@h/db?table=a.b&password-file=/run/p": "x --store 'postgres://me@h/db?table=a.b&password-file=/run/p'",
		"postgres://me:hunter2@h/db":                        "x --store …",
		"postgres://me@h/db?password=hunter2":               "x --store …",
		"redis://h?sentinel-Password=hunter2":               "x --store …",
		"consul://h?token=hunter2":                          "x --store …",
		"hunter2":                                           "x --store …",
	} {
		if got := (&state{store: storeAddress(addr)}).command("x"); got != want {
			t.Errorf("%s: %s", addr, got)
		}
		if a, err := address.Parse(addr); err == nil && a.Secrets() != strings.HasSuffix(want, "…") {
			t.Errorf("%s has secrets: %v", addr, a.Secrets())
		}
	}
}
