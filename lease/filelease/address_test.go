package filelease

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

func TestParseAddress(t *testing.T) {
	for in, want := range map[string]string{
		"file:///var/lib/firn":          "/var/lib/firn",
		"FILE:///my%20ids/":             "/my ids/",
		"file:///a%3Fb%23":              "/a?b#",
		"file:///":                      "",
		"file://":                       "",
		"file:":                         "",
		"":                              "",
		"/var/lib/firn":                 "/var/lib/firn",
		"/my ids/100%20?#":              "/my ids/100%20?#",
		"./var/lib/firn":                "",
		"//var/lib/firn":                "",
		"/":                             "",
		"file://var/lib/firn":           "",
		"file:///var/lib/firn?":         "",
		"file:///var/lib#part":          "",
		"file:///var/lib%2":             "",
		"file:///var/lib?existing=true": "",
		"etcd:///firn":                  "",
	} {
		dir, err := ParseAddress(in)
		if dir != filepath.FromSlash(want) || (err == nil) != (want != "") || err != nil && !errors.Is(err, driver.ErrAddress) {
			t.Errorf("%q: %q, %v; want %q", in, dir, err, want)
		}
	}
}

// An address opens a store that is there, and makes none: as an address of any other store does.
func TestOpenStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ids")
	addr := "file://" + filepath.ToSlash(dir)
	if filepath.VolumeName(dir) != "" {
		addr = "file:///" + filepath.ToSlash(dir)
	}
	if _, err := lease.OpenStore(t.Context(), addr); !errors.Is(err, ErrNoStore) {
		t.Fatalf("no directory: %v", err)
	}
	first := testkit.Must(Open(dir))
	defer first.Close()
	testkit.Must(first.Put(t.Context(), "a/b", []byte("x"), driver.None))
	second := testkit.Must(lease.OpenStore(t.Context(), addr))
	defer second.Close()
	if e, err := second.Get(t.Context(), "a/b"); err != nil || string(e.Value) != "x" {
		t.Errorf("%q, %v", e.Value, err)
	}
	testkit.Is(t, testkit.Err(lease.OpenStore(t.Context(), addr+"?a=b")), driver.ErrAddress, "a setting")
}
