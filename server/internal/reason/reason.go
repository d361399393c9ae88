// Package reason has the one table of answers that are no IDs. RESP, HTTP and gRPC render the same table, so a client
// of any protocol gets the same reason for the same fault.
package reason

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// A Reason is why a request gets no ID.
type Reason struct {
	Name   string // for programs: the same in all protocols, and never changed
	HTTP   int    // the status
	GRPC   uint32 // the code, as google.golang.org/grpc/codes numbers the codes
	RESP   string // the first word of the error
	Means  string // what has happened, for documents
	Remedy string // what the reader of the documents does
	Retry  time.Duration
}

// Codes of gRPC. The package does not import grpc, which most of its importers do not need.
const (
	invalidArgument   = 3
	notFound          = 5
	permissionDenied  = 7
	resourceExhausted = 8
	unimplemented     = 12
	internal          = 13
	unavailable       = 14
	unauthenticated   = 16
)

// The reasons. A reason with a Retry passes by itself: the client asks again after this time. An [Error] of Clock may have
// a longer Retry, and each Error of Limit has its own: see [Reason.Again].
var (
	Starting = add(Reason{"starting", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"the generator has no worker yet", "ask again; if the reason stays, read the message: the store is down, or all workers are taken", time.Second})
	Window = add(Reason{"window", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"the lease was not renewed in time, so no timestamp is left", "ask again, or ask another server; look at the store", time.Second})
	Clock = add(Reason{"clock", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"the clock of the server went back, behind the last ID", "ask another server, or ask again when the clock has caught up; let the clock daemon slew", time.Second})
	Exhausted = add(Reason{"exhausted", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"the generator makes no more IDs in this moment", "ask again; if the reason is frequent, give the generator more workers", 10 * time.Millisecond})
	Draining = add(Reason{"draining", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"the server is stopping", "connect again: another server answers, or this one after its restart", time.Second})
	Setup = add(Reason{"setup", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"the lease of the generator has ended, and only an operator can mend the cause", "read the message: the pool does not exist, for example; the server tries again by itself", 5 * time.Second})
	Connections = add(Reason{"connections", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"the server has as many connections as its limit allows", "use fewer connections, each for many requests; or raise limits.connections", time.Second})
	Busy = add(Reason{"busy", http.StatusServiceUnavailable, unavailable, "TRYAGAIN",
		"as many large requests are under way as the server's memory allows", "ask again, or ask for fewer IDs at a time", time.Second})
	Limit = add(Reason{"limit", http.StatusTooManyRequests, resourceExhausted, "TRYAGAIN",
		"the token has had its IDs of this second", "ask more slowly or for fewer IDs, or raise the rate of the token", 0})
	Lifetime = add(Reason{"lifetime", http.StatusInternalServerError, internal, "ERR",
		"the timestamps of the format have ended, or the clock is before the epoch", "set the clock, or move to a generator with another epoch", 0})
	Unknown = add(Reason{"unknown", http.StatusNotFound, notFound, "ERR",
		"the server has no generator of this name", "use a name of GET /v1/generators, or configure the generator", 0})
	Count = add(Reason{"count", http.StatusBadRequest, invalidArgument, "ERR",
		"the number of IDs is no number from 1 to limits.ids", "ask for fewer IDs at a time", 0})
	Form = add(Reason{"form", http.StatusBadRequest, invalidArgument, "ERR",
		"the IDs of the generator's format have no such form", "use the form or the command that the message names", 0})
	Request = add(Reason{"request", http.StatusBadRequest, invalidArgument, "ERR",
		"the request is malformed", "mend the request: the message names the place", 0})
	ID = add(Reason{"id", http.StatusBadRequest, invalidArgument, "ERR",
		"the text is no ID", "mend the text: the message names the fault", 0})
	NoPath = add(Reason{"path", http.StatusNotFound, unimplemented, "ERR",
		"the server has no such path, command or method", "look at /openapi.json, COMMAND, or the reflection of gRPC", 0})
	Method = add(Reason{"method", http.StatusMethodNotAllowed, unimplemented, "ERR",
		"the path does not take this method", "use the method that the header Allow names", 0})
	Accept = add(Reason{"accept", http.StatusNotAcceptable, invalidArgument, "ERR",
		"the answer has none of the types that the request accepts", "accept application/json, text/plain or application/octet-stream", 0})
	Host = add(Reason{"host", http.StatusMisdirectedRequest, permissionDenied, "ERR",
		"the header Host has a name that is not the server's", "use an address or a name of the configuration's hosts", 0})
	Origin = add(Reason{"origin", http.StatusForbidden, permissionDenied, "ERR",
		"a page of another site has sent the request", "ask from a program, or from the page of this server", 0})
	Token = add(Reason{"token", http.StatusUnauthorized, unauthenticated, "NOAUTH",
		"the request has no token", "send a token", 0})
	WrongToken = add(Reason{"wrong_token", http.StatusUnauthorized, unauthenticated, "WRONGPASS",
		"the server does not know the token", "send a token of the server's file of tokens", 0})
	Permission = add(Reason{"permission", http.StatusForbidden, permissionDenied, "NOPERM",
		"the token may not do this", "use another token, or give the token the right", 0})
	Internal = add(Reason{"internal", http.StatusInternalServerError, internal, "ERR",
		"the server has a fault", "look at the server's log", 0})
)

var all []*Reason

func add(r Reason) *Reason {
	all = append(all, &r)
	return &r
}

// Again says for documents after which time a client asks again: the Retry of the reason's errors. The text is "" if asking
// again does not help.
func (r *Reason) Again() string {
	switch {
	case r == Clock:
		return "1 s, or later: when the clock has caught up"
	case r == Limit:
		return "when the rate allows the IDs; never if they are more than the token may take at once"
	case r.Retry == 0:
		return ""
	case r.Retry < time.Second:
		return fmt.Sprintf("%d ms", r.Retry.Milliseconds())
	}
	return fmt.Sprintf("%.0f s", r.Retry.Seconds())
}

// All returns all reasons, in the order of documents. Do not change what All returns.
func All() []*Reason { return all }

// An Error is a request without an ID, or with a part of its IDs only.
type Error struct {
	Of     *Reason
	Text   string        // for people: the fault and its place
	Brief  string        // the text for people who may not see the generators; "" means Reason.Means
	Retry  time.Duration // ask again after this time; 0 if asking again does not help
	Remedy driver.Remedy // what the operator does about it, as the runbook calls it; or ""
	Err    error         // the cause, or nil
}

func (e *Error) Error() string { return e.Of.Name + ": " + e.Text }

func (e *Error) Unwrap() error { return e.Err }

// New returns an Error of a reason, with the reason's time to ask again.
func (r *Reason) New(format string, args ...any) *Error {
	return &Error{Of: r, Text: fmt.Sprintf(format, args...), Retry: r.Retry}
}

// Because returns an Error of a reason with the text of its cause.
func (r *Reason) Because(err error) *Error {
	return &Error{Of: r, Text: err.Error(), Retry: r.Retry, Err: err}
}

// Of returns the Error in err's tree. An err without one is [Internal].
func Of(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Internal.Because(err)
}
