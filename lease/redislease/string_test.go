package redislease

import (
	"context"
	"errors"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

// TestString has addresses, and the addresses as stores show them.
func TestString(t *testing.T) {
	for addr, want := range map[string]string{
		"redis://u:hunter2@h/3":                                            "redis://h:6379/3",
		"redis://h/?prefix=a:b/c&timeout=2s":                               "redis://h:6379/0?prefix=a%3Ab%2Fc",
		"redis://h?tls=true&prefix=firn":                                   "rediss://h:6379/0",
		"rediss://h,h2:7000?sentinel=s&sentinel-password=hunter2&prefix=p": "rediss://h:26379,h2:7000/0?prefix=p&sentinel=s",
		"redis://h,h2?cluster=true&password=hunter2":                       "redis://h:6379,h2:6379/0?cluster=true",
	} {
		for _, addr := range []string{addr, want} {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := Open(ctx, addr)
			var told *driver.Error
			if !errors.As(err, &told) || told.Store != want {
				t.Errorf("%s is shown as %v, not %s", addr, err, want)
			}
		}
	}
}
