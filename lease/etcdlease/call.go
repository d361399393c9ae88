package etcdlease

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// A purpose of a request decides when the request may be repeated.
type purpose int

const (
	reading purpose = iota
	writing
)

const ( // between two tries
	shortest = 5 * time.Millisecond
	longest  = 100 * time.Millisecond
)

// call makes a request, and repeats the request within the time while a repetition is safe and may
// help.
//
// A member that is frozen or cut off never answers. The client takes the members in turn: a read
// gives only a part of the time to the first member, and to the second. A write gives all the time
// to a single member: it must not be sent twice.
func (s *Store) call(ctx context.Context, does purpose, request func(context.Context) (*pb.ResponseHeader, error)) error {
	ctx, stop := driver.UntilClosed(ctx, s.Handle)
	defer stop()
	before := s.seen.Seen()
	var why error // the last error with another reason than the time
	for try, wait := 1, shortest; ; try, wait = try+1, min(wait*2, longest) {
		h, err := s.try(ctx, does, try, request)
		if err == nil {
			return s.backwards(h, before)
		}
		if !isContext(err) {
			why = err
		}
		if ctx.Err() == nil && s.again(err, does) && pause.For(ctx, wait) == nil {
			continue
		}
		if isContext(err) {
			err = cmp.Or(why, err)
		}
		return readable(ctx, err)
	}
}

// try makes a request once.
func (s *Store) try(ctx context.Context, does purpose, try int, request func(context.Context) (*pb.ResponseHeader, error)) (*pb.ResponseHeader, error) {
	ctx = clientv3.WithRequireLeader(ctx)
	if deadline, ok := ctx.Deadline(); ok && does != writing && try < 3 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/4)
		defer cancel()
	}
	return request(ctx)
}

// again reports whether a failed request should be tried again. A write must have been refused
// before it reached the other members. It then cannot take effect now or later:
//
//   - a member without a leader refuses requests that need a leader, and Raft drops proposals
//     without a leader;
//   - etcd checks the token before the request, and again when all members apply or refuse the
//     request; the client has fetched another token meanwhile;
//   - a learner takes no requests, and a member that is behind takes no more requests.
//
// After a lost connection or a time-out, the write may have taken effect. A write that failed with
// "no space" may, too: a member can notice the lack of space after the change.
func (s *Store) again(err error, does purpose) bool {
	switch {
	case refused(err), s.login && errors.Is(err, rpctypes.ErrUserEmpty): // after ErrUserEmpty the client has a token now
		return true
	case does == writing:
		return false
	}
	// The error may pass, or another member may be free of it.
	return isContext(err) || codeOf(err) == codes.Unavailable && s.client.ActiveConnection().GetState() != connectivity.TransientFailure
}

// refused reports whether the request was refused before it could take effect, see again.
func refused(err error) bool {
	for _, target := range []error{rpctypes.ErrNoLeader, rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision, rpctypes.ErrTooManyRequests} {
		if errors.Is(err, target) {
			return true
		}
	}
	return status.Convert(err).Message() == "raft proposal dropped" || ofLearner(err)
}

// ofLearner reports whether a learner has refused a request.
func ofLearner(err error) bool {
	return status.Convert(err).Message() == rpctypes.ErrorDesc(rpctypes.ErrGRPCNotSupportedForLearner)
}

func codeOf(err error) codes.Code {
	if e, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return e.Code()
	}
	return status.Code(err)
}

func isContext(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	code := codeOf(err)
	return code == codes.Canceled || code == codes.DeadlineExceeded
}

// readable returns an error of the client in etcd's own words, after a call with ctx.
func readable(ctx context.Context, err error) error {
	if isContext(err) {
		err = cmp.Or(ctx.Err(), context.DeadlineExceeded) // a member can notice first that the time is up
	}
	return serverError{err}
}

// A serverError is an error without the words of gRPC around etcd's message.
type serverError struct{ error }

func (e serverError) Error() string { return status.Convert(e.error).Message() }
func (e serverError) Unwrap() error { return e.error }

// diagnose returns what helps against an error, and the kind of the error.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	switch {
	case is(driver.ErrDamaged):
		return "", driver.ErrDamaged
	case is(rpctypes.ErrCorrupt):
		return driver.RemedySettings, driver.ErrUnsafe
	case is(rpctypes.ErrPermissionDenied, rpctypes.ErrAuthFailed, rpctypes.ErrUserEmpty):
		return driver.RemedyPermissions, driver.ErrRefused
	case is(rpctypes.ErrNoLeader, rpctypes.ErrLeaderChanged, rpctypes.ErrTimeout, rpctypes.ErrTimeoutDueToLeaderFail,
		rpctypes.ErrTimeoutDueToConnectionLost, rpctypes.ErrUnhealthy, rpctypes.ErrStopped), isContext(err):
		return "", driver.ErrUnavailable
	case ofLearner(err), codeOf(err) == codes.Unimplemented: // another member, or something else than etcd, is meant
		return driver.RemedyAddress, driver.ErrUnavailable
	case codeOf(err) == codes.Unavailable:
		if address.AtFault(err) || strings.Contains(err.Error(), "handshake") {
			return driver.RemedyAddress, driver.ErrUnavailable
		}
		return "", driver.ErrUnavailable
	}
	// The database is full, requests are too large, members have different tokens.
	return driver.RemedySettings, driver.ErrUnavailable
}

// hostOf returns host:port of an endpoint, which may be a URL.
func hostOf(endpoint string) string {
	_, host, ok := strings.Cut(endpoint, "://")
	if !ok {
		return endpoint
	}
	return host
}
