package rpc

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/reason"
)

// A guard stands around all calls: the guard renders errors, counts them, and keeps a panic from ending the process.
type guard struct{ Config }

func (g guard) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (answer any, err error) {
	defer func() { err = g.after(info.FullMethod, recover(), err) }()
	return handler(ctx, request)
}

func (g guard) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() { err = g.after(info.FullMethod, recover(), err) }()
	if strings.HasPrefix(info.FullMethod, "/grpc.reflection.") { // says as much as List
		bearer, err := g.enter(stream.Context())
		if err == nil {
			err = bearer.Look()
		}
		if err != nil {
			return err
		}
	}
	return handler(server, reader{stream})
}

// after returns the status of a call, whose handler has returned an error or has panicked.
func (g guard) after(method string, panicked any, err error) error {
	if panicked != nil {
		g.log().Error("a call of gRPC has panicked", "method", method, "panic", panicked, "stack", string(debug.Stack()))
		err = reason.Internal.New("the server has a fault: the server's log has more")
	}
	if err == nil {
		return nil
	}
	e, err := statusOf(err)
	if e != nil {
		g.Calls.Refused(e.Of)
	}
	return err
}

// enter returns the bearer of a call.
func (c Config) enter(ctx context.Context) (*access.Bearer, error) {
	if c.Access == nil || !c.Access.Needed() {
		return nil, nil
	}
	token, err := token(ctx)
	if err != nil {
		return nil, err
	}
	return c.Access.Enter(token)
}

// token returns the token in the metadata of a call, or "".
func token(ctx context.Context) (string, error) {
	const scheme = "bearer "
	switch values := metadata.ValueFromIncomingContext(ctx, "authorization"); {
	case len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", reason.Token.New("the metadata has authorization %d times: send one token", len(values))
	case len(values[0]) < len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme):
		return "", reason.Token.New(`the metadata authorization is not "Bearer TOKEN"`)
	default:
		return strings.TrimSpace(values[0][len(scheme):]), nil
	}
}

// service returns the description of a service, whose calls with a malformed message end with the reason
// [reason.Request]. The code that is generated returns errors of reading a message before an interceptor sees them.
func (g guard) service(d *grpc.ServiceDesc) *grpc.ServiceDesc {
	with := *d
	with.Methods = slices.Clone(d.Methods)
	for i, m := range with.Methods {
		with.Methods[i].Handler = func(server any, ctx context.Context, read func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
			checked := func(message any) error {
				err := malformed(read(message))
				if err != nil {
					err = g.after(m.MethodName, nil, err)
				}
				return err
			}
			return m.Handler(server, ctx, checked, interceptor)
		}
	}
	return &with
}

// A reader is a stream, whose malformed messages have the reason [reason.Request].
type reader struct{ grpc.ServerStream }

func (r reader) RecvMsg(message any) error { return malformed(r.ServerStream.RecvMsg(message)) }

// malformed returns the error of reading a message, with a reason if the message is not protobuf.
func malformed(err error) error {
	if s, ok := status.FromError(err); ok && s.Code() == codes.Internal {
		return reason.Request.New("%s", s.Message())
	}
	return err
}

// unknownMethod ends the call of a method that the server does not have.
func unknownMethod(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	const most = 100 // bytes of a name in an error
	if len(method) > most {
		method = method[:most] + "…"
	}
	var own []string
	for _, m := range firnv1.Firn_ServiceDesc.Methods {
		own = append(own, m.MethodName)
	}
	for _, s := range firnv1.Firn_ServiceDesc.Streams {
		own = append(own, s.StreamName)
	}
	return reason.NoPath.New("no method %q: the methods of %s are %s", method, firnv1.Firn_ServiceDesc.ServiceName, strings.Join(own, ", "))
}

// connections counts connections.
type connections struct{ calls *metrics.Calls }

func (c connections) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		c.calls.Opened()
	case *stats.ConnEnd:
		c.calls.Closed()
	}
}

func (connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (connections) HandleRPC(context.Context, stats.RPCStats)                         {}
