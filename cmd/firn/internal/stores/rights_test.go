package stores

import (
	"errors"
	"testing"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// TestRightsOfAddresses: the rights at a store are refused for each address that opening the store
// refuses, with the same error. No secret and no file of an address needs to be there.
func TestRightsOfAddresses(t *testing.T) {
	wrong := []string{
		"redis://u:p@h/1?cluster=true", "redis://u:p@h,i/0", "redis://u@h/x", "redis://u:p@h/0?sentinel-user=s", "redis://:p@h/0?sentinel=a&cluster=true",
		"redis://u@h/0?cluster=true&wait-replicas=1&password-env=NONE&password=p", "rediss://u:p@h/0?tls=false", "etcd://:p@h/a", "etcd://u@h/a?tls=false&ca=b",
		"kubernetes://u@s/a", "kubernetes://s/a.b", "kubernetes://s/a?server=ftp://h", "kubernetes://s/a?server=http://h:1&tls=true",
		"kubernetes://s,t/a",
		"postgres://u@h/a?table=a.b.c", "postgres://u@h/a?target_session_attrs=standby", "postgres://u@h/a?sslmode=never", "postgres://u@h/a?pool_max_conns=0",
		"file://h/a", "file://",
	}
	for _, k := range Kinds {
		if k.Permissions == nil {
			continue
		}
		if text, err := k.Permissions(k.Form, "u"); err != nil || text == "" {
			t.Errorf("%s: %q, %v", k.Form, text, err)
		}
		for _, rest := range []string{"h/1?prefx=ids", "h/1?timeout=0s", "h/1?timeout=1s&timeout=2s", "h/1?table=t&tls=maybe", "h/%zz", "h/1#f", "h:x/1"} {
			wrong = append(wrong, k.Scheme+"://"+rest)
		}
	}
	for _, addr := range wrong {
		k, err := KindOf(addr)
		if err != nil { // package address refuses the address for all kinds
			continue
		}
		_, open := lease.OpenStore(t.Context(), addr)
		text, err := k.Permissions(addr, "u")
		if open == nil || err == nil || err.Error() != open.Error() || !errors.Is(err, driver.ErrAddress) || !errors.Is(open, driver.ErrAddress) {
			t.Errorf("%s: the rights are %q, %v; opening the store: %v", addr, text, err, open)
		}
		var typed *driver.Error
		if !errors.As(err, &typed) {
			t.Errorf("%s: %T is not a driver.Error", addr, err)
		}
	}
}
