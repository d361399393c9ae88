package rpc_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/rpc"
)

// heap returns the bytes of the heap that are in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// Calls that the client resets at once leave nothing behind, whatever they have sent and wherever they go. A call that left
// its timer took 1.5 KiB and more.
func TestRapidReset(t *testing.T) {
	const calls, most = 20_000, 4 << 20
	message := []byte{0, 0, 0, 0, 5, 10, 3, 's', 'n', 'o'}
	for _, test := range []struct {
		name, method, path, timeout string
		data                        []byte // before the reset
	}{
		{name: "Take", path: "/firn.v1.Firn/Take"},
		{name: "a message", path: "/firn.v1.Firn/Take", data: message},
		{name: "a part of a message", path: "/firn.v1.Firn/Take", data: message[:7]},
		{name: "Stream", path: "/firn.v1.Firn/Stream", data: message},
		{name: "Watch", path: "/grpc.health.v1.Health/Watch", data: make([]byte, 5)},
		{name: "reflection", path: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"},
		{name: "an unknown method", path: "/x/y"},
		{name: "no method", path: "*"},
		{name: "GET", method: "GET", path: "/firn.v1.Firn/Take"},
		{name: "a deadline that is over", path: "/firn.v1.Firn/Take", timeout: "1n"},
		{name: "a deadline", path: "/firn.v1.Firn/Take", timeout: "1H"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, rpc.Config{Set: unleased(t)})
			c, err := s.dial()
			testkit.OK(t, err)
			defer c.Close()
			c.SetDeadline(time.Now().Add(time.Minute))
			if test.method == "" {
				test.method = "POST"
			}
			fields := [][2]string{{":method", test.method}, {":scheme", "http"}, {":path", test.path}, {":authority", "localhost"},
				{"content-type", "application/grpc"}, {"te", "trailers"}}
			if test.timeout != "" {
				fields = append(fields, [2]string{"grpc-timeout", test.timeout})
			}
			io.WriteString(c, http2.ClientPreface)
			http2.NewFramer(c, nil).WriteSettings()
			var out, block bytes.Buffer
			to, headers := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
			before := heap()
			seen := make(chan error)
			go func() { // all calls were read when the answer to the ping comes
				from := http2.NewFramer(io.Discard, c)
				for {
					f, err := from.ReadFrame()
					if p, ok := f.(*http2.PingFrame); err != nil || ok && p.IsAck() && p.Data[0] == 1 {
						seen <- err
						return
					}
				}
			}()
			for i := range uint32(calls) {
				id := 2*i + 1
				block.Reset()
				for _, f := range fields {
					headers.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
				}
				to.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true})
				if test.data != nil {
					to.WriteData(id, false, test.data)
				}
				to.WriteRSTStream(id, http2.ErrCodeCancel)
				if i == calls-1 {
					to.WritePing(false, [8]byte{1})
				}
				if out.Len() > 1<<13 || i == calls-1 {
					testkit.OK(t, testkit.Err(c.Write(out.Bytes())))
					out.Reset()
				}
			}
			testkit.OK(t, <-seen)
			grown := 0
			for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) { // handlers end
				if grown = heap() - before; grown < most {
					return
				}
			}
			t.Errorf("%d KiB are left of %d calls", grown>>10, calls)
		})
	}
}
