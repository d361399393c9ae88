// Package rpc gives IDs by gRPC: the service firn.v1.Firn, the health service, and reflection. The file firn.proto says
// what users rely on.
package rpc

import (
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/supply"
)

// A Config is what gRPC needs of the server.
type Config struct {
	Set    *supply.Set
	Access *access.Access // nil lets everybody do everything
	MaxIDs int            // of a call, and of a batch; 0 means supply.DefaultIDs
	Calls  *metrics.Calls
	Log    *slog.Logger // nil discards
}

func (c Config) maxIDs() int {
	if c.MaxIDs == 0 {
		return supply.DefaultIDs
	}
	return c.MaxIDs
}

func (c Config) log() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

const (
	maxRequest = 64 << 10 // bytes of a message; the longest real request has a few hundred
	maxHeaders = 16 << 10 // bytes of the metadata of a call
	maxStreams = 256      // calls at a time of one connection; the client queues the others
	patience   = 45 * time.Second
)

// Options returns the options of a grpc.Server that serves the Config. Give the server to Register, too.
func Options(c Config) []grpc.ServerOption {
	g := guard{c}
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2("proto")}),
		grpc.ChainUnaryInterceptor(g.unary, queue), grpc.ChainStreamInterceptor(g.stream),
		grpc.UnknownServiceHandler(unknownMethod),
		grpc.StatsHandler(conns{c.Calls}), grpc.InTapHandle(impatient),
		grpc.MaxRecvMsgSize(maxRequest), grpc.MaxHeaderListSize(maxHeaders), grpc.MaxConcurrentStreams(maxStreams),
		// The preface of HTTP/2 has to come in this time. keepalive then ends a connection that sends no whole frame: a
		// ping after a silence, and the answer in the rest of the time.
		grpc.ConnectionTimeout(patience),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: patience * 2 / 3, Timeout: patience / 3}),
		// A client with a keepalive of its own may ping every five seconds.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		// An idle connection keeps a small buffer for reading, and none for writing.
		grpc.ReadBufferSize(4 << 10),
	}
}

// A Service is the services of one grpc.Server.
type Service struct {
	firnv1.UnimplementedFirnServer
	Config
	drained chan struct{}
	drain   sync.Once
}

// Register adds the services to a grpc.Server with Options.
func Register(s *grpc.Server, c Config) *Service {
	svc := &Service{Config: c, drained: make(chan struct{})}
	g := guard{c}
	s.RegisterService(g.readable(&firnv1.Firn_ServiceDesc), svc)
	s.RegisterService(g.readable(&healthpb.Health_ServiceDesc), &health{of: svc})
	reflection.Register(s)
	return svc
}

// Drain ends all streams after the batch under way, each with the reason draining, and refuses new streams. The health
// service answers NOT_SERVING. Other calls still get IDs. Call GracefulStop of the grpc.Server next, and Stop when the
// time is over: a stream whose client does not read ends only by Stop.
func (s *Service) Drain() { s.drain.Do(func() { close(s.drained) }) }

func (s *Service) draining() bool {
	select {
	case <-s.drained:
		return true
	default:
		return false
	}
}
