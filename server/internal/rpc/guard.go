package rpc

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
)

// A guard is the interceptors of all calls. They check the token, render and count errors, and keep a panic from ending the
// process.
type guard struct{ Config }

func (g guard) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (answer any, err error) {
	defer func() { err = g.after(info.FullMethod, recover(), err) }()
	arrived(ctx)
	ctx, bearer, err := g.enter(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	answer, err = handler(ctx, request)
	return answer, bearer.Tell(err)
}

func (g guard) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() { err = g.after(info.FullMethod, recover(), err) }()
	ctx, bearer, err := g.enter(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	return bearer.Tell(handler(server, call{stream, ctx}))
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

// bearerKey is the key of the bearer in the context of a call.
type bearerKey struct{}

// bearerOf returns the bearer of a call's token.
func bearerOf(ctx context.Context) *access.Bearer { return ctx.Value(bearerKey{}).(*access.Bearer) }

// enter returns the bearer of a call's token, and the context for the handler. Only the health service needs no token.
func (g guard) enter(ctx context.Context, method string) (context.Context, *access.Bearer, error) {
	b, err := g.bearer(ctx)
	switch {
	case strings.HasPrefix(method, "/grpc.health."):
		err = nil
	case err == nil && strings.HasPrefix(method, "/grpc.reflection."): // says as much as List
		err = b.MayRead()
	}
	return context.WithValue(ctx, bearerKey{}, b), b, err
}

// bearer returns the bearer of a call's token. The connection of a client with a token goes on.
func (g guard) bearer(ctx context.Context) (*access.Bearer, error) {
	if g.Access == nil || !g.Access.Needed() {
		return nil, nil
	}
	token, err := token(ctx)
	switch {
	case err != nil:
		return nil, err
	case token == "":
		return nil, reason.Token.New("this server needs a token: send the metadata authorization: Bearer TOKEN")
	}
	b, err := g.Access.Enter(token)
	if p, ok := peer.FromContext(ctx); ok && err == nil {
		if k, ok := p.Addr.(interface{ Known() }); ok { // of package door
			k.Known()
		}
	}
	return b, err
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
		return "", reason.Token.New("the metadata authorization has no token: send Bearer TOKEN")
	default:
		return strings.TrimSpace(values[0][len(scheme):]), nil
	}
}

// readable returns the description of a service whose calls with a malformed message end with [reason.Request]. The
// generated handler of a unary call reads the message before it calls an interceptor.
func (g guard) readable(d *grpc.ServiceDesc) *grpc.ServiceDesc {
	with := *d
	with.Methods = slices.Clone(d.Methods)
	for i, m := range d.Methods {
		with.Methods[i].Handler = func(server any, ctx context.Context, read func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
			return m.Handler(server, ctx, func(into any) error { return g.after(m.MethodName, nil, receive(read, into)) }, interceptor)
		}
	}
	return &with
}

// A call is a stream with the context that enter returns. A malformed message ends it with [reason.Request].
type call struct {
	grpc.ServerStream
	ctx context.Context
}

func (c call) Context() context.Context { return c.ctx }

func (c call) RecvMsg(into any) error {
	err := receive(c.ServerStream.RecvMsg, into)
	arrived(c.ctx)
	return err
}

// receive reads a message.
func receive(read func(any) error, into any) error {
	m := received{into: into}
	if err := read(&m); err != nil {
		return err
	}
	if m.fault != nil {
		return reason.Request.New("the message is not protobuf: %v", m.fault)
	}
	return nil
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
