package etcdlease_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

// TestOpen has addresses with mistakes, and hosts without etcd.
func TestOpen(t *testing.T) {
	silent, gone := storetest.Silent(t), storetest.Gone(t)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	host := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	t.Setenv("FIRN_TEST_PASSWORD", "hunter2")
	storetest.Refused(t, etcdlease.Open, map[string][]string{
		"nonsense":              {"invalid address"},
		"redis://u:hunter2@h/p": {"not etcd://", "redis://h:2379/p"},
		"etcd://h/p?colour=red": {"no setting colour, only ca, cert, key, password"},
		"etcd://u@h/p":          {"a user, but no password"},
		"etcd://h/?password-env=FIRN_TEST_PASSWORD": {"a password, but no user"},
		"etcd://h/p%0D": {"invalid address", "U+000D at the end"},

		"etcd://" + gone + "/p":                              {"connection refused", "remedy: connect", gone + "/p"},
		"etcd://u:hunter2@" + gone + "," + host(web) + "/p":  {"etcd"},
		"etcd://" + host(web) + "/p":                         {"remedy: connect"},
		"etcd://" + host(web) + "/p?tls=true":                {"remedy: address"},
		"etcd://" + silent + "/p?timeout=300ms":              {"deadline exceeded", "remedy: connect"},
		"etcd://u:hunter2@" + silent + "?timeout=300ms":      {"deadline exceeded", "remedy: connect"},
		"etcd://" + gone + "," + silent + "/p?timeout=300ms": {"remedy: connect"},
	})
	if _, err := etcdlease.New(t.Context(), nil, "p\r"); !errors.Is(err, driver.ErrAddress) {
		t.Errorf("a prefix with an invisible end: %v", err)
	}
	for _, user := range []string{"", "u:hunter2@"} {
		storetest.Cancelled(t, etcdlease.Open, "etcd://"+user+silent+"/p")
	}
}
