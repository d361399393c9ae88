// Command table writes the table and the charts of stored measurements. Run it in dev/bench:
//
//	go run ./table results
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// A subject's title, and of a peer the nearest format of Firn.
var subjects = map[string]struct{ title, kin string }{
	"nanoflake": {title: "Firn Nanoflakes"}, "sno": {title: "Firn sno"}, "scru160": {title: "Firn SCRU160"},
	"snowflakesi": {title: "Firn Snowflake-SI, 13 UIN bits"}, "ulidflake": {title: "Firn Ulid-Flake, n = 1"},
	"ulidflake-n8": {title: "Firn Ulid-Flake, n = 8"}, "ulidflake-scalable": {title: "Firn Ulid-Flake, scalable, n = 1"},
	"sno-by-comparison": {"sno IDs by slices.SortFunc", "sno"}, "rs-xid": {"rs/xid", "sno"},
	"bwmarrin-snowflake": {"bwmarrin/snowflake", "nanoflake"}, "sony-sonyflake": {"sony/sonyflake", "nanoflake"},
	"rogpeppe-fastuuid": {"rogpeppe/fastuuid (no time)", "nanoflake"}, "oklog-ulid": {"oklog/ulid", "ulidflake"},
	"segmentio-ksuid": {"segmentio/ksuid", "scru160"}, "gofrs-uuid": {"gofrs/uuid v7", "scru160"},
	"google-uuid": {"google/uuid v7", "scru160"}, "google-uuid-pool": {"google/uuid v7, EnableRandPool", "scru160"},
	"time-since": {"time.Since alone", "nanoflake"}, "counter-add": {"a look at the counter and an addition", "nanoflake"},
}

func main() {
	log.SetFlags(0)
	r, err := read(filepath.Join(os.Args[1], "bench.txt"))
	if err != nil {
		log.Fatal(err)
	}
	for name, content := range r.files() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), content, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// Results are the measurements of a run, by group, subject and unit. The name of a group without
// assembly ends with its build tag.
type results struct {
	config map[string]string
	values map[string]map[string]map[string][]float64
}

func read(file string) (*results, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := &results{map[string]string{}, map[string]map[string]map[string][]float64{}}
	for in := benchfmt.NewReader(f, file); in.Scan(); {
		res, ok := in.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		for _, c := range res.Config {
			r.config[c.Key] = string(c.Value)
		}
		name := strings.Split(res.Name.String(), "/") // Saturation/id=sno/goroutines=1-2
		id, _, _ := strings.Cut(strings.TrimPrefix(name[1], "id="), "-"+r.config["cores"])
		group := strings.TrimSuffix(strings.Join(append(name[:1], name[2:]...), "/"), "-"+r.config["cores"])
		if tags := res.GetConfig("tags"); tags != "" {
			group += " " + tags
		}
		if r.values[group] == nil {
			r.values[group] = map[string]map[string][]float64{}
		}
		if r.values[group][id] == nil {
			r.values[group][id] = map[string][]float64{}
		}
		for _, v := range res.Values {
			if v.OrigUnit != "" {
				v.Value, v.Unit = v.OrigValue, v.OrigUnit
			}
			r.values[group][id][v.Unit] = append(r.values[group][id][v.Unit], v.Value)
		}
	}
	return r, nil
}

func (r *results) median(group, id, unit string) benchmath.Summary {
	sample := benchmath.NewSample(slices.Clone(r.values[group][id][unit]), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95)
}

// ids returns the subjects of a group that have titles, the least value first.
func (r *results) ids(group, unit string) []string {
	of := func(id string) float64 { return r.median(group, id, unit).Center }
	ids := slices.SortedFunc(maps.Keys(r.values[group]), func(a, b string) int {
		return cmp.Or(cmp.Compare(of(a), of(b)), cmp.Compare(a, b))
	})
	return slices.DeleteFunc(ids, func(id string) bool { return subjects[id].title == "" })
}

