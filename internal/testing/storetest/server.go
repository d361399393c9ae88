package storetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
)

// A Server is a server of the test's own. Its methods fail the test instead of returning an error.
type Server struct {
	process.Server
	t testing.TB
}

// Start starts a server that ends with the test, even if the test is killed. The program is the
// first installed program of the names. Without a program the test is skipped, or fails if
// FIRN_REQUIRE_SERVICES=1. The function command returns the command for a path and a port.
func Start(t testing.TB, command func(path string, port int) []string, names ...string) *Server {
	t.Helper()
	var path string
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		services.Missing(t, "%s is not installed", names[0])
	}
	s, err := process.Again(func() (*Server, error) {
		s := &Server{t: t}
		s.Port = Port(t)
		s.Command = command(path, s.Port)
		return s, s.Server.Start()
	})
	check(t, err)
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the server: %s", &s.Log)
		}
	})
	return s
}

// Stop has the server stand still until [Server.Resume].
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.Freeze(); err != nil {
		s.t.Fatal(err)
	}
}

// Resume ends a [Server.Stop].
func (s *Server) Resume() {
	s.t.Helper()
	if err := s.Thaw(); err != nil {
		s.t.Fatal(err)
	}
}

// Port returns a port that nobody listens on.
func Port(t testing.TB) int {
	t.Helper()
	for {
		port, err := loopback.Port()
		check(t, err)
		if port < 22000 { // a server of a Redis Cluster also listens 10000 above, below the ports of connections
			return port
		}
	}
}

// Gone returns the address of a host where no server listens.
func Gone(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", Port(t))
}

// Silent returns the address of a server that accepts connections and never answers.
func Silent(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// Certify makes a certificate for 127.0.0.1, signed by itself, and its key. Certify returns their
// files.
func Certify(t testing.TB) (cert, key string) {
	t.Helper()
	cert, key, _ = Sign(t, nil, &x509.Certificate{IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature})
	return cert, key
}

// Sign makes a certificate, signed by the parent, or by itself without a parent. Sign returns the files of
// the certificate and of its key, and both as a pair.
func Sign(t testing.TB, parent *tls.Certificate, c *x509.Certificate) (cert, key string, pair *tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	c.SerialNumber, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(time.Hour)
	if parent == nil {
		parent = &tls.Certificate{Leaf: c, PrivateKey: private}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent.Leaf, private.Public(), parent.PrivateKey)
	check(t, err)
	leaf, err := x509.ParseCertificate(der)
	check(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	return File(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		File(t, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))),
		&tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private, Leaf: leaf}
}

// File returns the path of a new file that only this user may read.
func File(t testing.TB, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// Unset takes the variables whose names begin with the prefix out of the environment, until the
// test ends. The home directory is an empty one: clients of servers also read files there.
func Unset(t testing.TB, prefix string) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, prefix) {
			t.Setenv(name, "") // so that it comes back
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", t.TempDir())
}
