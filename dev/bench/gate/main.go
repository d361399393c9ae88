// Command gate counts the instructions that Firn's hot paths execute for an ID, and fails if a path
// takes more than counts.txt allows. A busy machine does not disturb the counts: they repeat to less
// than 1 %, whatever else runs. Run gate in the repository's root, on Linux on amd64, with valgrind
// installed:
//
//	go run -C dev ./bench/gate                  # count and compare
//	go run -C dev ./bench/gate -run Parse       # some of the paths
//	go run -C dev ./bench/gate -update          # allow what is counted now
//
// Instructions are not time. Only measurements show that a path with the same instructions has become
// slower, by a cache miss or a longer wait for an atomic.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

// tolerance is how far a count may be above the allowed count, as a share. The header of counts.txt
// says why tolerance is not smaller.
const tolerance = 0.03

const updateHint = "if that is as it has to be, allow it with: go run -C dev ./bench/gate -update"

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	file := flags.String("counts", filepath.Join("bench", "gate", "counts.txt"), "`file` of what is allowed")
	update := flags.Bool("update", false, "write what is counted to the file of what is allowed")
	only := flags.String("run", "", "count only the paths that match this `expression`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	allowed, err := parseCounts(text)
	if err != nil {
		return fmt.Errorf("%s: %w", *file, err)
	}

	p, err := build()
	if err != nil {
		return err
	}
	defer p.remove()
	names, err := p.names()
	if err != nil {
		return err
	}
	counted := make(map[string]float64)
	for _, name := range names {
		if !pattern.MatchString(name) {
			continue
		}
		most := allowed.perID[name]
		if *update {
			most = 0
		}
		if counted[name], err = p.least(name, most); err != nil {
			return err
		}
	}
	if *update {
		maps.Copy(allowed.perID, counted)
		allowed.toolchain = runtime.Version()
		return os.WriteFile(*file, allowed.format(text, names), 0o666)
	}
	if *only != "" { // the other paths are not missing
		for name := range allowed.perID {
			if _, ok := counted[name]; !ok {
				delete(allowed.perID, name)
			}
		}
	}
	return compare(out, names, counted, allowed)
}

// compare writes a table of the counts. It returns an error that names the paths with too many
// instructions, and the paths without a count or without an allowed count.
func compare(out io.Writer, names []string, counted map[string]float64, allowed counts) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "path\tinstructions an ID\tallowed\t\t\n")
	var wrong []string
	for _, name := range names {
		n, ok := counted[name]
		if !ok {
			continue
		}
		most, ok := allowed.perID[name]
		delta := n/most - 1
		verdict := ""
		switch {
		case !ok:
			verdict, delta = "not in the file", math.NaN()
			wrong = append(wrong, fmt.Sprintf("%s: %.1f instructions an ID, and the file does not say how many it may take", name, n))
		case delta > tolerance:
			verdict = "TOO MANY"
			wrong = append(wrong, fmt.Sprintf("%s: %.1f instructions an ID, %.1f are allowed (%+.1f %%)", name, n, most, 100*delta))
		case delta < -tolerance:
			verdict = "fewer: hold them with -update"
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%+.1f %%\t%s\n", name, n, most, 100*delta, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for name := range allowed.perID {
		if _, ok := counted[name]; !ok {
			wrong = append(wrong, name+": in the file, and no such path")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	wrong = append(wrong, differences(allowed.toolchain)...)
	return fmt.Errorf("%s\n%s", strings.Join(wrong, "\n"), updateHint)
}

// differences returns how this toolchain differs from the toolchain of the file.
func differences(toolchain string) (notes []string) {
	if v := runtime.Version(); v != toolchain {
		notes = append(notes, fmt.Sprintf("(the file has counts of %s, and this is %s: another compiler makes other instructions)", toolchain, v))
	}
	return notes
}

// counts are the allowed counts of a file.
type counts struct {
	toolchain string             // of the paths
	perID     map[string]float64 // by path
}

// parseCounts reads a file: comments, the toolchain, and a line for each path.
func parseCounts(text []byte) (counts, error) {
	c := counts{perID: make(map[string]float64)}
	in := bufio.NewScanner(bytes.NewReader(text))
	for number := 1; in.Scan(); number++ {
		fields := strings.Fields(in.Text())
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
			continue
		case len(fields) != 2:
			return c, fmt.Errorf("line %d: want a path and a number", number)
		case fields[0] == "toolchain":
			c.toolchain = fields[1]
			continue
		}
		n, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || !(n > 0) || math.IsInf(n, 0) {
			return c, fmt.Errorf("line %d: %q is not a number of instructions", number, fields[1])
		}
		if _, twice := c.perID[fields[0]]; twice {
			return c, fmt.Errorf("line %d: %s is there twice", number, fields[0])
		}
		c.perID[fields[0]] = n
	}
	return c, in.Err()
}

// format returns the file of c with the comments of the old file. Paths are in the order of names;
// paths that no longer exist are left out.
func (c counts) format(old []byte, names []string) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(old) {
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		b.Write(line)
	}
	fmt.Fprintf(&b, "\ntoolchain %s\n\n", c.toolchain)
	for _, name := range names {
		if n, ok := c.perID[name]; ok {
			fmt.Fprintf(&b, "%-28s%7.1f\n", name, n)
		}
	}
	return b.Bytes()
}

