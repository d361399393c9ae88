// Package deps holds the requirements of packages that are being written.
package deps

import (
	_ "github.com/cloudflare/tableflip"
	_ "github.com/coreos/go-systemd/v22/activation"
	_ "github.com/coreos/go-systemd/v22/daemon"
)
