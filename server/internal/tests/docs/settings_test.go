package docs

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
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
	testkit.OK(t, os.WriteFile(path, []byte(block(t, "toml", "tokens = ")), 0o600))
	c, err := server.Load(path)
	testkit.OK(t, err)
	if err := c.Check(); err != nil || len(c.Generators) != 1 {
		t.Error(c.Generators, err)
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
		testkit.OK(t, os.WriteFile(path, []byte(strings.NewReplacer(fill...).Replace(text)), 0o600))
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
	testkit.OK(t, err)
	shop, err := a.Enter(ofShop)
	testkit.OK(t, err)
	monitor, err := a.Enter(ofMonitor)
	testkit.OK(t, err)
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
