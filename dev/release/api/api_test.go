package api

import (
	"slices"
	"testing"
)

func TestName(t *testing.T) {
	for message, want := range map[string]string{
		"Open: removed":             "Open",
		"Config.Create: added":      "Config.Create",
		"(*DB).Close: removed":      "DB.Close",
		"List[T].Len: removed":      "List.Len",
		"(*Map[K, V]).Get: removed": "Map.Get",
		"Open: changed from func(string) (a.T, error) to func()": "Open",
		"(*embedm).EP2, method set of *SM: removed":              "embedm.EP2",
		"example.test/snow/store.Store.Get: added":               "store.Store.Get",
		"./memory.Store.Get: added":                              "memory.Store.Get",
		"C: value changed from \"a: b\" to \"c\"":                "C",
	} {
		if got := name(message); got != want {
			t.Errorf("name of %q: %q, want %q", message, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		change Change
		want   []string
	}{
		{Change{Package: "example.test/snow/store", Name: "Config.Create"}, []string{"Config.Create", "store.Config.Create"}},
		{Change{Package: "example.test/snow/v2", Name: "Open"}, []string{"Open", "snow.Open"}},
		{Change{Package: "example.test/snow/store"}, []string{"store", "example.test/snow/store"}},
	}
	for _, test := range tests {
		if got := test.change.Names(); !slices.Equal(got, test.want) {
			t.Errorf("%+v: names %q, want %q", test.change, got, test.want)
		}
	}
}
