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
	"github.com/firn-id/firn/lease/internal/advice"
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
	}
	return err
}

// Codes of JetStream's errors without a name in the client.
const (
	codeResources    = 10023 // insufficient resources
	codeAccountLimit = 10002 // resource limits exceeded for account
	codeUnavailable  = 10008 // system temporarily unavailable
	codeStorage      = 10047 // insufficient storage resources available
	codeStoreFailed  = 10077 // message store failed: maximum bytes exceeded, among others
	codeReplicas     = 10074 // replicas > 1 not supported in non-clustered mode
	codeNoPeers      = 10005 // no suitable peers for placement
	codeNoAccount    = 10035 // JetStream not enabled for account, of older servers
	codeNotLeader    = 10009 // not the leader
	codeMaxBytes     = 10113 // account requires a stream configuration to have max bytes set
	codeTooLarge     = 10054 // message size exceeds maximum allowed
)

// diagnose returns the advice on an error, and the kind of the error.
func (s *Store) diagnose(err error) (what string, kind error) {
	if errors.Is(err, driver.ErrDamaged) {
		return advice.Damaged, driver.ErrDamaged
	}
	kind = driver.ErrUnavailable
	if isUnknown(err) || errors.Is(err, nats.ErrPermissionViolation) {
		kind = driver.ErrRefused
	}
	return s.advice(err), kind
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

func (s *Store) advice(err error) string {
	const (
		silent   = "see that the servers run, and that the network lets through to them"
		noServer = "no server answers for the bucket: see that JetStream is switched on in the servers' configuration, and that a majority of the bucket's servers runs"
	)
	var (
		api     *jetstream.APIError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return noServer
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return "switch JetStream on for the user's account"
	case errors.As(err, &api):
		switch api.ErrorCode {
		case codeStoreFailed:
			return "the bucket is full, or the server's disk: raise the bucket's max_bytes or max_msgs, or see the server's log"
		case codeResources, codeAccountLimit, codeStorage:
			return "the account's or the server's storage is full: free some, or raise its limits"
		case codeUnavailable, codeNotLeader:
			return "wait until the servers have a leader; see that a majority of them runs"
		case codeReplicas, codeNoPeers:
			return "the cluster has fewer servers than the bucket needs: see replicas in the address"
		case codeMaxBytes:
			return "give the bucket a limit with max-bytes in the address"
		case codeTooLarge:
			return "raise the bucket's max_msg_size"
		case codeNoAccount:
			return "switch JetStream on for the user's account"
		}
		return ""
	case isUnknown(err):
		return "see that the credentials are right, and valid: user and password-file, token-file, creds-file or nkey-file"
	case errors.Is(err, nats.ErrPermissionViolation):
		subjects := append(subjectsOfPrograms(s.options.Bucket), creating(s.options.Bucket))
		last := len(subjects) - 1
		return fmt.Sprintf("allow the user to publish to %s and %s, and to subscribe to _INBOX.>", strings.Join(subjects[:last], ", "), subjects[last])
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return noServer
	case errors.Is(err, nats.ErrMaxPayload):
		return "raise max_payload in the servers' configuration"
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted), errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &record),
		strings.Contains(err.Error(), "tls: "), strings.Contains(err.Error(), "tls error"):
		return "see to tls, ca, cert, key and server-name in the address, and to the server's certificate"
	case isCrowded(err):
		return "have fewer connections, or raise the server's or the account's limit"
	case errors.As(err, &dns):
		return "see that the name of the host is right"
	}
	return silent
}
