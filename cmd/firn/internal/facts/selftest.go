package facts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/vectors"
)

// Selftest returns the command firn selftest.
func Selftest(s *cli.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Test the formats and the clock on this machine",
		Example: `  firn selftest
  firn selftest --json`,
		ValidArgsFunction: cobra.NoFileCompletions,
		Args:              cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := cli.UntilSignal(cmd.Context(), &s.Cleanup)
			defer stop()
			t := tester{files: vectors.All(), clock: time.Now, length: testLength}
			for _, f := range formats.All() {
				t.formats = append(t.formats, f.Descriptor())
			}
			return t.run(ctx, s, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object per test")
	return cmd
}

// testLength is how long the test of a generator takes, and of the clock.
const testLength = 200 * time.Millisecond

// A tester tests formats.
type tester struct {
	formats []*shape.Format
	files   vectors.Files
	clock   func() time.Time // of the generators, and the clock that is tested
	length  time.Duration
}

// An outcome is the result of a test.
type outcome struct {
	Test   string `json:"test"`
	Format string `json:"format,omitempty"`
	Cases  int    `json:"cases"`
	Passed bool   `json:"passed"`
	Error  string `json:"error,omitempty"`
}

// run runs all tests and writes the outcomes. The error reports that a test failed.
func (t *tester) run(ctx context.Context, s *cli.Streams, asJSON bool) error {
	begin := time.Now()
	total, failed := 0, 0
	p := cli.NewPens(s.Colour)
	write := func(test, format string, cases int, err error) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		o := outcome{Test: test, Format: format, Cases: cases, Passed: err == nil}
		total++
		if err != nil {
			failed++
			o.Error = err.Error()
		}
		if asJSON {
			return cli.WriteJSON(s.Out, o)
		}
		verdict, say := "ok    ", fmt.Sprintf("%d", cases)
		if err != nil {
			verdict, say = p.Title.Sprint("FAILED"), cli.Printable(o.Error)
		}
		_, err = fmt.Fprintf(s.Out, "%s  %-18s  %-9s  %s\n", verdict, format, test, say)
		return errors.Join(err, s.Out.Flush())
	}
	for _, f := range t.formats {
		for _, test := range []struct {
			name string
			run  func(context.Context, *shape.Format) (int, error)
		}{{"vectors", t.values}, {"rejects", t.rejects}, {"generator", t.generator}} {
			cases, err := test.run(ctx, f)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a format without vectors
			}
			if err := write(test.name, f.Name, cases, err); err != nil {
				return err
			}
		}
	}
	cases, err := t.steady(ctx)
	if err := write("clock", "", cases, err); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d tests failed: make no IDs on this machine (%s/%s), and report the lines above", failed, total, runtime.GOOS, runtime.GOARCH)
	}
	if !asJSON {
		fmt.Fprintf(s.Out, "\n%d tests passed in %.1f s on %s/%s\n", total, time.Since(begin).Seconds(), runtime.GOOS, runtime.GOARCH)
	}
	return nil
}

// steady checks that the clock does not go back. cases is how often steady has read the clock.
func (t *tester) steady(ctx context.Context) (cases int, err error) {
	begin := time.Now()
	last := t.clock().UnixNano()
	for cases = 1; time.Since(begin) < t.length && ctx.Err() == nil; cases++ {
		now := t.clock().UnixNano() // without the monotonic reading
		if now < last {
			return cases, fmt.Errorf("the clock went back by %v: check the time service of the machine", time.Duration(last-now))
		}
		last = now
	}
	return cases, nil
}
