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

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease/driver"
)

const (
	// each is the time for which the store asks the API to keep a watch open. The API gets patience
	// beyond each.
	each     = 2 * time.Minute
	patience = 30 * time.Second

	shortest = 10 * time.Millisecond // between two watches
	longest  = time.Second           // when they end at once
)

// Watch returns a channel that gets a value after each change of an entry with the prefix, as
// [driver.Watcher] says. It uses watches of the leases of the namespace. The next watch continues
// where the last watch ended. If the API no longer has the state at that point, the next watch
// starts again from the present state, and the channel gets a value: changes may have been missed.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	w := &watch{store: s, prefix: prefix, changed: make(chan struct{}, 1)}
	first, err := driver.Call(ctx, s.Handle, "watch", func(limit context.Context) (*stream, error) {
		return w.begin(ctx, limit)
	})
	if err != nil {
		return nil, err
	}
	running, stop := driver.UntilClosed(ctx, s.Handle)
	go func() {
		defer close(w.changed)
		defer stop()
		w.run(running, first)
	}()
	return w.changed, nil
}

type watch struct {
	store   *Store
	prefix  string
	version string // the version to watch from; "" if the API must be asked for it
	missed  bool   // changes before the version may have been missed
	changed chan struct{}
}

// A stream is a watch of the API's.
type stream struct {
	io.Closer
	events *json.Decoder
	cancel context.CancelFunc
}

// run watches until ctx ends.
func (w *watch) run(ctx context.Context, st *stream) {
	wait := shortest
	for {
		if st != nil {
			begun := time.Now()
			stop := context.AfterFunc(ctx, st.cancel)
			w.follow(st)
			stop()
			st.cancel()
			st.Close()
			if time.Since(begun) > longest {
				wait = shortest
			}
		}
		if pause.For(ctx, wait) != nil {
			return
		}
		wait = min(wait*2, longest)
		limit, cancel := context.WithTimeout(ctx, w.store.timeout)
		var err error
		st, err = w.begin(ctx, limit)
		cancel()
		if err == nil && w.missed {
			w.missed = false
			driver.Signal(w.changed)
		}
	}
}

// begin starts a watch from the version of the last watch, or from now. The watch lives until ctx
// ends. The API must answer before limit ends.
func (w *watch) begin(ctx, limit context.Context) (*stream, error) {
	s := w.store
	if w.version == "" {
		page, err := s.page(limit, url.Values{"limit": {"1"}})
		if err != nil {
			return nil, err
		}
		w.version = page.Metadata.ResourceVersion
	}
	long, end := context.WithTimeout(ctx, each+patience)
	// The headers must come as soon as those of any call.
	stop := context.AfterFunc(limit, end)
	response, err := s.send(long, request{method: http.MethodGet, path: s.path(""), query: url.Values{"watch": {"true"},
		"resourceVersion": {w.version}, "allowWatchBookmarks": {"true"}, "timeoutSeconds": {strconv.Itoa(int(each / time.Second))}}})
	if err != nil {
		end()
		return nil, err
	}
	if !stop() {
		end()
		response.Body.Close()
		return nil, limit.Err()
	}
	if response.StatusCode != http.StatusOK {
		defer end()
		defer response.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
		if response.StatusCode == http.StatusGone {
			w.version, w.missed = "", true
			return nil, errGone
		}
		return nil, s.failed(&answer{status: response.StatusCode, header: response.Header, body: body})
	}
	return &stream{Closer: response.Body, events: json.NewDecoder(response.Body), cancel: end}, nil
}

// follow reads events until there are no more.
func (w *watch) follow(st *stream) {
	for {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if st.events.Decode(&event) != nil {
			return
		}
		var l lease
		if event.Type == "ERROR" || json.Unmarshal(event.Object, &l) != nil || l.Metadata.ResourceVersion == "" {
			// The usual error is a version that is too old. After any error, look and start again.
			w.version, w.missed = "", true
			return
		}
		w.version = l.Metadata.ResourceVersion
		if key, ok := w.store.keyOf(l); event.Type != "BOOKMARK" && ok && strings.HasPrefix(key, w.prefix) {
			driver.Signal(w.changed)
		}
	}
}
