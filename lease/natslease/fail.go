package natslease

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/lease/driver"
)

// A refusal is the server's notice of a refused message.
type refusal struct {
	err error
	at  time.Time
}

// readable returns an error that gives the reason for a missing answer.
func (s *Store) readable(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	broken := errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrConnectionReconnecting) || errors.Is(err, nats.ErrDisconnected)
	// A refused message gets no answer.
	if r := s.refused.Load(); r != nil && errors.Is(r.err, nats.ErrPermissionViolation) && time.Since(r.at) < s.options.Timeout+time.Second {
		return fmt.Errorf("%w: %w", r.err, err)
	}
	switch {
	case broken && s.conn != nil && s.conn.LastError() != nil:
		return fmt.Errorf("not connected: %w", s.conn.LastError())
	case broken:
		return fmt.Errorf("not connected: %w", err)
	case isSwitchedOff(err):
		return fmt.Errorf("JetStream is switched off, or most servers of the bucket are down: %w", err)
	}
	return err
}

// Codes of JetStream's errors without a name in the client.
const (
	codeNoPeers     = 10005 // no suitable peers for placement
	codeUnavailable = 10008 // system temporarily unavailable
	codeNotLeader   = 10009 // not the leader
	codeReplicas    = 10074 // replicas > 1 not supported in non-clustered mode
	codeMaxBytes    = 10113 // account requires a stream configuration to have max bytes set
)

// diagnose returns what helps against an error, and the kind of the error.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	var (
		api     *jetstream.APIError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, driver.ErrDamaged):
		return "", driver.ErrDamaged
	case isUnknown(err), errors.Is(err, nats.ErrPermissionViolation):
		return driver.RemedyPermissions, driver.ErrRefused
	case errors.As(err, &api):
		switch api.ErrorCode {
		case codeUnavailable, codeNotLeader: // no majority, perhaps for a moment
			return "", driver.ErrUnavailable
		case codeNoPeers, codeReplicas, codeMaxBytes: // replicas or max-bytes in the address
			return driver.RemedyAddress, driver.ErrUnavailable
		}
		return driver.RemedySettings, driver.ErrUnavailable
	case isSwitchedOff(err), errors.Is(err, nats.ErrMaxPayload), isCrowded(err):
		return driver.RemedySettings, driver.ErrUnavailable
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted), errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &record),
		errors.As(err, &dns), strings.Contains(err.Error(), "tls: "), strings.Contains(err.Error(), "tls error"):
		return driver.RemedyAddress, driver.ErrUnavailable
	}
	return "", driver.ErrUnavailable
}

// isSwitchedOff reports whether no server answers for the bucket.
func isSwitchedOff(err error) bool {
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse)
}

// isUnknown reports whether a server does not let the user in.
func isUnknown(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked) ||
		errors.Is(err, nats.ErrAccountAuthExpired) || strings.Contains(strings.ToLower(err.Error()), "authorization violation")
}

// isCrowded reports whether a server has as many connections as it may have. While the client connects, the error is
// the server's text alone.
func isCrowded(err error) bool {
	return errors.Is(err, nats.ErrMaxConnectionsExceeded) || errors.Is(err, nats.ErrMaxAccountConnectionsExceeded) ||
		strings.Contains(err.Error(), nats.MAX_CONNECTIONS_ERR) || strings.Contains(err.Error(), nats.MAX_ACCOUNT_CONNECTIONS_ERR)
}
