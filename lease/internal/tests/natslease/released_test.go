package natslease_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/tests/released"
	"github.com/firn-id/firn/lease/natslease"
)

// TestReleased has a bucket for the messages that a released version has written.
func TestReleased(t *testing.T) {
	c := needGiven(t)
	released.Test(t, "nats.json", func(t *testing.T) released.Server {
		return &ofRelease{t, c, buckets(t, c)}
	})
}

type ofRelease struct {
	t      *testing.T
	client *client
	bucket string
}

// stream is a bucket as its stream.
type stream struct {
	Config   jetstream.StreamConfig `json:"config"` // the settings that the store makes
	Messages map[string]string      `json:"messages"`
}

func (r *ofRelease) Load(content string) error {
	var s stream
	if err := json.Unmarshal([]byte(strings.ReplaceAll(content, released.Space, r.bucket)), &s); err != nil {
		return err
	}
	if _, err := r.client.js.CreateStream(r.t.Context(), s.Config); err != nil {
		return err
	}
	for subject, value := range s.Messages {
		if _, err := r.client.js.Publish(r.t.Context(), subject, []byte(value)); err != nil {
			return err
		}
	}
	return nil
}

func (r *ofRelease) Open() driver.Store { return storetest.Open(r.t, natslease.Open, given(r.bucket)) }

func (r *ofRelease) Dump() (string, error) {
	ctx := r.t.Context()
	found, err := r.client.js.Stream(ctx, "KV_"+r.bucket)
	if err != nil {
		return "", err
	}
	info, err := found.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return "", err
	}
	c := info.Config
	s := stream{Messages: make(map[string]string), Config: jetstream.StreamConfig{Name: c.Name, Subjects: c.Subjects,
		Retention: c.Retention, MaxMsgsPerSubject: c.MaxMsgsPerSubject, Storage: c.Storage, Discard: c.Discard, DenyDelete: c.DenyDelete, DenyPurge: c.DenyPurge,
		MaxConsumers: c.MaxConsumers, MaxMsgs: c.MaxMsgs, MaxBytes: c.MaxBytes, MaxMsgSize: c.MaxMsgSize, MaxAge: c.MaxAge, Replicas: 1}}
	for subject := range info.State.Subjects {
		m, err := found.GetLastMsgForSubject(ctx, subject)
		if err != nil {
			return "", err
		}
		s.Messages[subject] = string(m.Data)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(s)
	return strings.ReplaceAll(b.String(), r.bucket, released.Space), err
}