// A program is a built program that runs the paths.
type program struct{ dir, file string }

// An edit replaces text that a file of the repository has exactly once, for one build.
type edit struct{ file, old, new string }

// trustCounter makes Firn use the processor's counter, whatever clock the kernel has: by itself Firn
// uses the counter only beside the kernel's clock tsc, and takes longer paths beside kvm-clock. The
// counts are then counts of the same paths on every machine.
var trustCounter = edit{filepath.Join("internal", "engine", "clock", "counter_asm.go"), `return name == "tsc" ||`, `return name != "" ||`}

// build builds the program, with trustCounter and further edits, for the oldest amd64 processor: the
// counts are then counts of the same program on every machine.
func build(edits ...edit) (*program, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("the counts are those of linux/amd64, and this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		return nil, fmt.Errorf("valgrind counts the instructions: %w", err)
	}
	dir, err := os.MkdirTemp("", "firn-gate-")
	if err != nil {
		return nil, err
	}
	p := &program{dir, filepath.Join(dir, "paths")}
	edited, err := overlay(dir, append(edits, trustCounter))
	if err != nil {
		p.remove()
		return nil, err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", p.file, "-overlay", edited, "github.com/firn-id/firn/dev/bench/gate/paths")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOAMD64=v1", "GOFLAGS=-buildvcs=false")
	if output, err := cmd.CombinedOutput(); err != nil {
		p.remove()
		return nil, fmt.Errorf("go build: %w: %s", err, output)
	}
	return p, nil
}

// overlay writes the edited files to dir, and the file for the flag -overlay, whose name it returns.
func overlay(dir string, edits []edit) (string, error) {
	output, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/firn-id/firn").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	root := strings.TrimSpace(string(output))
	replace := make(map[string]string)
	for n, e := range edits {
		file := filepath.Join(root, e.file)
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if times := bytes.Count(text, []byte(e.old)); times != 1 {
			return "", fmt.Errorf("%s has %q %d times, not once", file, e.old, times)
		}
		replace[file] = filepath.Join(dir, fmt.Sprintf("edited%d.go", n))
		if err := os.WriteFile(replace[file], bytes.Replace(text, []byte(e.old), []byte(e.new), 1), 0o666); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o666)
}

func (p *program) remove() { os.RemoveAll(p.dir) }

// names returns the names of the paths.
func (p *program) names() ([]string, error) {
	output, err := exec.Command(p.file).Output()
	return strings.Fields(string(output)), err
}

// tries is how often a path is counted before it counts as too long. On a busy machine a burst now
// and then continues into another tick, or the processor's counter looks uneven and is not used for
// a while. Both add instructions, so the smallest count is the path's own.
const tries = 5

// disturbed is the exit code of a path that asks for another try.
const disturbed = 3

// least counts a path several times. It returns the first allowed count, or the smallest count.
func (p *program) least(name string, most float64) (float64, error) {
	least, failed := math.Inf(1), error(nil)
	for range tries {
		n, err := p.count(name)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == disturbed {
			failed = err
			continue
		}
		if err != nil {
			return 0, err
		}
		if least = min(least, n); least <= most*(1+tolerance) {
			break
		}
	}
	if math.IsInf(least, 1) {
		return 0, failed
	}
	return least, nil
}

// count returns how many instructions a path executes for an ID.
func (p *program) count(name string) (float64, error) {
	profile := filepath.Join(p.dir, "callgrind.out")
	cmd := exec.Command("valgrind", "-q", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=main.collect",
		"--callgrind-out-file="+profile, p.file, name)
	// One thread runs Go code, without garbage collection and without signals for preemption:
	// callgrind 3.19 crashes on such a signal. On a virtual machine without RDTSCP, valgrind says that
	// the processor has the instruction, and then refuses it; the runtime needs it only for locks.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off", "GOGC=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", name, err, &stderr)
	}
	ids, err := strconv.Atoi(strings.TrimSpace(string(output)))
	if err != nil || ids <= 0 {
		return 0, fmt.Errorf("%s: it printed %q, not a number of IDs", name, output)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return 0, err
	}
	n, err := total(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return float64(n) / float64(ids), nil
}

// total returns the number of instructions of a callgrind profile.
func total(profile []byte) (int64, error) {
	for line := range bytes.Lines(profile) {
		if value, ok := bytes.CutPrefix(line, []byte("totals: ")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err == nil && n == 0 {
				err = errors.New("the profile counts no instructions: the function that is counted was not called")
			}
			return n, err
		}
	}
	return 0, errors.New("the profile has no total")
}
