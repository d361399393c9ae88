package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/server/internal/supply"
)

// A curl runs grpcurl against a server.
type curl struct {
	program, address string
	set              *supply.Set
}

func newCurl(t *testing.T) *curl {
	t.Helper()
	program, err := process.Tool(t.Context(), "../../../../dev/pins/grpcurl", "github.com/fullstorydev/grpcurl/cmd/grpcurl")
	if err != nil {
		services.Missing(t, "there is no grpcurl; it takes a network with Go modules: %v", err)
	}
	address, s, set, err := serve(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		set.Close(t.Context())
	})
	for _, g := range set.All() { // an interval can begin shortly after its grant
		for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
			if _, err := g.AppendBinary(t.Context(), nil, 1); err == nil {
				break
			}
		}
	}
	return &curl{program, address, set}
}

// run returns what grpcurl prints, and what grpcurl complains about.
func (c *curl) run(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	at := 0 // grpcurl takes the address after its flags
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		at += 2
	}
	command := exec.CommandContext(t.Context(), c.program, slices.Concat([]string{"-plaintext"}, args[:at], []string{c.address}, args[at:])...)
	var out, complaint bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaint
	err := command.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	if (err != nil) != (complaint.Len() > 0) {
		t.Errorf("%q: %v, but the complaint %q", args, err, complaint.String())
	}
	return out.String(), complaint.String()
}

// call returns the messages of an answer.
func call[M any](t *testing.T, c *curl, args ...string) []M {
	t.Helper()
	out, complaint := c.run(t, args...)
	if complaint != "" {
		t.Fatalf("%q: %s", args, complaint)
	}
	var all []M
	d := json.NewDecoder(strings.NewReader(out))
	for {
		var m M
		err := d.Decode(&m)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%q: %v in %s", args, err, out)
		}
		all = append(all, m)
	}
}

type batch struct {
	Format    string
	Width     int
	ByteOrder string
	Count     int
	Packed    []byte
	Texts     []string
}

type candidate struct {
	Format, Text, Hex, UnixMs string
	Integer                   *string
	Time                      time.Time
	Fields                    []struct {
		Name, Value string
		Bits        int
	}
	Generators []string
}

