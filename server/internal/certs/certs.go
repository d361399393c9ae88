// Package certs has the certificate of a server, and reads it again when its files change.
package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/server/internal/watch"
)

// Certs are the certificates of a server. They are safe for concurrent use.
type Certs struct {
	cert, key, ca string
	log           *slog.Logger
	reloaded      func(error)
	files         *watch.Files
	now           atomic.Pointer[loaded]
	broken        atomic.Bool // the last Reload has found a fault

	mu      sync.Mutex // of reloads
	content [3][]byte  // of the files
}

// A loaded is what the files had at some moment: the configurations for clients that offer the protocol, by ALPN.
type loaded struct {
	http, grpc, other *tls.Config
	expires           time.Time
}

// New reads the files: the chain of certificates, the private key and, unless ca is "", the certificates that clients
// must have a certificate of. All are in the form PEM. reloaded, if not nil, gets the result of each Reload.
func New(cert, key, ca string, log *slog.Logger, reloaded func(error)) (*Certs, error) {
	c := &Certs{cert: cert, key: key, ca: ca, log: log, reloaded: reloaded}
	paths := []string{cert, key}
	if ca != "" {
		paths = append(paths, ca)
	}
	c.files = watch.New(paths...)
	if _, err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// Watch reads the files again after each change, until ctx ends.
func (c *Certs) Watch(ctx context.Context) { c.files.Run(ctx, c.Reload) }

// Reload reads the files again. If a file has a fault, the old certificate stays, and the log says so. The log also says
// when the fault is gone.
func (c *Certs) Reload() {
	changed, err := c.read()
	if c.reloaded != nil {
		c.reloaded(err)
	}
	if was := c.broken.Swap(err != nil); was && err == nil {
		c.log.Info("the certificate is in order again", "cert", c.cert, "expires", c.Expires())
	}
	switch {
	case err != nil:
		c.log.Error("the certificate has a fault, so the old certificate stays", "cert", c.cert, "expires", c.Expires(), "err", err)
	case changed:
		c.log.Info("certificate", "cert", c.cert, "expires", c.Expires())
	}
}

// Expires returns the end of the certificate's validity.
func (c *Certs) Expires() time.Time { return c.now.Load().expires }

// Config returns the configuration of a listener. A client that offers HTTP/1.1 by ALPN gets HTTP/1.1, and a client that
// offers HTTP/2 alone, as gRPC does, gets HTTP/2. The connection of another client has no protocol by ALPN.
func (c *Certs) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			now := c.now.Load()
			switch {
			case slices.Contains(hello.SupportedProtos, "http/1.1"):
				return now.http, nil
			case slices.Contains(hello.SupportedProtos, "h2"):
				return now.grpc, nil
			}
			return now.other, nil
		},
	}
}

// read reads the files. changed reports whether the files have another content than before.
func (c *Certs) read() (changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var content [3][]byte
	for i, path := range []string{c.cert, c.key, c.ca} {
		if path != "" {
			if content[i], err = os.ReadFile(path); err != nil {
				return false, err
			}
		}
	}
	if c.now.Load() != nil && slices.EqualFunc(content[:], c.content[:], bytes.Equal) {
		return false, nil
	}
	l, err := c.load(content[0], content[1], content[2])
	if err != nil {
		return false, err
	}
	c.now.Store(l)
	c.content = content
	if left := time.Until(l.expires); left <= 0 {
		c.log.Warn("the certificate has expired: renew it", "cert", c.cert, "expires", l.expires)
	}
	return true, nil
}

func (c *Certs) load(cert, key, ca []byte) (*loaded, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s are no certificate and key: %w", c.cert, c.key, err)
	}
	base := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if c.ca != "" {
		base.ClientAuth, base.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !base.ClientCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("%s: %w: want certificates in the form PEM", c.ca, errNone)
		}
		// A resumed session would go on under certificates that the file no longer has.
		base.SessionTicketsDisabled = true
	}
	with := func(protocols ...string) *tls.Config {
		t := base.Clone()
		t.NextProtos = protocols
		return t
	}
	return &loaded{http: with("http/1.1"), grpc: with("h2"), other: with(), expires: pair.Leaf.NotAfter}, nil
}

var errNone = errors.New("has no certificate")
