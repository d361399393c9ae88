package lease

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// The checks find a version that reads or writes another form.
func TestCompatMutants(t *testing.T) {
	versions := compatVersions(t)
	newest := versions[len(versions)-1]
	facts, entries := compatFactsOf(t, newest), compatEntriesOf(t, newest)
	// To read the old records by mutated code is to read mutated records by the old code.
	number := func(field string, change func(int64) int64) func(string, string) (string, string) {
		form := regexp.MustCompile(`"` + field + `":(\d+)`)
		return func(key, value string) (string, string) {
			return key, form.ReplaceAllStringFunc(value, func(s string) string {
				n := testkit.Must(strconv.ParseInt(form.FindStringSubmatch(s)[1], 10, 64))
				return fmt.Sprintf(`"%s":%d`, field, change(n))
			})
		}
	}
	replace := func(old, with string) func(string, string) (string, string) {
		form := regexp.MustCompile(old)
		return func(key, value string) (string, string) { return key, form.ReplaceAllString(value, with) }
	}
	reads := func(t *testing.T, e compatEntries) compatComplaints {
		return compatCheckFacts(t.Context(), e.load(t), facts)
	}
	form := func(t *testing.T, e compatEntries) compatComplaints { return compatCheckForm(e, decode, encode) }
	leases := func(t *testing.T, e compatEntries) compatComplaints {
		return compatCheckLeases(t, e.load(t), facts, compatEach, Config{})
	}
	type check = func(*testing.T, compatEntries) compatComplaints
	for name, mutant := range map[string]struct {
		change func(key, value string) (string, string)
		checks []check // each must complain
	}{
		"until has another name":      {replace(`"until_us"`, `"end_us"`), []check{reads, form, leases}},
		"from and until change order": {replace(`("from_us":\d+),("until_us":\d+)`, `$2,$1`), []check{form}},
		"until is in milliseconds":    {number("until_us", func(n int64) int64 { return n / 1000 }), []check{reads, leases}},
		"until is a millisecond less": {number("until_us", func(n int64) int64 { return n - 1000 }), []check{reads}},
		"until is a window less":      {number("until_us", func(n int64) int64 { return n - 10e6 }), []check{reads, leases}},
		"the floor is forgotten":      {replace(`"v":2(.*),"floor_us":\d+`, `"v":1$1`), []check{reads}},
		"the generation starts at 0":  {number("generation", func(n int64) int64 { return n - 1 }), []check{reads, leases}},
		"the hash of layouts differs": {replace(`"layout":"(.)(.*?)"`, `"layout":"$2$1"`), []check{reads, leases}},
		"ranges are closed":           {replace(`(\[\d+,)(\d+)\](.*"made":|[,\]])`, `${1}1$2]$3`), []check{reads}},
		"the holder is left out":      {replace(`"holder":".*?[^\\]",`, ``), []check{reads}},
		"the epoch is in milliseconds": {number("epoch_us", func(n int64) int64 { return n / 1000 }),
			[]check{reads, leases}},
		"workers have four digits": {func(key, value string) (string, string) {
			return strings.Replace(key, "/workers/0", "/workers/", 1), value
		}, []check{reads, leases}},
		"the pool's key is another": {func(key, value string) (string, string) {
			if name, ok := poolOf(key); ok {
				key = name + "/about"
			}
			return key, value
		}, []check{reads, leases}},
	} {
		t.Run(name, func(t *testing.T) {
			mutated, differ := make(compatEntries), 0
			for key, value := range entries {
				k, v := mutant.change(key, string(value))
				if mutated[k] = []byte(v); k != key || v != string(value) {
					differ++
				}
			}
			if differ == 0 {
				t.Error("the mutant changes nothing")
			}
			for i, check := range mutant.checks {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Until(facts.At))
					if len(check(t, mutated)) == 0 {
						t.Errorf("check %d does not find it", i+1)
					}
				})
			}
		})
	}
}