// ids returns the IDs of a batch as texts.
func (b batch) ids(t *testing.T, g *supply.Source) []string {
	t.Helper()
	if b.Format != g.Format.Name() || b.Width != g.Size {
		t.Errorf("%s: %+v", g.Name, b)
	}
	all := slices.Clone(b.Texts)
	if len(b.Packed) > 0 && b.ByteOrder != "BYTE_ORDER_BIG_ENDIAN" {
		t.Errorf("%s: byte order %q", g.Name, b.ByteOrder)
	}
	for p := b.Packed; len(p) >= b.Width; p = p[b.Width:] {
		v, err := g.Format.InspectBinary(p[:b.Width], inspect.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v.ID)
	}
	if len(all) != b.Count {
		t.Errorf("%s: %d IDs of %d", g.Name, len(all), b.Count)
	}
	for _, id := range all {
		if _, err := g.Read(id); err != nil {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
	return all
}

func TestGrpcurl(t *testing.T) {
	c := newCurl(t)
	t.Run("schema", func(t *testing.T) {
		for _, v := range []struct {
			args []string
			has  []string
		}{
			{[]string{"list"}, []string{"firn.v1.Firn", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"}},
			{[]string{"list", "firn.v1.Firn"}, []string{"firn.v1.Firn.Take", "firn.v1.Firn.Stream", "firn.v1.Firn.Inspect", "firn.v1.Firn.List"}},
			{[]string{"describe", "firn.v1.Firn"}, []string{"rpc Take ( .firn.v1.TakeRequest ) returns ( .firn.v1.Batch );", "returns ( stream .firn.v1.Batch );"}},
			{[]string{"describe", "firn.v1.Batch"}, []string{"bytes packed = 5;", "repeated string texts = 6;"}},
		} {
			out, complaint := c.run(t, v.args...)
			for _, has := range v.has {
				if !strings.Contains(out, has) {
					t.Errorf("%q has no %q: %s%s", v.args, has, out, complaint)
				}
			}
		}
	})
	t.Run("Take", func(t *testing.T) {
		for _, g := range c.set.All() {
			var all []string
			for _, request := range []string{`{"name":"` + g.Name + `"}`, `{"name":"` + g.Name + `","count":3}`,
				`{"name":"` + g.Name + `","count":3,"encoding":"ENCODING_TEXT"}`} {
				answers := call[batch](t, c, "-d", request, "firn.v1.Firn/Take")
				if len(answers) != 1 {
					t.Fatal(answers)
				}
				all = append(all, answers[0].ids(t, g)...)
			}
			slices.Sort(all)
			if len(slices.Compact(all)) != 7 {
				t.Errorf("%s: %q", g.Name, all)
			}
		}
	})
	t.Run("Stream", func(t *testing.T) {
		g := c.set.All()[0]
		answers := call[batch](t, c, "-d", `{"name":"`+g.Name+`","batch":1000,"total":2500}`, "firn.v1.Firn/Stream")
		var all []string
		for _, b := range answers {
			all = append(all, b.ids(t, g)...)
		}
		slices.Sort(all)
		if len(answers) < 3 || len(slices.Compact(all)) != 2500 {
			t.Errorf("%d batches, %d IDs", len(answers), len(all))
		}
	})
	t.Run("without reflection", func(t *testing.T) {
		g := c.set.All()[0]
		answers := call[batch](t, c, "-import-path", "../../../proto", "-proto", "firn/v1/firn.proto", "-d", `{"name":"`+g.Name+`"}`, "firn.v1.Firn/Take")
		if len(answers) != 1 {
			t.Fatal(answers)
		}
		answers[0].ids(t, g)
	})
	t.Run("Inspect", func(t *testing.T) {
		type answer struct{ Candidates []candidate }
		for _, g := range c.set.All() {
			text := call[batch](t, c, "-d", `{"name":"`+g.Name+`","encoding":"ENCODING_TEXT"}`, "firn.v1.Firn/Take")[0].ids(t, g)[0]
			want, err := g.Read(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"", g.Name} {
				a := call[answer](t, c, "-d", `{"text":"`+text+`","name":"`+name+`"}`, "firn.v1.Firn/Inspect")
				i := slices.IndexFunc(a[0].Candidates, func(v candidate) bool { return v.Format == g.Format.Name() })
				if i < 0 {
					t.Fatalf("%s: %+v", text, a)
				}
				v := a[0].Candidates[i]
				if v.Text != text || v.Hex != want.Hex || !v.Time.Equal(want.Time) || v.UnixMs != strconv.FormatInt(want.Time.UnixMilli(), 10) ||
					(v.Integer != nil) != g.Integer() || v.Integer != nil && *v.Integer != want.Int || len(v.Fields) != len(want.Fields) || !slices.Contains(v.Generators, g.Name) {
					t.Errorf("%s: %+v, want %+v", text, v, want)
				}
				for i, f := range v.Fields {
					if w := want.Fields[i]; f.Name != w.Name || f.Value != w.Value || f.Bits != w.Bits {
						t.Errorf("%s: field %+v, want %+v", text, f, w)
					}
				}
			}
		}
	})
	t.Run("List", func(t *testing.T) {
		type answer struct {
			Generators []struct {
				Name, Format, State, Tick string
				Epoch                     time.Time
				Width, Workers, Ready     int
				PerSecond                 float64
			}
		}
		a := call[answer](t, c, "firn.v1.Firn/List")
		if len(a[0].Generators) != len(c.set.All()) {
			t.Fatal(a)
		}
		for i, g := range c.set.All() {
			v := a[0].Generators[i]
			if v.Name != g.Name || v.Format != g.Format.Name() || v.State != "STATE_READY" || v.Width != g.Size || v.Workers != 1 || v.Ready != 1 ||
				v.PerSecond != g.PerSecond() || !v.Epoch.Equal(g.Shape.Start()) || v.Tick == "" {
				t.Errorf("%+v", v)
			}
		}
	})
	t.Run("health", func(t *testing.T) {
		for _, service := range []string{"", "firn.v1.Firn", "nanoflake"} {
			a := call[struct{ Status string }](t, c, "-d", `{"service":"`+service+`"}`, "grpc.health.v1.Health/Check")
			if a[0].Status != "SERVING" {
				t.Errorf("%q: %v", service, a)
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		for _, v := range []struct {
			request, method string
			words           []string
		}{
			{`{"name":"nosuch"}`, "Take", []string{"NotFound", `unknown: no generator "nosuch"`, "google.rpc.ErrorInfo", `"domain": "firn"`, `"reason": "unknown"`}},
			{`{"name":"sno","count":0}`, "Take", []string{"InvalidArgument", "count: count is 0: ask for 1 to 65536 IDs", `"reason": "count"`}},
			{`{"name":"sno","count":65537}`, "Take", []string{"InvalidArgument", "count is 65537"}},
			{`{"name":"sno","total":0}`, "Stream", []string{"InvalidArgument", "total is 0"}},
			{`{"text":"!"}`, "Inspect", []string{"InvalidArgument", "id: ", `"reason": "id"`}},
		} {
			out, complaint := c.run(t, "-d", v.request, "firn.v1.Firn/"+v.method)
			for _, w := range v.words {
				if !strings.Contains(complaint, w) {
					t.Errorf("%s: no %q in %s%s", v.request, w, out, complaint)
				}
			}
		}
	})
}
