// Package servertest runs a real API server of Kubernetes for tests, a process of this machine on a
// loopback port. A test can kill, stop and restart it.
//
// A module in dev/pins pins the version. Building the server takes minutes, and the go command keeps the
// binary. Tests skip unless FIRN_REAL_SERVERS=1 is in the environment:
//
//	FIRN_REAL_SERVERS=1 go test -C dev -timeout 1h ./servers
//	FIRN_REAL_SERVERS=1 go test -timeout 1h ./cmd/firn/internal/tests/faults
//
// FIRN_KUBE_APISERVER names another binary to run instead.
package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/process"
)

// Require skips a test that runs real servers, unless FIRN_REAL_SERVERS=1 asks for them.
func Require(t testing.TB) {
	t.Helper()
	if os.Getenv("FIRN_REAL_SERVERS") != "1" {
		t.Skip("a real server of Kubernetes takes minutes to build: set FIRN_REAL_SERVERS=1 to run the test, and -timeout 1h")
	}
}

// program returns the path of a server's binary, from the variable of the environment or newly
// built.
func program(ctx context.Context, variable, folder, tool string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return exec.LookPath(path)
	}
	return process.Tool(ctx, "../../../dev/pins/"+folder, tool)
}

// A request is for the API of a server.
type request struct {
	client      *http.Client
	method, url string
	token       string
	contentType string
	body        []byte
	into        any // pointer to a value for the JSON of the answer, or *[]byte for the answer itself; may be nil
}

// A statusError is an answer with a status other than 2xx.
type statusError struct {
	request, said string
	status        int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s: %d: %s", e.request, e.status, e.said) }

// is reports whether an error is an answer with the status.
func is(err error, status int) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status == status
}

// do makes the request.
func (r request) do(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+r.token)
	if r.contentType != "" {
		q.Header.Set("Content-Type", r.contentType)
	}
	response, err := r.client.Do(q)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode/100 != 2:
		return &statusError{r.method + " " + q.URL.Path, fmt.Sprintf("%.500s", bytes.TrimSpace(body)), response.StatusCode}
	case r.into == nil:
		return nil
	}
	if raw, ok := r.into.(*[]byte); ok {
		*raw = body
		return nil
	}
	return json.Unmarshal(body, r.into)
}
