package kubelease

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/rest"
)

const (
	// each is how long the API is asked to keep a watch open, and patience what it gets beyond that.
	each     = 2 * time.Minute
	patience = 30 * time.Second

	shortest = 10 * time.Millisecond // between two watches
	longest  = time.Second           // when they end at once
)

// Watch is as [driver.Watcher] says, by a watch of the leases of the namespace. One that ends goes on where it was. If the API
// has forgotten what was then, it begins anew: there may have been changes between the two, so there is a value.
func (s *Store) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	w := &watch{store: s, prefix: prefix, changed: make(chan struct{}, 1)}
	response, err := w.begin(ctx) // which says why, if there is no watching
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	forget := context.AfterFunc(s.ctx, stop)
	go func() {
		defer close(w.changed)
		defer stop()
		defer forget()
		w.run(running, response)
	}()
	return w.changed, nil
}

type watch struct {
	store   *Store
	prefix  string
	version string // from which on to watch; "" if that is to be asked
	missed  bool   // there may have been changes before it
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
	pause := shortest
	for {
		if st != nil {
			begun := time.Now()
			stop := context.AfterFunc(ctx, st.cancel)
			w.follow(st)
			stop()
			st.cancel()
			st.Close()
			if time.Since(begun) > longest {
				pause = shortest
			}
		}
		if rest.Sleep(ctx, pause) != nil {
			return
		}
		pause = min(pause*2, longest)
		var err error
		if st, err = w.begin(ctx); err != nil {
			st = nil
		} else if w.missed {
			w.missed = false
			w.signal()
		}
	}
}

// begin asks for a watch, from the version on that the last one was at, or else from now on.
func (w *watch) begin(ctx context.Context) (*stream, error) {
	s := w.store
	limit, cancel := s.within(ctx)
	defer cancel()
	if w.version == "" {
		page, err := s.page(limit, "watch", url.Values{"limit": {"1"}})
		if err != nil {
			return nil, err
		}
		w.version = page.Metadata.ResourceVersion
	}
	if err := s.admit(ctx, "watch", ""); err != nil {
		return nil, err
	}
	header, err := s.header("watch", "")
	if err != nil {
		return nil, err
	}
	long, end := context.WithTimeout(ctx, each+patience)
	// The headers are to come as soon as those of any call.
	stop := context.AfterFunc(limit, end)
	response, err := s.client.Open(long, rest.Request{Method: http.MethodGet, Path: s.path(""), Header: header, Query: url.Values{"watch": {"true"},
		"resourceVersion": {w.version}, "allowWatchBookmarks": {"true"}, "timeoutSeconds": {strconv.Itoa(int(each / time.Second))}}})
	if err != nil {
		end()
		return nil, s.fail(limit, "watch", "", err)
	}
	if !stop() {
		end()
		response.Body.Close()
		return nil, s.fail(limit, "watch", "", limit.Err())
	}
	if response.StatusCode != http.StatusOK {
		defer end()
		defer response.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
		if response.StatusCode == http.StatusGone {
			w.version, w.missed = "", true
			return nil, s.error("watch", "", fmt.Errorf("%w: %w", driver.ErrUnavailable, errGone), "try again")
		}
		return nil, s.said("watch", "", "watch", &rest.Reply{Status: response.StatusCode, Header: response.Header, Body: body})
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
			// Mostly that the version is too old. Whatever it is: look, and begin anew.
			w.version, w.missed = "", true
			return
		}
		w.version = l.Metadata.ResourceVersion
		if key, ok := w.store.keyOf(l); event.Type != "BOOKMARK" && ok && strings.HasPrefix(key, w.prefix) {
			w.signal()
		}
	}
}

func (w *watch) signal() {
	select {
	case w.changed <- struct{}{}:
	default: // one is waiting
	}
}
