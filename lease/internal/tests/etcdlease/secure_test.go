package etcdlease_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/authpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/etcdlease"
)

// authority makes the certificate of an authority, and returns its file.
func authority(t *testing.T) (file string, pair *tls.Certificate) {
	t.Helper()
	file, _, pair = storetest.Sign(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "authority"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return file, pair
}

// user makes the certificate of a user.
func user(t *testing.T, by *tls.Certificate, name string) (cert, key string, pair *tls.Certificate) {
	t.Helper()
	return storetest.Sign(t, by, &x509.Certificate{Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

const (
	password = "correct-horse"
	settings = "timeout=2s&"
)

// login turns authentication on: root, and users who may use the prefix p.
func login(t *testing.T, config clientv3.Config) {
	t.Helper()
	raw, err := clientv3.New(config)
	testkit.OK(t, err)
	defer raw.Close()
	ctx, end := t.Context(), clientv3.GetPrefixRangeEnd("p/")
	do := func(_ any, err error) { t.Helper(); testkit.OK(t, err) }
	do(raw.UserAdd(ctx, "root", password))
	do(raw.RoleAdd(ctx, "root"))
	do(raw.UserGrantRole(ctx, "root", "root"))
	for user, right := range map[string]authpb.Permission_Type{"firn": clientv3.PermReadWrite, "reader": clientv3.PermRead} {
		do(raw.RoleAdd(ctx, user))
		do(raw.RoleGrantPermission(ctx, user, "p/", end, clientv3.PermissionType(right)))
		do(raw.UserAdd(ctx, user, password))
		do(raw.UserGrantRole(ctx, user, user))
	}
	do(raw.AuthEnable(ctx))
}

// TestSecure has TLS, client certificates, users and permissions, on a real cluster.
func TestSecure(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	ca, by := authority(t)
	cert, key, _ := storetest.Sign(t, by, &x509.Certificate{Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames: []string{"etcd.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	mine, mineKey, pair := user(t, by, "nobody")
	c := etcdtest.New(t, etcdtest.Config{CA: ca, Cert: cert, Key: key, Args: append(calm, "--bcrypt-cost", "4", "--auth-token-ttl", "1", "--log-level", "debug")})
	pool := x509.NewCertPool()
	pool.AddCert(by.Leaf)
	config := clientv3.Config{Endpoints: c.Endpoints(), TLS: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{*pair}}}
	login(t, config)

	file := filepath.Join(t.TempDir(), "password")
	testkit.OK(t, os.WriteFile(file, []byte(password+"\n"), 0o600))
	t.Setenv("FIRN_TEST_PASSWORD", password)
	secure := settings + url.Values{"ca": {ca}, "cert": {mine}, "key": {mineKey}}.Encode()
	secret := secure + "&" + url.Values{"password-file": {file}}.Encode()
	at := func(user, prefix, query string) string {
		return "etcd://" + user + c.Endpoint(0) + "," + c.Endpoint(1) + "," + c.Endpoint(2) + "/" + prefix + "?" + query
	}

	t.Run("Conformance", func(t *testing.T) {
		drivertest.Run(t, func(t *testing.T) func() driver.Store {
			prefix := "p/" + space()
			return func() driver.Store {
				s, err := etcdlease.Open(t.Context(), at("firn@", prefix, secret))
				testkit.OK(t, err)
				return s
			}
		}, password, file, "nobody", "firn@")
	})
	t.Run("Refused", func(t *testing.T) {
		_, stranger := authority(t)
		other, otherKey, _ := user(t, stranger, "nobody")
		plain := settings + "password-env=FIRN_TEST_PASSWORD"
		trust := plain + "&" + url.Values{"ca": {ca}}.Encode()
		for _, r := range []struct {
			name, addr string
			parts      []string
		}{
			{"wrong password", at("firn:hunter2@", "p", secure), []string{"invalid user ID or password", "remedy: permissions"}},
			{"wrong user", at("who:"+password+"@", "p", secure), []string{"invalid user ID or password"}},
			{"the certificate's user", at("", "p", secure), []string{"permission denied"}},
			{"another prefix", at("firn@", "q", secret), []string{"permission denied", "remedy: permissions"}},
			{"a prefix of the prefix", at("firn@", "", secret), []string{"permission denied", "remedy: permissions"}},
			{"no TLS", at("firn@", "p", plain), []string{"remedy: connect"}},
			{"unknown authority", at("firn@", "p", plain+"&tls=true"), []string{"unknown authority", "remedy: address"}},
			{"no certificate", at("firn@", "p", trust), []string{"remedy: address"}},
			{"another's certificate", at("firn@", "p", trust+"&"+url.Values{"cert": {other}, "key": {otherKey}}.Encode()), []string{"remedy: address"}},
			{"another name", at("firn@", "p", secret+"&server-name=other.example"), []string{"other.example", "remedy: address"}},
		} {
			s, err := etcdlease.Open(t.Context(), r.addr)
			// The server says why and closes the connection. A write or a read may fail before anybody reads why.
			for n := 0; n < 20 && err != nil && strings.Contains(err.Error(), " tcp 127.0.0.1"); n++ {
				s, err = etcdlease.Open(t.Context(), r.addr)
			}
			if err == nil {
				s.Close()
				t.Errorf("%s: it was opened", r.name)
				continue
			}
			storetest.Fails(t, "the error", err, driver.ErrUnavailable, r.parts...)
			t.Logf("%s: %v", r.name, err)
		}
		storetest.Open(t, etcdlease.Open, at("firn@", "p", secret+"&server-name=etcd.example"))
		named, namedKey, _ := user(t, by, "firn") // stands for the user without a password
		s := storetest.Open(t, etcdlease.Open, at("", "p", settings+url.Values{"ca": {ca}, "cert": {named}, "key": {namedKey}}.Encode()))
		storetest.Put(t, s, "certified", "", driver.None)
	})
	t.Run("Reader", func(t *testing.T) {
		s := storetest.Open(t, etcdlease.Open, at("reader@", "p", secret))
		_, err := s.Get(t.Context(), "a")
		if !errors.Is(err, driver.ErrNotFound) {
			t.Error(err)
		}
		_, err = s.Put(t.Context(), "a", nil, driver.None)
		storetest.Fails(t, "the error", err, driver.ErrUnavailable, "permission denied", "remedy: permissions")
	})
	t.Run("Inspect", func(t *testing.T) {
		storetest.Findings(t, storetest.Open(t, etcdlease.Open, at("firn@", "p", secret)))
	})
	t.Run("Token", func(t *testing.T) {
		s := storetest.Open(t, etcdlease.Open, at("firn@", "p", secret))
		changed := watch(t, s, "")
		rev := storetest.Put(t, s, "token", "0", driver.None)
		storetest.Told(t, "a change", changed)
		// Tokens live for a second. A token that was given out later, and is not used, has expired
		// when all members log its end.
		config.Username, config.Password = "root", password
		root, err := clientv3.New(config)
		testkit.OK(t, err)
		defer root.Close()
		later, err := root.Authenticate(t.Context(), "firn", password)
		testkit.OK(t, err)
		for m := range c.Len() {
			wait.Until(t, "a token has expired", func() bool {
				log, err := os.ReadFile(c.Log(m))
				testkit.OK(t, err)
				return regexp.MustCompile(`deleted a simple token.*` + regexp.QuoteMeta(later.Token)).Match(log)
			})
		}
		rev = storetest.Put(t, s, "token", "1", rev)
		storetest.Told(t, "a change after the token has expired", changed)
		for m := range c.Len() { // whose tokens are in their memory
			testkit.OK(t, errors.Join(c.Restart(m), c.WaitHealthy(t.Context())))
		}
		again(t, func() error { _, err := s.Get(t.Context(), "token"); return err })
		storetest.Put(t, s, "token", "2", rev)
		storetest.Told(t, "a change after the members have forgotten all tokens", changed)
	})
	t.Run("Changed password", func(t *testing.T) {
		config.Username, config.Password = "root", password
		root, err := clientv3.New(config)
		testkit.OK(t, err)
		defer root.Close()
		s := storetest.Open(t, etcdlease.Open, at("reader@", "p", secret))
		testkit.OK(t, testkit.Err(root.UserChangePassword(t.Context(), "reader", "another")))
		_, err = s.Get(t.Context(), "a")
		storetest.Fails(t, "the error", err, driver.ErrUnavailable, "remedy: permissions")
	})
}

// TestNoAuthentication has a user for a cluster without authentication, and no user for a cluster
// with authentication.
func TestNoAuthentication(t *testing.T) {
	services.Full(t)
	t.Parallel()
	c := etcdtest.New(t, etcdtest.Config{Args: []string{"--bcrypt-cost", "4"}})
	addr := only(c, 0, "p")
	user := strings.Replace(addr, "://", "://firn:"+password+"@", 1)
	s, nobody := storetest.Open(t, etcdlease.Open, user), storetest.Open(t, etcdlease.Open, addr)
	rev := storetest.Put(t, s, "a", "x", driver.None)

	login(t, clientv3.Config{Endpoints: c.Endpoints()})
	for _, call := range []func() error{
		func() error { _, err := nobody.Get(t.Context(), "a"); return err },
		func() error { _, err := nobody.Put(t.Context(), "a", nil, rev); return err },
		func() error { _, err := nobody.Watch(t.Context(), ""); return err },
		func() error { _, err := etcdlease.Open(t.Context(), addr); return err },
	} {
		storetest.Fails(t, "the error", call(), driver.ErrUnavailable, "user name is empty", "remedy: permissions")
	}
	storetest.Put(t, s, "a", "y", rev) // the store asks for a token now
}
