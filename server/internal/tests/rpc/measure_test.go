package rpc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/firn-id/firn/server/firnv1"
)

// measured is a variable of the environment: the program is the server of a benchmark.
const measured = "FIRN_MEASURED_SERVER"

// serveMeasured prints the address of a server, and answers each line with the processor time of the process so far.
func serveMeasured() {
	address, _, _, err := serve(16)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(address)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(processorTime())
	}
}

// A far is a server in another process.
type far struct {
	firnv1.FirnClient
	in  io.Writer
	out *bufio.Scanner
}

func startFar(b *testing.B) *far {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), measured+"=1")
	var complaint bytes.Buffer
	command.Stderr = &complaint
	in, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close() // ends the server
		command.Wait()
	})
	f := &far{in: in, out: bufio.NewScanner(out)}
	if !f.out.Scan() {
		b.Fatal("no address: ", complaint.String())
	}
	conn, err := grpc.NewClient(f.out.Text(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	f.FirnClient = firnv1.NewFirnClient(conn)
	return f
}

// processorTime returns the processor time of the server, in nanoseconds.
func (f *far) processorTime(b *testing.B) int64 {
	io.WriteString(f.in, "\n")
	f.out.Scan()
	n, err := strconv.ParseInt(f.out.Text(), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// measure runs work, which takes n IDs at least and returns how many.
func (f *far) measure(b *testing.B, work func(n int) int) {
	work(1)
	server, client := f.processorTime(b), processorTime()
	b.ResetTimer()
	n := work(b.N)
	b.StopTimer()
	server, client = f.processorTime(b)-server, processorTime()-client
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "MIDs/s")
	b.ReportMetric(float64(server)/float64(n), "server-ns/ID")
	b.ReportMetric(float64(client)/float64(n), "client-ns/ID")
}

// BenchmarkStream streams Nanoflakes of 16 workers from another process, over loopback.
//
//	go test ./rpc -bench . -run '^$' -benchtime 100000000x
func BenchmarkStream(b *testing.B) {
	f := startFar(b)
	for _, encoding := range []firnv1.Encoding{firnv1.Encoding_ENCODING_PACKED, firnv1.Encoding_ENCODING_TEXT} {
		for _, batch := range []uint32{64, 1024, 8192, 65536} {
			b.Run(fmt.Sprintf("%s/batch=%d", encoding, batch), func(b *testing.B) {
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				stream, err := f.Stream(ctx, &firnv1.StreamRequest{Name: "nanoflake", Batch: &batch, Encoding: encoding})
				if err != nil {
					b.Fatal(err)
				}
				f.measure(b, func(n int) (got int) {
					for got < n {
						a, err := stream.Recv()
						if err != nil {
							b.Fatal(err)
						}
						got += int(a.GetCount())
					}
					return got
				})
			})
		}
	}
}

// BenchmarkTake asks another process for Nanoflakes, a call after the other.
func BenchmarkTake(b *testing.B) {
	f := startFar(b)
	for _, count := range []uint32{1, 1000, 65536} {
		b.Run(fmt.Sprintf("count=%d", count), func(b *testing.B) {
			f.measure(b, func(n int) (got int) {
				for got < n {
					a, err := f.Take(b.Context(), &firnv1.TakeRequest{Name: "nanoflake", Count: &count})
					if err != nil {
						b.Fatal(err)
					}
					got += int(a.GetCount())
				}
				return got
			})
		})
	}
}
