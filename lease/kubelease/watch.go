package kubelease

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// each is the time for which the store asks the API to keep a watch open. The API gets patience beyond each.
const each, patience = 2 * time.Minute, 30 * time.Second

// Watch returns a channel that gets a value after each change of an entry with the prefix, as
// [driver.Watcher] says. It watches the leases of the namespace, from their present state on.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	return driver.Watch(ctx, s.Handle, func(ctx, limit context.Context) (func(func()), error) {
		page, err := s.page(limit, url.Values{"limit": {"1"}})
		if err != nil {
			return nil, err
		}
		long, end := context.WithTimeout(ctx, each+patience)
		// The headers must come as soon as those of any call.
		stop := context.AfterFunc(limit, end)
		response, err := s.send(long, request{method: http.MethodGet, path: s.path(""), query: url.Values{"watch": {"true"},
			"resourceVersion": {page.Metadata.ResourceVersion}, "timeoutSeconds": {strconv.Itoa(int(each / time.Second))}}})
		if err == nil && !stop() {
			response.Body.Close()
			err = limit.Err()
		}
		if err != nil {
			end()
			return nil, err
		}
		if response.StatusCode != http.StatusOK {
			defer end()
			defer response.Body.Close()
			body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
			return nil, s.failed(&answer{status: response.StatusCode, header: response.Header, body: body})
		}
		return func(changed func()) {
			defer end()
			defer response.Body.Close()
			s.follow(response.Body, prefix, changed)
		}, nil
	})
}

// follow reads the events of a watch until there are no more. An error in place of an event ends the watch.
func (s *Store) follow(body io.Reader, prefix string, changed func()) {
	events := json.NewDecoder(body)
	for {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		var l lease
		if events.Decode(&event) != nil || event.Type == "ERROR" || json.Unmarshal(event.Object, &l) != nil {
			return
		}
		if key, ok := s.keyOf(l); ok && strings.HasPrefix(key, prefix) {
			changed()
		}
	}
}
