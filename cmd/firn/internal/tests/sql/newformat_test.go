package sql

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/services"
)

// A line is an ID as firn new and firn inspect write it.
type line struct {
	Format string
	ID     string
	Int    string
	Time   time.Time
	Fields struct{ Timestamp, Outlet, Sequence int64 }
}

// TestNewFormat: a new format is one folder, and one line in the list of package inspect. With the
// format brook of testdata, firn makes IDs, leases outlets from a pool, reads IDs, tortures
// processes that make them, and writes functions for databases.
func TestNewFormat(t *testing.T) {
	services.Full(t)
	firn := buildWith(t, "brook")
	state := filepath.Join(t.TempDir(), "state")
	before := time.Now().Truncate(time.Millisecond)
	ids := lines(t, firn.run("new", "brook", "-n", "3000", "--json", "--state", state))
	after := time.Now()
	if len(ids) != 3000 {
		t.Fatalf("%d IDs", len(ids))
	}
	last := line{}
	for _, id := range ids {
		if id.Format != "brook" || len(id.ID) != 13 || id.Time.Before(before) || id.Time.After(after) || id.ID <= last.ID || id.Fields.Outlet < 0 || id.Fields.Outlet > 511 {
			t.Fatalf("%+v after %+v", id, last)
		}
		epoch := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		value := id.Fields.Timestamp<<22 | id.Fields.Outlet<<13 | id.Fields.Sequence
		if id.Int != strconv.FormatInt(value, 10) || !id.Time.Equal(epoch.Add(time.Duration(id.Fields.Timestamp)*time.Millisecond)) {
			t.Fatalf("%+v: the fields do not make the ID", id)
		}
		last = id
	}

	t.Run("a worker by hand", func(t *testing.T) {
		if got := lines(t, firn.run("new", "brook", "--no-state", "--worker", "511", "--json"))[0].Fields.Outlet; got != 511 {
			t.Errorf("outlet %d", got)
		}
		for args, want := range map[string]string{
			"--no-state --worker 512": "--worker 512: is not in 0 to 511", "--no-state": "the outlet, 0 to 511", "--meta 7": "brook has no metabyte",
		} {
			if out := firn.fails(strings.Fields("new brook " + args)...); !strings.Contains(out, want) {
				t.Errorf("firn new brook %s: %s", args, out)
			}
		}
	})
	t.Run("inspect", func(t *testing.T) {
		for _, args := range [][]string{{last.ID}, {last.Int}, {strings.ToLower(last.ID)}} {
			named := lines(t, firn.run(append([]string{"inspect", "--json", "brook"}, args...)...))
			if len(named) != 1 || named[0] != last {
				t.Errorf("%v: %+v, want %+v", args, named, last)
			}
		}
		if out := firn.run("inspect", last.ID); !strings.HasPrefix(out, "format  brook  (a guess") || !strings.Contains(out, "\noutlet") || !strings.Contains(out, "\nulidflake-scalable ") {
			t.Errorf("brook is not the only plausible format: %s", out)
		}
	})
	t.Run("files", func(t *testing.T) {
		var made, wanted strings.Builder
		for i := range ids {
			made.WriteString(ids[len(ids)-1-i].Int + "\n")
			wanted.WriteString(ids[i].ID + "\n")
		}
		texts := firn.filter(made.String(), "convert", "brook", "--to", "text")
		lines := slices.Sorted(strings.Lines(texts)) // the texts come in the order of the integers
		sorted := strings.Join(lines, "")
		if sorted != wanted.String() {
			t.Errorf("sorted texts differ from the order of issue: %.200s", sorted)
		}
		if out := firn.filter(sorted, "verify", "brook", "--ordered", "--json"); !strings.Contains(out, `"ids":3000,"duplicates":0,`) || !strings.Contains(out, `"workers":1,`) {
			t.Error(out)
		}
	})
	t.Run("pool", func(t *testing.T) {
		if out := firn.run("pool", "show", "brook", "--json", "--state", state); !strings.Contains(out, `"format":"brook"`) || !strings.Contains(out, `"workers":512`) {
			t.Error(out)
		}
	})
	t.Run("stats", func(t *testing.T) {
		cmd := exec.Command(firn.exe, "stats", "brook", "--json", "--match")
		var log strings.Builder
		for _, id := range ids {
			fmt.Fprintf(&log, "made %s.\n", id.ID)
		}
		cmd.Stdin = strings.NewReader(log.String())
		var report struct {
			IDs     int
			Workers struct{ Field string }
			Fill    struct{ Capacity int }
		}
		out, err := cmd.Output()
		if bad := json.Unmarshal(out, &report); err != nil || bad != nil || report.IDs != len(ids) || report.Workers.Field != "outlet" || report.Fill.Capacity != 8192 {
			t.Errorf("%v, %v: %s", err, bad, out)
		}
	})
	t.Run("times", func(t *testing.T) {
		var r ranged
		if err := json.Unmarshal([]byte(firn.run("range", "brook", "--from", last.Time.Format(time.RFC3339Nano), "--to", last.Time.Add(time.Millisecond).Format(time.RFC3339Nano), "--json")), &r); err != nil {
			t.Fatal(err)
		}
		first := strconv.FormatInt(last.Fields.Timestamp<<22, 10)
		if want := "id BETWEEN " + first + " AND " + r.Last.Int; r.First.Int != first || r.First.Text > last.ID || r.Last.Text < last.ID || r.Where["sqlite"]["integer"] != want {
			t.Errorf("%+v, want %s", r, want)
		}
		filled := lines(t, firn.run("at", "brook", last.Time.Format(time.RFC3339Nano), "-n", "2", "--worker", "511", "--sequence", "7", "--json"))
		for i, id := range filled {
			if !id.Time.Equal(last.Time) || id.Fields.Outlet != 511 || id.Fields.Sequence != int64(7+i) {
				t.Errorf("%+v", id)
			}
		}
		if out := firn.run("explain", "brook"); !strings.Contains(out, "512: outlet 0 to 511") || !strings.Contains(out, "8,192 a tick of a generator") || !strings.Contains(out, "brook.ID") {
			t.Error(out)
		}
		if out := firn.run("selftest"); !strings.Contains(out, "ok      brook               generator") {
			t.Error(out)
		}
	})
	t.Run("torture", func(t *testing.T) {
		var sum struct {
			Format     string
			IDs        int64
			Violations map[string]int64
		}
		// A run of four seconds may lack a kind of fault, and then exits with 1. The test is about the IDs:
		// processes make IDs of the format, and the check reads them without a violation.
		cmd := exec.Command(firn.exe, "torture", "--format", "brook", "--processes", "3", "--duration", "4s", "--window", "200ms",
			"--ids", "50000", "--state", t.TempDir(), "--json")
		out, err := cmd.Output()
		if bad := json.Unmarshal(out, &sum); bad != nil || sum.Format != "brook" || sum.IDs == 0 || len(sum.Violations) > 0 {
			t.Errorf("%v, %v: %s", err, bad, out)
		}
	})
	t.Run("databases", func(t *testing.T) {
		each(t, func(t *testing.T, d database) {
			args := []string{"sql", d.command, "brook"}
			if d.dialect == mariadb {
				args = append(args, "--plain")
			}
			script := firn.run(args...)
			d.apply(t, script)
			value := func(function, argument string) string {
				return d.strings(t, "SELECT "+d.textOf(d.call(t, script, "brook", function, argument)))[0]
			}
			for _, id := range []line{ids[0], ids[len(ids)/2], last} {
				instant, at := "'"+id.Time.Format("2006-01-02 15:04:05.000")+"'", id.Time.UnixMilli()
				if d.dialect == lite {
					instant = fmt.Sprint(at)
				}
				first := id.Fields.Timestamp << 22
				for _, v := range [][3]string{
					{"text", id.Int, id.ID}, {"parse", "'" + strings.ToLower(id.ID) + "'", id.Int},
					{"outlet", id.Int, fmt.Sprint(id.Fields.Outlet)}, {"sequence", id.Int, fmt.Sprint(id.Fields.Sequence)}, {"timestamp", id.Int, fmt.Sprint(id.Fields.Timestamp)},
					{"first", instant, fmt.Sprint(first)}, {"last", instant, fmt.Sprint(first + 1<<22 - 1)},
				} {
					if got := value(v[0], v[1]); got != v[2] {
						t.Errorf("%s of %s is %s, want %s", v[0], v[1], got, v[2])
					}
				}
				if got := value("time", id.Int); !strings.HasPrefix(got, id.Time.UTC().Format("2006-01-02 15:04:05.")) {
					t.Errorf("the time of %s is %s, want %s", id.ID, got, id.Time)
				}
			}
		})
	})
}

