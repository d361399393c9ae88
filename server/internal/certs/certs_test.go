package certs

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate, which the authority signs; a zero authority makes the certificate of an authority.
func (a authority) issue(t *testing.T, name string, until time.Time) (authority, []byte, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.OK(t, err)
	form := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until, IsCA: a.cert == nil, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = form, key
	}
	der, err := x509.CreateCertificate(rand.Reader, form, parent, &key.PublicKey, by)
	testkit.OK(t, err)
	cert, err := x509.ParseCertificate(der)
	testkit.OK(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.OK(t, err)
	return authority{cert, key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	testkit.OK(t, os.WriteFile(path, data, 0o600))
}

// shake returns the client's state after a handshake, and the error of the server or else of the client.
func shake(t *testing.T, c *Certs, client *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", c.Config())
	testkit.OK(t, err)
	defer l.Close()
	failed := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = conn.(*tls.Conn).Handshake()
			defer conn.Close()
		}
		failed <- err
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), client)
	if bad := <-failed; bad != nil {
		return tls.ConnectionState{}, bad
	}
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close()
	return conn.ConnectionState(), nil
}

type files struct{ cert, key, ca string }

func newFiles(t *testing.T) files {
	dir := t.TempDir()
	return files{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, "ca.crt")}
}

func TestProtocols(t *testing.T) {
	f := newFiles(t)
	root, _, _ := authority{}.issue(t, "root", time.Now().Add(time.Hour))
	_, cert, key := root.issue(t, "ids", time.Now().Add(time.Hour))
	write(t, f.cert, cert)
	write(t, f.key, key)
	c, err := New(f.cert, f.key, "", slog.New(slog.DiscardHandler), nil)
	testkit.OK(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(root.cert)
	for want, offers := range map[string][][]string{
		"http/1.1": {{"http/1.1"}, {"h2", "http/1.1"}, {"http/1.0", "http/1.1"}},
		"h2":       {{"h2"}, {"h2", "grpc-exp"}},
		"":         {nil, {"redis"}},
	} {
		for _, o := range offers {
			state, err := shake(t, c, &tls.Config{RootCAs: roots, ServerName: "ids", NextProtos: o})
			if err != nil || state.NegotiatedProtocol != want {
				t.Errorf("offer %q: %q, %v, want %q", o, state.NegotiatedProtocol, err, want)
			}
		}
	}
	if _, err := shake(t, c, &tls.Config{RootCAs: roots, ServerName: "ids", MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("a handshake of TLS 1.1 succeeds")
	}
}

// TestClients: with certificates for clients, a client needs a certificate that they have signed.
func TestClients(t *testing.T) {
	f := newFiles(t)
	until := time.Now().Add(time.Hour)
	root, ca, _ := authority{}.issue(t, "root", until)
	stranger, _, _ := authority{}.issue(t, "stranger", until)
	_, cert, key := root.issue(t, "ids", until)
	write(t, f.cert, cert)
	write(t, f.key, key)
	write(t, f.ca, ca)
	c, err := New(f.cert, f.key, f.ca, slog.New(slog.DiscardHandler), nil)
	testkit.OK(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(root.cert)
	try := func(by authority) error {
		config := &tls.Config{RootCAs: roots, ServerName: "ids", MaxVersion: tls.VersionTLS12} // a client of 1.3 learns of the refusal later
		if by.cert != nil {
			_, cert, key := by.issue(t, "client", until)
			pair, err := tls.X509KeyPair(cert, key)
			testkit.OK(t, err)
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		_, err := shake(t, c, config)
		return err
	}
	if err := try(root); err != nil {
		t.Error(err)
	}
	if try(stranger) == nil || try(authority{}) == nil {
		t.Error("a client without a certificate of the authority gets in")
	}
}

// TestReload: a new certificate counts for the next connection. A fault leaves the old certificate.
func TestReload(t *testing.T) {
	f := newFiles(t)
	root, _, _ := authority{}.issue(t, "root", time.Now().Add(time.Hour))
	_, cert, key := root.issue(t, "old", time.Now().Add(time.Hour))
	write(t, f.cert, cert)
	write(t, f.key, key)
	log := new(bytes.Buffer)
	c, err := New(f.cert, f.key, "", slog.New(slog.NewTextHandler(log, nil)), nil)
	testkit.OK(t, err)
	name := func() string {
		t.Helper()
		state, err := shake(t, c, &tls.Config{InsecureSkipVerify: true})
		testkit.OK(t, err)
		return state.PeerCertificates[0].Subject.CommonName
	}
	c.Reload()
	if log.Len() > 0 {
		t.Errorf("the log of a reload without a change: %s", log)
	}
	_, cert, newKey := root.issue(t, "new", time.Now().Add(2*time.Hour))
	write(t, f.cert, cert) // and the key of the old certificate
	c.Reload()
	if got := name(); got != "old" || !strings.Contains(log.String(), "the old certificate stays") {
		t.Errorf("%s; log: %s", got, log)
	}
	write(t, f.key, newKey)
	c.Reload()
	if got := name(); got != "new" || time.Until(c.Expires()) < time.Hour {
		t.Errorf("%s, until %v", got, c.Expires())
	}
	// The log says that a fault is gone, also if nothing has changed since before the fault. It says so once.
	const again = "the certificate is in order again"
	log.Reset()
	write(t, f.key, key)
	c.Reload()
	write(t, f.key, newKey)
	c.Reload()
	c.Reload()
	if strings.Count(log.String(), again) != 1 {
		t.Errorf("log: %s", log)
	}
	_, cert, key = root.issue(t, "expired", time.Now().Add(-time.Hour))
	write(t, f.cert, cert)
	write(t, f.key, key)
	c.Reload()
	if got := name(); got != "expired" || !strings.Contains(log.String(), "has expired: renew it") {
		t.Errorf("%s; log: %s", got, log)
	}
}

// TestWatch: Kubernetes renews a secret by a link to another folder.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	root, _, _ := authority{}.issue(t, "root", time.Now().Add(time.Hour))
	folder := func(name string) {
		t.Helper()
		_, cert, key := root.issue(t, name, time.Now().Add(time.Hour))
		testkit.OK(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "tls.crt"), cert)
		write(t, filepath.Join(dir, name, "tls.key"), key)
		if err := os.Symlink(name, filepath.Join(dir, "next")); err != nil {
			t.Skipf("the user may not make links, as on Windows: %v", err)
		}
		testkit.OK(t, os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "data")))
	}
	folder("one")
	c, err := New(filepath.Join(dir, "data", "tls.crt"), filepath.Join(dir, "data", "tls.key"), "", slog.New(slog.DiscardHandler), nil)
	testkit.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { c.Watch(ctx) })
	defer running.Wait()
	defer cancel()
	folder("two")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		state, err := shake(t, c, &tls.Config{InsecureSkipVerify: true})
		testkit.OK(t, err)
		if state.PeerCertificates[0].Subject.CommonName == "two" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the certificate was not renewed within a minute")
		}
	}
}

