package natslease

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
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/servers/loopback"
	"github.com/firn-id/firn/internal/servers/process"
)

// A server is one of the test's own, on a port of loopback that was free.
type server struct {
	process.Server
	t    *testing.T
	file string // its configuration
}

// start starts a server with JetStream and parts of a configuration, that ends with the test, even if that is killed.
func start(t *testing.T, config ...string) *server {
	t.Helper()
	path, err := exec.LookPath("nats-server")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/nats-server"); err != nil {
			if os.Getenv("FIRN_REQUIRE_SERVICES") == "1" {
				t.Fatal("nats-server is not installed, and FIRN_REQUIRE_SERVICES=1")
			}
			t.Skip("nats-server is not installed")
		}
	}
	s, err := process.Again(func() (*server, error) {
		dir := t.TempDir()
		s := &server{t: t, file: filepath.Join(dir, "nats.conf")}
		s.Port, s.Command = freePort(t), []string{path, "-c", s.file}
		s.configure(append([]string{fmt.Sprintf("listen: 127.0.0.1:%d", s.Port), fmt.Sprintf("jetstream { store_dir: %q }", dir)}, config...)...)
		return s, s.Start()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the server: %s", &s.Log)
		}
	})
	return s
}

func (s *server) configure(config ...string) {
	if err := os.WriteFile(s.file, []byte(strings.Join(config, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

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
	return at("nats://"+s.Host(), "firn", settings...)
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
