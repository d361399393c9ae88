package etcdlease_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

// A fake is a server that fails the first request, and then obeys.
type fake struct {
	pb.UnimplementedKVServer
	server *grpc.Server
	fail   func(context.Context) error // of the first request
	header atomic.Pointer[pb.ResponseHeader]
	ranges atomic.Int32
	txns   atomic.Int32
}

func (f *fake) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	if f.ranges.Add(1) == 1 {
		if err := f.fail(ctx); err != nil {
			return nil, err
		}
	}
	return &pb.RangeResponse{Header: f.header.Load()}, nil
}

func (f *fake) Txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	if f.txns.Add(1) == 1 {
		if err := f.fail(ctx); err != nil {
			return nil, err
		}
	}
	return &pb.TxnResponse{Header: f.header.Load(), Succeeded: true}, nil
}

// serve returns a fake and its address.
func serve(t *testing.T) (*fake, string) {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
	f := &fake{server: grpc.NewServer()}
	f.fail = func(context.Context) error { return nil }
	f.header.Store(&pb.ResponseHeader{ClusterId: 1, Revision: 7})
	pb.RegisterKVServer(f.server, f)
	go f.server.Serve(l)
	t.Cleanup(f.server.Stop)
	return f, l.Addr().String()
}

// TestRepeat has a fake return the errors of members. A store repeats a Put only if the member has
// certainly done nothing, and repeats a Get whenever another try may help.
func TestRepeat(t *testing.T) {
	say := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
	for _, c := range []struct {
		name     string
		fail     func(context.Context) error
		put, get bool // is sent again
	}{
		{"no leader", say(rpctypes.ErrGRPCNoLeader), true, true},
		{"a token that is not known", say(rpctypes.ErrGRPCInvalidAuthToken), true, true},
		{"a token from before a change of users", say(rpctypes.ErrGRPCAuthOldRevision), true, true},
		{"too many requests", say(rpctypes.ErrGRPCRequestTooManyRequests), true, true},
		{"a proposal that was dropped", say(status.Error(codes.Unknown, "raft proposal dropped")), true, true},
		{"a learner", say(rpctypes.ErrGRPCNotSupportedForLearner), true, true},

		{"a time-out of the server", say(rpctypes.ErrGRPCTimeout), false, true},
		{"a time-out as the leader is lost", say(rpctypes.ErrGRPCTimeoutDueToLeaderFail), false, true},
		{"a time-out as a connection is lost", say(rpctypes.ErrGRPCTimeoutDueToConnectionLost), false, true},
		{"a leader that has changed", say(rpctypes.ErrGRPCLeaderChanged), false, true},
		{"a server that stops", say(rpctypes.ErrGRPCStopped), false, true},
		{"the end of the time, as the server sees it", say(status.Error(codes.DeadlineExceeded, "context deadline exceeded")), false, true},
		{"the end of the request, as the server sees it", say(status.Error(codes.Canceled, "context canceled")), false, true},
		{"a server that does not answer", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, false, true},
		{"not available", say(status.Error(codes.Unavailable, "for some reason")), false, true},

		{"a full database", say(rpctypes.ErrGRPCNoSpace), false, false},
		{"no permission", say(rpctypes.ErrGRPCPermissionDenied), false, false},
		{"members that differ", say(rpctypes.ErrGRPCCorrupt), false, false},
		{"nonsense", say(status.Error(codes.Internal, "nonsense")), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, at := serve(t)
			s := storetest.Open(t, etcdlease.Open, "etcd://"+at+"/p?timeout=2s")
			f.fail = c.fail
			f.ranges.Store(0)
			for _, op := range []struct {
				name  string
				sent  *atomic.Int32
				again bool
				call  func() error
			}{
				{"Put", &f.txns, c.put, func() error { _, err := s.Put(t.Context(), "a", nil, "6"); return err }},
				{"Get", &f.ranges, c.get, func() error {
					_, err := s.Get(t.Context(), "a")
					if errors.Is(err, driver.ErrNotFound) {
						return nil
					}
					return err
				}},
			} {
				err := op.call()
				sent := op.sent.Load()
				if op.again && (sent != 2 || err != nil) || !op.again && (sent != 1 || err == nil || errors.Is(err, driver.ErrConflict)) {
					t.Errorf("%s was sent %d times, and returned %v; sent again it should be: %v", op.name, sent, err, op.again)
				}
			}
		})
	}
}

// TestLostConnection loses the connection of a Put: the outcome of the Put is unknown.
func TestLostConnection(t *testing.T) {
	f, at := serve(t)
	s := storetest.Open(t, etcdlease.Open, "etcd://"+at+"/p")
	f.fail = func(ctx context.Context) error {
		go f.server.Stop()
		<-ctx.Done()
		return nil
	}
	_, err := s.Put(t.Context(), "a", nil, "6")
	storetest.Fails(t, "the error", err, driver.ErrUnavailable)
	if sent := f.txns.Load(); sent != 1 {
		t.Errorf("Put was sent %d times", sent)
	}
}

// TestOtherReplies has replies from another cluster, and from an earlier state of the same cluster.
func TestOtherReplies(t *testing.T) {
	for name, h := range map[string]*pb.ResponseHeader{
		"another cluster":     {ClusterId: 2, Revision: 8},
		"an earlier revision": {ClusterId: 1, Revision: 6},
	} {
		f, at := serve(t)
		s := storetest.Open(t, etcdlease.Open, "etcd://"+at+"/p")
		was := f.header.Swap(h)
		_, err := s.Put(t.Context(), "a", nil, "6")
		f.header.Store(was)
		storetest.Fails(t, "the error", err, driver.ErrUnsafe)
		if _, err = s.Get(t.Context(), "a"); !errors.Is(err, driver.ErrUnsafe) {
			t.Errorf("%s: Get after that: %v", name, err)
		}
	}
}
