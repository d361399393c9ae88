package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/server/internal/reason"
)

// TestStatus renders every reason of the table.
func TestStatus(t *testing.T) {
	retried := 0
	for _, r := range reason.All() {
		of, err := statusOf(fmt.Errorf("in a generator: %w", r.New("text %d", 1)))
		s, ok := status.FromError(err)
		if !ok || of.Of != r || s.Code() != codes.Code(r.GRPC) || s.Message() != r.Name+": text 1" {
			t.Errorf("%s: %v", r.Name, err)
		}
		var info *errdetails.ErrorInfo
		var retry *errdetails.RetryInfo
		for _, d := range s.Details() {
			switch d := d.(type) {
			case *errdetails.ErrorInfo:
				info = d
			case *errdetails.RetryInfo:
				retry = d
			default:
				t.Errorf("%s: detail %v", r.Name, d)
			}
		}
		if info.GetReason() != r.Name || info.GetDomain() != "firn" {
			t.Errorf("%s: %v", r.Name, info)
		}
		if retry.GetRetryDelay().AsDuration() != r.Retry || (retry != nil) != (r.Retry > 0) {
			t.Errorf("%s: %v, want %v", r.Name, retry, r.Retry)
		}
		if retry != nil {
			retried++
		}
		// Clients of gRPC try again by themselves after UNAVAILABLE: no other fault may have the code.
		if (s.Code() == codes.Unavailable) != (r.HTTP == http.StatusServiceUnavailable) {
			t.Errorf("%s: HTTP has %d, gRPC has %v", r.Name, r.HTTP, s.Code())
		}
	}
	if retried == 0 {
		t.Error("no reason with a time to ask again")
	}
}

// TestStatusOfOthers renders errors that are no reasons.
func TestStatusOfOthers(t *testing.T) {
	for _, v := range []struct {
		err    error
		code   codes.Code
		reason *reason.Reason
	}{
		{context.Canceled, codes.Canceled, nil},
		{fmt.Errorf("waiting: %w", context.DeadlineExceeded), codes.DeadlineExceeded, nil},
		{status.Error(codes.Canceled, "the client is gone"), codes.Canceled, nil},
		{errors.New("a fault"), codes.Internal, reason.Internal},
		{reason.Exhausted.Because(context.DeadlineExceeded), codes.Unavailable, reason.Exhausted},
	} {
		e, err := statusOf(v.err)
		if status.Code(err) != v.code || (e != nil) != (v.reason != nil) || e != nil && e.Of != v.reason {
			t.Errorf("%v: %v, reason %v", v.err, err, e)
		}
	}
}

// TestRetry renders the time of an error, where the error knows better than the reason.
func TestRetry(t *testing.T) {
	e := reason.Clock.New("text")
	e.Retry = 1500 * time.Millisecond
	s := status.Convert(render(e))
	if got := s.Details()[1].(*errdetails.RetryInfo).GetRetryDelay().AsDuration(); got != e.Retry {
		t.Error(got)
	}
}

func TestToken(t *testing.T) {
	for _, v := range []struct {
		values []string
		token  string
		fault  string
	}{
		{nil, "", ""},
		{[]string{"Bearer secret"}, "secret", ""},
		{[]string{"bearer secret"}, "secret", ""},
		{[]string{"Bearer  secret "}, "secret", ""},
		{[]string{"Bearer "}, "", ""},
		{[]string{"Bearer"}, "", "Bearer TOKEN"},
		{[]string{""}, "", "Bearer TOKEN"},
		{[]string{"secret"}, "", "Bearer TOKEN"},
		{[]string{"Basic c2VjcmV0"}, "", "Bearer TOKEN"},
		{[]string{"Bearer a", "Bearer b"}, "", "2 times"},
	} {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.MD{"authorization": v.values})
		got, err := token(ctx)
		switch {
		case v.fault == "" && (err != nil || got != v.token):
			t.Errorf("%q: %q, %v", v.values, got, err)
		case v.fault != "" && (err == nil || reason.Of(err).Of != reason.Token || !strings.Contains(err.Error(), v.fault)):
			t.Errorf("%q: %q, %v", v.values, got, err)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%q: the error has the token: %v", v.values, err)
		}
	}
	if got, err := token(t.Context()); got != "" || err != nil {
		t.Errorf("without metadata: %q, %v", got, err)
	}
}
