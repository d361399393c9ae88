package rpc

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/firn-id/firn/server/internal/reason"
)

// domain is the domain of the reasons, in ErrorInfo.
const domain = "firn"

// statusOf returns the error of a call as a status: a reason of the table, which statusOf returns too, or an error of the
// call's own context, or a status that grpc has made.
func statusOf(err error) (*reason.Error, error) {
	if e, ok := errors.AsType[*reason.Error](err); ok {
		return e, render(e)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, status.FromContextError(err).Err()
	}
	if _, ok := status.FromError(err); ok {
		return nil, err
	}
	e := reason.Of(err)
	return e, render(e)
}

// render returns a reason as a status.
func render(e *reason.Error) error {
	s := status.New(codes.Code(e.Of.GRPC), e.Error())
	info := &errdetails.ErrorInfo{Reason: e.Of.Name, Domain: domain}
	if e.Remedy != "" {
		info.Metadata = map[string]string{"remedy": string(e.Remedy)}
	}
	details := []protoadapt.MessageV1{info}
	if e.Retry > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.Retry)})
	}
	if full, err := s.WithDetails(details...); err == nil {
		s = full
	}
	return s.Err()
}
