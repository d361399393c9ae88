package natslease

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/lease/driver"
)

func openError(store string, err error) error {
	return &driver.Error{Store: store, Op: "open", Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err),
		Advice: "want nats://host:4222,host2:4222/bucket?creds-file=…"}
}

func (s *Store) error(op, key string, err error, advice string) error {
	return &driver.Error{Store: s.address, Op: op, Key: key, Err: err, Advice: advice}
}

// A refusal is what the server sent without being asked: that it did not let a message through.
type refusal struct {
	err error
	at  time.Time
}

// fail returns the error for one of the server's, of the client's or of the context, as which it stays visible.
func (s *Store) fail(ctx context.Context, op, key string, err error) error {
	if s.closed.Load() && errors.Is(err, nats.ErrConnectionClosed) {
		err = os.ErrClosed
	}
	if end := ctx.Err(); end != nil && !errors.Is(err, end) {
		err = fmt.Errorf("%w: %w", end, err)
	} else if errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	broken := errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrConnectionReconnecting) || errors.Is(err, nats.ErrDisconnected)
	// A message that the server does not let through gets no answer.
	if r := s.refused.Load(); r != nil && errors.Is(r.err, nats.ErrPermissionViolation) && time.Since(r.at) < s.options.Timeout+time.Second {
		err = fmt.Errorf("%w: %w", r.err, err)
	} else if broken && s.conn != nil && s.conn.LastError() != nil {
		err = fmt.Errorf("not connected: %w", s.conn.LastError())
	} else if broken {
		err = fmt.Errorf("not connected: %w", err)
	}
	advice := s.diagnose(err)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer in time: %w", err)
	}
	return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, err), advice)
}

// Codes of JetStream's errors that its client has no names for.
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
)

// diagnose returns what to do about an error.
func (s *Store) diagnose(err error) string {
	const silent = "see that the servers run, and that the network lets through to them"
	var (
		api     *jetstream.APIError
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return "switch JetStream on in the server's configuration, or see that its cluster has a leader"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return "switch JetStream on for the user's account"
	case errors.As(err, &api):
		switch api.ErrorCode {
		case codeStoreFailed:
			return "the bucket is full, or the server's disk: raise the bucket's max_bytes, or see the server's log"
		case codeResources, codeAccountLimit, codeStorage:
			return "the account's or the server's storage is full: free some, or raise its limits"
		case codeUnavailable, codeNotLeader:
			return "wait until the servers have a leader; see that a majority of them runs"
		case codeReplicas, codeNoPeers:
			return "the cluster has not as many servers as the bucket is to have: see replicas in the address"
		case codeMaxBytes:
			return "give the bucket a limit with max-bytes in the address"
		case codeNoAccount:
			return "switch JetStream on for the user's account"
		}
		return ""
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired),
		strings.Contains(strings.ToLower(err.Error()), "authorization violation"):
		return "see that what logs in is right, and valid: user and password-file, token-file, creds-file or nkey-file"
	case errors.Is(err, nats.ErrPermissionViolation):
		b := s.options.Bucket
		return fmt.Sprintf("allow the user to publish to $KV.%s.>, $JS.API.STREAM.INFO.KV_%[1]s, $JS.API.STREAM.MSG.GET.KV_%[1]s, $JS.API.STREAM.CREATE.KV_%[1]s and "+
			"$JS.API.CONSUMER.*.KV_%[1]s.>, and to subscribe to _INBOX.>", b)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return "no server answers for the bucket: see that JetStream is switched on, and that a majority of the bucket's servers runs"
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted), errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &record),
		strings.Contains(err.Error(), "tls: "), strings.Contains(err.Error(), "tls error"):
		return "see to tls, ca, cert, key and server-name in the address, and to the server's certificate"
	case errors.Is(err, nats.ErrMaxConnectionsExceeded), errors.Is(err, nats.ErrMaxAccountConnectionsExceeded):
		return "have fewer connections, or raise the server's or the account's limit"
	case errors.Is(err, os.ErrClosed), errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &dns):
		return "see that the name of the host is right"
	}
	return silent
}
