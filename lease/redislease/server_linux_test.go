package redislease

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
	"github.com/firn-id/firn/lease/drivertest/process"
)

// A server is one of the test's own, on a port of loopback that was free.
type server struct {
	t       *testing.T
	program string
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
		s := &server{t: t, program: path, port: freePort(t)}
		for s.port >= 22000 { // a server of a Cluster listens on the port 10000 above, too, which connections must not get
			s.port = freePort(t)
		}
		s.args = append([]string{"--port", fmt.Sprint(s.port), "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--daemonize", "no"}, args...)
		return s, s.launch()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
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

// run starts the process once more.
func (s *server) run() {
	s.t.Helper()
	if err := s.launch(); err != nil {
		s.t.Fatal(err)
	}
}

// launch starts the process, and waits until it listens.
func (s *server) launch() error {
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
		return err
	}
	for range 1000 {
		select {
		case <-s.done:
			err := fmt.Errorf("it ended: %s", &s.log)
			if strings.Contains(strings.ToLower(s.log.String()), process.ErrPort.Error()) {
				err = fmt.Errorf("%w: %w", process.ErrPort, err)
			}
			return err
		default:
		}
		conn, err := net.DialTimeout("tcp", s.host(), time.Second)
		if err == nil {
			conn.Close()
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("it does not listen: %s", &s.log)
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
	return with("redis://"+s.host()+"/0", settings...)
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
