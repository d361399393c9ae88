package advice

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/advice"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/server"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/certs"
	"github.com/firn-id/firn/server/internal/reason"
)

// secret is the token of a client.
const secret = "a-token-of-a-client-in-this-test"

func writeToken(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "tokens.toml"), []byte(token()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// token is a file of tokens with the secret, and more settings.
func token(lines ...string) string {
	return fmt.Sprintf("[tokens.a]\ntoken = %q\n%s\n", secret, strings.Join(lines, "\n"))
}

// pem returns the files that certificate writes.
func pem(dir string) server.TLS {
	return server.TLS{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
}

// certificate writes a certificate of the loopback address that is valid.
func certificate(t *testing.T, dir string) { certificateTo(t, dir, time.Now().Add(time.Hour)) }

func certificateTo(t *testing.T, dir string, end time.Time) {
	t.Helper()
	cert, key := storetest.CertifyUntil(t, end)
	to := pem(dir)
	if err := errors.Join(os.Rename(cert, to.Cert), os.Rename(key, to.Key)); err != nil {
		t.Fatal(err)
	}
}

// openTokens returns the fault of a file of tokens.
func openTokens(path string) error {
	_, err := access.New(access.Config{Path: path, Burst: 1000, Log: slog.New(slog.DiscardHandler)})
	return err
}

// tokens is a fault of a file of tokens. ways are parts of the advice, each with the mended file.
func tokens(text string, ways ...string) advice.Fault {
	return advice.Changed(func(t *testing.T, text string) error { return openTokens(write(t, "tokens.toml", text)) }, text, ways...)
}

func secrets(t *testing.T) []advice.Fault {
	sum := sha256.Sum256([]byte(secret))
	hashed := "[tokens.a]\nsha256 = \"" + hex.EncodeToString(sum[:]) + "\"\n"
	random := "[tokens.a]\ntoken = \"" + output(t, rand.Text(), "openssl", "openssl rand -hex 32") + "\"\n"
	other := "[tokens.b]\ntoken = \"" + secret + "-b\"\n"
	return []advice.Fault{
		tokens(token()+"[tokens.b]\ntoken = \""+secret+"\"", "give each client its own token", token()+other),
		tokens("[tokens.\"a b\"]\ntoken = \""+secret+"\"", "want 1 to 100 letters, digits, '.', '_', '@' and '-'", "[tokens.\"A.1_@-\"]\ntoken = \""+secret+"\""),
		tokens(token("sha256 = \""+hex.EncodeToString(sum[:])+"\""), "leave out one of the two", token()),
		tokens("[tokens.a]", "want token = \"…\"", token(), "for example from openssl rand -hex 32", random, "or sha256 = \"…\", its SHA-256", hashed),
		tokens("[tokens.a]\ntoken = \"short\"", "want 16 or more", token(), "for example from openssl rand -hex 32", random),
		tokens("[tokens.a]\ntoken = \"with spaces, but long\"", "want at most 256 letters, digits and signs of ASCII, without spaces", token()),
		tokens("[tokens.a]\nsha256 = \"abc\"", "want 64 digits of hexadecimal", hashed, "as printf %s TOKEN | sha256sum | cut -c1-64 prints",
			"[tokens.a]\nsha256 = \""+output(t, hex.EncodeToString(sum[:]), "sha256sum", "printf %s "+secret+" | sha256sum | cut -c1-64")+"\""),
		tokens(token("rate = 0"), "want IDs a second", token("rate = 1"), "or leave out rate for no limit", token()),
		tokens(token(`generators = ["a*b"]`), "want the name of a generator", token(`generators = ["order"]`), "or a '*' at the end", token(`generators = ["o*"]`),
			"as in order*", token(`generators = ["order*"]`)),
		mode(t),
		expired(t),
		rate("more at once", 1001, "ask for fewer"),
		rate("more a second", 500, "ask more slowly"),
	}
}

// output returns what a command of an advice prints, or a stand-in if the machine does not have the program.
func output(t *testing.T, standIn, program, command string) string {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		return standIn
	}
	out, err := exec.Command("sh", "-c", command).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// mode is a file of tokens that other users may read, in a directory whose name a shell takes for several words.
func mode(t *testing.T) advice.Fault {
	dir := filepath.Join(t.TempDir(), "it's $HOME; a *")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeToken(t, dir)
	path := filepath.Join(dir, "tokens.toml")
	var command string
	typed := func(line string) error {
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, out)
		}
		return openTokens(path)
	}
	open := func(t *testing.T) string {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		text := advice.Text(t, openTokens(path))
		_, command, _ = strings.Cut(text, "): ")
		command, _, _ = strings.Cut(command, "; or 640")
		return text
	}
	return advice.Fault{Name: "the mode of the file", Meet: open, Ways: advice.Ways{
		"chmod 600": func(*testing.T) error { return typed(command) },
		"or 640, for a group": func(t *testing.T) error {
			open(t)
			return typed(strings.Replace(command, "600", "640", 1))
		},
	}}
}

// expired is a certificate that has expired: the server starts, and the log has the advice.
func expired(t *testing.T) advice.Fault {
	dir := t.TempDir()
	var log bytes.Buffer
	var c *certs.Certs
	return advice.Fault{Name: "an expired certificate", Meet: func(t *testing.T) string {
		certificateTo(t, dir, time.Now().Add(-time.Hour))
		var err error
		if c, err = certs.New(pem(dir).Cert, pem(dir).Key, "", slog.New(slog.NewTextHandler(&log, nil)), nil); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}, Ways: advice.Ways{"renew it": func(t *testing.T) error {
		log.Reset()
		certificate(t, dir)
		c.Reload()
		if strings.Contains(log.String(), "expired") || c.Expires().Before(time.Now()) {
			return errors.New(log.String())
		}
		return nil
	}}}
}

// rate is a request for IDs of a token with a rate of 1000 IDs a second, after a request for 1000. With the way the
// client asks for fewer or at the time that the server gives. The clock is that of a bubble.
func rate(name string, n int, says string) advice.Fault {
	asks := func(t *testing.T, follow bool) (err error) {
		path := write(t, "tokens.toml", token("rate = 1000"))
		synctest.Test(t, func(t *testing.T) {
			a, e := access.New(access.Config{Path: path, Burst: 1000, Log: slog.New(slog.DiscardHandler)})
			if e != nil {
				t.Fatal(e)
			}
			b, e := a.Enter(secret)
			if e != nil {
				t.Fatal(e)
			}
			if n <= 1000 {
				if err = b.Take("g", 1000); err != nil {
					t.Fatal(err)
				}
			}
			err = b.Take("g", n)
			switch {
			case !follow || err == nil:
			case n > 1000:
				err = b.Take("g", 1000)
			default:
				time.Sleep(reason.Of(err).Retry)
				err = b.Take("g", n)
			}
		})
		return err
	}

	return advice.Fault{Name: name, Meet: func(t *testing.T) string { return advice.Text(t, asks(t, false)) }, Ways: advice.Ways{says: func(t *testing.T) error { return asks(t, true) }}}
}
