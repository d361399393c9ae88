package docs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/server"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/web"
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

// TestLimits checks the defaults in the table of limits.
func TestLimits(t *testing.T) {
	for _, row := range []string{
		fmt.Sprintf("| IDs of a request | %d; `limits.ids`", server.DefaultIDs),
		fmt.Sprintf("| open connections | %d; `limits.connections`", server.DefaultConnections),
		fmt.Sprintf("| wait of a request for IDs | %.0f s; `limits.wait`", server.DefaultWait.Seconds()),
		fmt.Sprintf("| path and query of HTTP | %d bytes |", web.Longest),
	} {
		if !strings.Contains(read(t), "\n"+row) {
			t.Errorf("the document has no row %q", row)
		}
	}
}

// TestTokens reads the tokens of the document, and tries their rights. The server refuses each token of the document
// until somebody puts a secret in its place: a token that everybody can read would let everybody in.
func TestTokens(t *testing.T) {
	const ofShop, ofMonitor = "a-token-of-the-shop", "a-token-of-the-monitor"
	sum := sha256.Sum256([]byte(ofMonitor))
	text := block(t, "toml", "[tokens.shop]")
	path := filepath.Join(t.TempDir(), "tokens.toml")
	open := func(fill ...string) (*access.Access, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.NewReplacer(fill...).Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		return access.New(access.Config{Path: path, Burst: 65536, Generators: []string{"order"}, Log: slog.New(slog.DiscardHandler)})
	}
	shops := []string{"OUTPUT OF: openssl rand -hex 32", ofShop}
	monitors := []string{"OUTPUT OF: printf %s TOKEN | sha256sum | cut -c1-64", hex.EncodeToString(sum[:])}
	if _, err := open(monitors...); err == nil || !strings.Contains(err.Error(), "tokens.shop.token") {
		t.Error("the server takes the token of the document:", err)
	}
	if _, err := open(shops...); err == nil || !strings.Contains(err.Error(), "tokens.monitor.sha256") {
		t.Error("the server takes the sum of the document:", err)
	}
	a, err := open(append(shops, monitors...)...)
	if err != nil {
		t.Fatal(err)
	}
	shop, err := a.Enter(ofShop)
	if err != nil {
		t.Fatal(err)
	}
	monitor, err := a.Enter(ofMonitor)
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
		"reads":                {shop.MayRead(), reason.Permission},
		"IDs of the monitor":   {monitor.Take("order", 1), reason.Permission},
		"reads of the monitor": {monitor.MayRead(), nil},
	} {
		switch {
		case c.want == nil && c.err != nil, c.want != nil && (c.err == nil || reason.Of(c.err).Of != c.want):
			t.Errorf("%s: %v", what, c.err)
		}
	}
}
