package shop

import (
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

// digits are texts of IDs that are also numbers.
var digits = []string{"0540000000004", "1000000000000", "0x123456789ab", "123456789e004"}

func TestLoad(t *testing.T) {
	for _, text := range append(digits, "0549x5l2itvr4") {
		q := `"` + text + `"`
		id := nanoflake.MustParse(text)
		got, err := Load(strings.NewReader("tenant: " + q + "\nparent: " + q + "\nblocked: [" + q + "]\nhosts: {" + q + ": a.example}\n"))
		want := Config{id, &id, []nanoflake.ID{id}, map[nanoflake.ID]string{id: "a.example"}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range digits {
		for _, file := range []string{"tenant: " + text, "parent: " + text, "blocked: [" + text + "]"} {
			if got, err := Load(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), "write the text in quotes") {
				t.Errorf("%s: %v, %v", file, got, err)
			}
		}
	}
	if _, err := Load(strings.NewReader(`tenant: "1"`)); !errors.As(err, new(*iderr.ParseError)) {
		t.Errorf("a text that is not an ID: %v", err)
	}
}

func TestFile(t *testing.T) {
	file := testkit.Must(os.Open("shop.yaml"))
	defer file.Close()
	want := Config{Tenant: nanoflake.MustParse("0540000000004"), Hosts: map[nanoflake.ID]string{nanoflake.MustParse("1000000000000"): "a.example"}}
	if got, err := Load(file); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestParseKeys(t *testing.T) {
	for _, text := range digits {
		var file struct{ Hosts map[string]string }
		testkit.OK(t, toml.Unmarshal([]byte("[hosts]\n"+text+" = 'a.example'\n"), &file))
		hosts, err := ParseKeys(file.Hosts)
		if want := (map[nanoflake.ID]string{nanoflake.MustParse(text): "a.example"}); err != nil || !maps.Equal(hosts, want) {
			t.Errorf("%s: %v, %v", text, hosts, err)
		}
	}
	if hosts, err := ParseKeys(map[string]int{"1": 2}); err == nil {
		t.Errorf("%v", hosts)
	}
}

func TestTenants(t *testing.T) {
	ids, err := Tenants(strings.NewReader(strings.Join(digits, ",lamp\n") + ",lamp\n"))
	if err != nil || len(ids) != len(digits) {
		t.Fatal(ids, err)
	}
	for i, id := range ids {
		if id != nanoflake.MustParse(digits[i]) {
			t.Errorf("%s is read as %v", digits[i], id)
		}
	}
	if ids, err := Tenants(strings.NewReader("0549x5l2itvr4\n1000000000000.0\n")); err == nil || !strings.Contains(err.Error(), "line 2: nanoflake: ") || slices.Contains(ids, 0) {
		t.Errorf("%v, %v", ids, err)
	}
}
