package rpc

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// health is the health service. The services are "" and "firn.v1.Firn", which serve while a generator can make IDs, and
// each generator by its name. The service of package grpc/health does not do: its Watch goes on while the server drains, so
// GracefulStop would wait for the client.
type health struct {
	healthpb.UnsafeHealthServer
	of *Service
}

const (
	serving    = healthpb.HealthCheckResponse_SERVING
	notServing = healthpb.HealthCheckResponse_NOT_SERVING
	unknown    = healthpb.HealthCheckResponse_SERVICE_UNKNOWN
)

// look returns the health of a service.
func (h *health) look(service string) healthpb.HealthCheckResponse_ServingStatus {
	among := h.of.Set.All()
	if service != "" && service != firnv1.Firn_ServiceDesc.ServiceName {
		g, err := h.of.Set.Find(service)
		if err != nil {
			return unknown
		}
		among = []*supply.Source{g}
	}
	if h.of.draining() {
		return notServing
	}
	for _, g := range among {
		if g.Serving() == nil {
			return serving
		}
	}
	return notServing
}

// Check implements the method of the service.
func (h *health) Check(_ context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	s := h.look(r.GetService())
	if s == unknown {
		return nil, status.Error(codes.NotFound, "unknown service: ask for a generator by its name, or for \"\"")
	}
	return &healthpb.HealthCheckResponse{Status: s}, nil
}

// List implements the method of the service.
func (h *health) List(context.Context, *healthpb.HealthListRequest) (*healthpb.HealthListResponse, error) {
	names := []string{"", firnv1.Firn_ServiceDesc.ServiceName}
	for _, g := range h.of.Set.All() {
		names = append(names, g.Name)
	}
	all := map[string]*healthpb.HealthCheckResponse{}
	for _, name := range names {
		all[name] = &healthpb.HealthCheckResponse{Status: h.look(name)}
	}
	return &healthpb.HealthListResponse{Statuses: all}, nil
}

// poll is how often Watch looks.
const poll = time.Second

// Watch implements the method of the service.
func (h *health) Watch(r *healthpb.HealthCheckRequest, stream grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	last := healthpb.HealthCheckResponse_UNKNOWN
	for ended := false; ; {
		if now := h.look(r.GetService()); now != last {
			if err := stream.Send(&healthpb.HealthCheckResponse{Status: now}); err != nil {
				return err
			}
			last = now
		}
		if ended {
			return reason.Draining.New("the server is stopping: connect again")
		}
		select {
		case <-ticker.C:
		case <-h.of.drained:
			ended = true // after the client knows
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}
