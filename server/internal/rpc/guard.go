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

// A guard stands around all calls: the guard renders errors, counts them, and keeps a panic from ending the process.
type guard struct{ Config }

func (g guard) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (answer any, err error) {
	defer func() { err = g.after(info.FullMethod, recover(), err) }()
	if strings.HasPrefix(info.FullMethod, "/grpc.health.") {
		g.enter(ctx) // needs no token, and keeps the connection of a client with one
	}
	return handler(ctx, request)
}

func (g guard) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer func() { err = g.after(info.FullMethod, recover(), err) }()
	bearer, err := g.enter(stream.Context())
	if strings.HasPrefix(info.FullMethod, "/grpc.reflection.") { // says as much as List
		if err == nil {
			err = bearer.MayRead()
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
	switch {
	case err != nil:
		return nil, err
	case token == "":
		return nil, reason.Token.New("this server needs a token: send the metadata authorization: Bearer TOKEN")
	}
	b, err := c.Access.Enter(token)
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

// service returns the description of a service, whose calls with a malformed message end with the reason
// [reason.Request]. The generated code returns errors of reading a message before an interceptor sees the errors.
func (g guard) service(d *grpc.ServiceDesc) *grpc.ServiceDesc {
	with := *d
	with.Methods = slices.Clone(d.Methods)
	for i, m := range with.Methods {
		with.Methods[i].Handler = func(server any, ctx context.Context, read func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
			checked := func(message any) error {
				err := receive(read, message)
				arrived(ctx)
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

// takeEncoded is the handler of Take. The generated handler is the same, and answers with a Batch.
func takeEncoded(server any, ctx context.Context, read func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
	r := new(firnv1.TakeRequest)
	if err := read(r); err != nil {
		return nil, err
	}
	info := &grpc.UnaryServerInfo{Server: server, FullMethod: firnv1.Firn_Take_FullMethodName}
	return interceptor(ctx, r, info, func(ctx context.Context, r any) (any, error) {
		return server.(*Service).take(ctx, r.(*firnv1.TakeRequest))
	})
}

// A reader is a stream, whose malformed messages have the reason [reason.Request].
type reader struct{ grpc.ServerStream }

func (r reader) RecvMsg(message any) error {
	err := receive(r.ServerStream.RecvMsg, message)
	arrived(r.Context())
	return err
}

// receive reads a message. The error of a message that is not protobuf is a *[reason.Error]: grpc would answer by itself.
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