// textOf returns an expression as a text, with times in UTC.
func (d *dialect) textOf(expression string) string {
	if d == postgres {
		expression = "(" + expression + ")"
		return "CASE WHEN pg_typeof" + expression + " = 'timestamptz'::regtype THEN to_char(" + expression + "::text::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') ELSE " + expression + "::text END"
	}
	return fmt.Sprintf(d.shown, expression)
}

// lines reads a line of JSON for each ID.
func lines(t *testing.T, out string) (all []line) {
	t.Helper()
	for text := range strings.Lines(out) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		all = append(all, l)
	}
	return all
}

// buildWith builds firn with a format of testdata, and returns a function that runs the program. The
// go command takes the format's folder, and the list of package inspect with the format, from an
// overlay: the tree stays as it is.
func buildWith(t *testing.T, format string) program {
	t.Helper()
	root, err := filepath.Abs("../../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	listed := filepath.Join(root, "inspect", "inspect.go")
	source, err := os.ReadFile(listed)
	if err != nil {
		t.Fatal(err)
	}
	with := bytes.Replace(source, []byte("\tnanoflake.Descriptor(),\n"), []byte("\tnanoflake.Descriptor(),\n\t"+format+".Descriptor(),\n"), 1)
	with = bytes.Replace(with, []byte("import ("), []byte("import (\n\t\"github.com/firn-id/firn/"+format+"\""), 1)
	if len(with) == len(source) {
		t.Fatal("inspect.go has no list of formats")
	}
	edited := filepath.Join(dir, "inspect.go")
	own, err := filepath.Abs(filepath.Join("testdata", format, format+".go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{listed: edited, filepath.Join(root, format, format+".go"): own}})
	if err != nil {
		t.Fatal(err)
	}
	file, exe := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "firn")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	for name, data := range map[string][]byte{edited: with, file: overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-overlay", file, "-o", exe, "./cmd/firn")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program{t, exe}
}

// A program is an executable file.
type program struct {
	t   *testing.T
	exe string
}

// run returns what the program writes to its output.
func (p program) run(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(p.exe, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("firn %q: %v: %s%s", args, err, out, &errs)
	}
	return string(out)
}

// filter returns what the program writes for an input.
func (p program) filter(input string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command(p.exe, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("firn %q: %v: %.1000s", args, err, out)
	}
	return string(out)
}

// fails returns the error that the program writes.
func (p program) fails(args ...string) string {
	p.t.Helper()
	out, err := exec.Command(p.exe, args...).CombinedOutput()
	if err == nil {
		p.t.Fatalf("firn %q: no error: %s", args, out)
	}
	return string(out)
}