// files returns the table and the charts.
func (r *results) files() map[string][]byte {
	w := new(bytes.Buffer)
	c := r.config
	fmt.Fprintf(w, "# Measured\n\nMedians of one run; [how it measures](../README.md), [all measurements](bench.txt).\n\n")
	fmt.Fprintf(w, "- %s, %s cores, %s/%s, time from %s\n- %s, %s\n", c["cpu"], c["cores"], c["goos"], c["goarch"],
		c["clocksource"], c["go"], c["date"])
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if strings.HasPrefix(key, "github.com/") {
			fmt.Fprintf(w, "- %s %s\n", key, c[key])
		}
	}
	one, cores := "Saturation/goroutines=1", "Parallel/cores="+c["cores"]
	r.section(w, "One at a time", "Next", "One goroutine, below the cap.", 1, "ns/op", "allocs/op")
	r.section(w, "Without assembly", "Next purego", "The same, with `-tags purego`.", 1, "ns/op", "allocs/op")
	r.section(w, "On several cores", cores, "A goroutine on each, all on one generator, below the cap: "+
		"the time in which they make one ID.", 1, "ns/op")
	for _, group := range []string{one, "Saturation/goroutines=8"} {
		title := map[bool]string{true: "At saturation", false: "At saturation, by 8 goroutines"}[group == one]
		r.section(w, title, group, "All IDs that can be had: with how much processor, and how much of what the layout allows.",
			1, "cpu-ns/ID", "cores", "%cap", "IDs/s")
	}
	r.section(w, "In batches", "Batch", "1000 at a time, below the cap; no other peer has a batch.", 1, "ns/op", "allocs/op")
	r.section(w, "Text into a buffer", "Encode", "Or by `MarshalText`, where a package has no such function.", 1, "ns/op", "allocs/op")
	r.section(w, "Text read strictly", "Decode", "segmentio/ksuid reads anything.", 1, "ns/op", "allocs/op")
	r.section(w, "Sorting", "Sort", "A million IDs of one generator, shuffled: ms.", 1e6, "ns/op")
	return map[string][]byte{
		"table.md":       w.Bytes(),
		"next.svg":       r.chart("One ID at a time, below the cap: ns an ID", "Next", "ns/op"),
		"saturation.svg": r.chart("Cores in use at the full rate of the layout", one, "cores"),
	}
}

// section writes the measurements of a group, in units of per.
func (r *results) section(w *bytes.Buffer, title, group, about string, per float64, units ...string) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n| | %s | ± | against Firn |\n|---|%s---|\n", title, about,
		strings.Join(units, " | "), strings.Repeat("---:|", len(units)+1))
	for _, id := range r.ids(group, units[0]) {
		s := subjects[id]
		label, first, against := s.title, r.median(group, id, units[0]), ""
		if s.kin == "" {
			label = "**" + label + "**"
		} else if kin := r.median(group, s.kin, units[0]).Center; kin > 0 {
			against = digits(first.Center/kin) + " × " + subjects[s.kin].title
		}
		fmt.Fprintf(w, "| %s |", label)
		for _, unit := range units {
			fmt.Fprintf(w, " %s |", digits(r.median(group, id, unit).Center/per))
		}
		fmt.Fprintf(w, " %s | %s |\n", strings.TrimPrefix(first.PctRangeString(), "±"), against)
	}
}

// digits returns a value with three significant digits or more.
func digits(v float64) string {
	places := max(0, 3-len(strconv.Itoa(int(v))))
	return strconv.FormatFloat(v, 'f', places, 64)
}

// chart draws a group as horizontal bars, Firn's in a colour of their own.
func (r *results) chart(title, group, unit string) []byte {
	plot.DefaultFont.Variant, plotter.DefaultFont.Variant = "Sans", "Sans"
	p := plot.New()
	p.Title.Text, p.X.Min = title, 0
	ids := slices.DeleteFunc(r.ids(group, unit), func(id string) bool { return id == "time-since" || id == "counter-add" })
	slices.Reverse(ids)        // the first bar is at the bottom
	var bars [2]plotter.Values // Firn's, and the others'
	var at plotter.XYLabels
	names := make([]string, len(ids))
	for i, id := range ids {
		v := r.median(group, id, unit).Center
		of := 0
		if subjects[id].kin != "" {
			of = 1
		}
		bars[of], bars[1-of] = append(bars[of], v), append(bars[1-of], 0)
		at.XYs, at.Labels = append(at.XYs, plotter.XY{X: v, Y: float64(i)}), append(at.Labels, " "+digits(v))
		names[i] = subjects[id].title
	}
	for i, c := range []color.Color{color.RGBA{0x0b, 0x61, 0xa4, 255}, color.RGBA{0x6e, 0x72, 0x77, 255}} {
		chart := must(plotter.NewBarChart(bars[i], vg.Points(9)))
		chart.Horizontal, chart.Color, chart.LineStyle.Width = true, c, 0
		p.Add(chart)
	}
	values := must(plotter.NewLabels(at))
	values.Offset.Y = vg.Points(-4)
	p.Add(values)
	p.NominalY(names...)
	p.X.Max *= 1.12 // room for the last value
	p.Y.Max += 0.5  // and below the title
	var svg bytes.Buffer
	must(must(p.WriterTo(400, vg.Length(60+20*len(ids)), "svg")).WriteTo(&svg))
	return bytes.ReplaceAll(svg.Bytes(), []byte("Liberation Sans"), []byte("Liberation Sans, Arial, sans-serif"))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