func TestBad(t *testing.T) {
	root, ca, _ := authority{}.issue(t, "root", time.Now().Add(time.Hour))
	_, cert, key := root.issue(t, "ids", time.Now().Add(time.Hour))
	_, _, otherKey := root.issue(t, "ids", time.Now().Add(time.Hour))
	for _, v := range []struct {
		cert, key, ca []byte
		want          string
	}{
		{cert, otherKey, nil, "are no certificate and key: tls: private key does not match public key"},
		{key, cert, nil, "are no certificate and key"},
		{nil, key, nil, "are no certificate and key"},
		{cert, key, []byte("x"), "has no certificate: want certificates in the form PEM"},
		{cert, key, ca, ""},
	} {
		f := newFiles(t)
		write(t, f.cert, v.cert)
		write(t, f.key, v.key)
		write(t, f.ca, v.ca)
		authorities := f.ca
		if v.ca == nil {
			authorities = ""
		}
		_, err := New(f.cert, f.key, authorities, slog.New(slog.DiscardHandler), nil)
		if (err == nil) != (v.want == "") || err != nil && !strings.Contains(err.Error(), v.want) {
			t.Errorf("%v, want %s", err, v.want)
		}
	}
	if _, err := New("/nowhere", "/nowhere", "", slog.New(slog.DiscardHandler), nil); err == nil {
		t.Error("no error without files")
	}
}
