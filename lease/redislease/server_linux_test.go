package redislease

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/servers/loopback"
	"github.com/firn-id/firn/internal/servers/process"
)

// A server is one of the test's own, on a port of loopback that was free.
type server struct {
	process.Server
	t *testing.T
}

// start starts a server that ends with the test, even if that is killed.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if path, err = exec.LookPath("valkey-server"); err != nil {
			if os.Getenv("FIRN_REQUIRE_SERVICES") == "1" {
				t.Fatal("redis-server is not installed, and FIRN_REQUIRE_SERVICES=1")
			}
			t.Skip("redis-server is not installed")
		}
	}
	s, err := process.Again(func() (*server, error) {
		port := freePort(t)
		for port >= 22000 { // a server of a Cluster listens on the port 10000 above, too, which connections must not get
			port = freePort(t)
		}
		s := &server{t: t}
		s.Port = port
		s.Command = append([]string{path, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--daemonize", "no"}, args...)
		return s, s.Start()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// durable are settings that keep what was acknowledged.
var durable = []string{"--appendonly", "yes", "--appendfsync", "always"}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := loopback.Port()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// run starts the server once more.
func (s *server) run() {
	s.t.Helper()
	if err := s.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// stop has the server stand still until resume.
func (s *server) stop() {
	s.t.Helper()
	if err := s.Freeze(); err != nil {
		s.t.Fatal(err)
	}
}

// resume lets the server go on.
func (s *server) resume() {
	s.t.Helper()
	if err := s.Thaw(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) address(settings ...string) string {
	return with("redis://"+s.Host()+"/0", settings...)
}

// certify makes a certificate for 127.0.0.1 that stands for itself, and its key, and returns their files.
func certify(t *testing.T) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 3000 {
		if so() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never comes to be that %s", what)
}
