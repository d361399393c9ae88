package docs

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/server"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
)

// block returns the code of the document that begins with a language and a line.
func block(t *testing.T, language, first string) string {
	t.Helper()
	_, text, ok := strings.Cut(read(t), "\n```"+language+"\n"+first)
	if !ok {
		t.Fatalf("the document has no code that begins with %s", first)
	}
	code, _, _ := strings.Cut(text, "\n```")
	return first + code + "\n"
}

// TestConfiguration loads the configuration of the document.
func TestConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "firn.toml")
	if err := os.WriteFile(path, []byte(block(t, "toml", "tokens = ")), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := server.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil || len(c.Generators) != 1 {
		t.Error(c.Generators, err)
	}
}

// TestTokens reads the tokens of the document, and tries their rights.
func TestTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.toml")
	if err := os.WriteFile(path, []byte(block(t, "toml", "[tokens.shop]")), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := access.New(access.Config{Path: path, Burst: 65536, Generators: []string{"order"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	shop, err := a.Enter("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	monitor, err := a.Enter("test")
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		err  error
		want *reason.Reason
	}{
		"IDs of order":         {shop.Take("order", 1), nil},
		"IDs of another":       {shop.Take("users", 1), reason.Permission},
		"IDs above the rate":   {shop.Take("order", 100_000), reason.Limit},
		"looks":                {shop.Look(), reason.Permission},
		"IDs of the monitor":   {monitor.Take("order", 1), reason.Permission},
		"looks of the monitor": {monitor.Look(), nil},
	} {
		switch {
		case c.want == nil && c.err != nil, c.want != nil && (c.err == nil || reason.Of(c.err).Of != c.want):
			t.Errorf("%s: %v", what, c.err)
		}
	}
}
