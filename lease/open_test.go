package lease

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

func init() {
	driver.Register("memory", func(_ context.Context, address string) (*memlease.Store, error) {
		if !strings.HasSuffix(address, "/there") {
			return nil, driver.OpenError(address, errors.New("it is not there"), "")
		}
		return memlease.New(), nil
	})
}

func TestOpenStore(t *testing.T) {
	for _, addr := range []string{"memory://host/there", "MEMORY://host/there"} {
		s, err := OpenStore(t.Context(), addr)
		if err != nil {
			t.Fatalf("%s: %v", addr, err)
		}
		if _, ok := s.(*memlease.Store); !ok {
			t.Errorf("%s: a %T", addr, s)
		}
	}
	if _, err := OpenStore(t.Context(), filepath.Join(t.TempDir(), "ids")); err == nil || !strings.Contains(err.Error(), "there is no store") {
		t.Errorf("a path: %v", err)
	}
	for addr, want := range map[string]string{
		"memory://host/elsewhere": "it is not there",
		"postgres://u:secret@h/d": `import _ "github.com/firn-id/firn/lease/pglease"`,
		"rediss://h":              `import _ "github.com/firn-id/firn/lease/redislease"`,
		"mysql://u:secret@h/d":    "no store has addresses of the kind mysql://; this program has ",
		"postgresql://u:secret@h": `import _ "github.com/firn-id/firn/lease/pglease"`,
		"u:secret@h/d":            "neither an absolute path nor scheme://",
		"":                        "neither an absolute path nor scheme://",
		"./secret":                "a relative path",
	} {
		s, err := OpenStore(t.Context(), addr)
		if s != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, %v; want %s", addr, s, err, want)
		}
		if address := addr != "memory://host/elsewhere"; errors.Is(err, driver.ErrAddress) != address {
			t.Errorf("%q: ErrAddress is %v", addr, !address)
		}
	}
}

// A scheme belongs to one package.
func TestRegisterTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	driver.Register("memory", func(context.Context, string) (*memlease.Store, error) { return nil, nil })
}
