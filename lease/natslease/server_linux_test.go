package natslease

import (
	"bytes"
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
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/freeze"
	"github.com/firn-id/firn/lease/drivertest/loopback"
)

// A server is one of the test's own, on a port of loopback that was free.
type server struct {
	t       *testing.T
	program string
	file    string // its configuration
	args    []string
	port    int
	cmd     *exec.Cmd
	log     logbook
	done    chan struct{}
}

// A logbook keeps what a process says.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
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
	s := &server{t: t, program: path, port: freePort(t)}
	dir := t.TempDir()
	s.file = filepath.Join(dir, "nats.conf")
	s.args = []string{"-c", s.file}
	s.configure(append([]string{fmt.Sprintf("listen: 127.0.0.1:%d", s.port), fmt.Sprintf("jetstream { store_dir: %q }", dir)}, config...)...)
	s.run()
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("the server: %s", &s.log)
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

// run starts the process, and waits until it listens.
func (s *server) run() {
	s.t.Helper()
	s.cmd, s.done = exec.Command(s.program, s.args...), make(chan struct{})
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	cmd, done := s.cmd, s.done
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // whose end would be that of the program, too
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait() // its errors are in the state of the process
			close(done)
		}
	}()
	if err := <-started; err != nil {
		s.t.Fatal(err)
	}
	for range 1000 {
		select {
		case <-s.done:
			s.t.Fatalf("it ended: %s", &s.log)
		default:
		}
		conn, err := net.DialTimeout("tcp", s.host(), time.Second)
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("it does not listen: %s", &s.log)
}

func (s *server) kill() {
	s.signal(syscall.SIGKILL)
	<-s.done
}

func (s *server) signal(sig syscall.Signal) { s.cmd.Process.Signal(sig) }

// stop has the server stand still until SIGCONT.
func (s *server) stop() {
	s.t.Helper()
	if err := freeze.Process(s.cmd.Process.Pid); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) host() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

func (s *server) address(settings ...string) string {
	return at("nats://"+s.host(), "firn", settings...)
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
