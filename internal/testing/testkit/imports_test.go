package testkit

import (
	"os"
	"slices"
	"strings"
	"testing"
)

var (
	formats = []string{"nanoflake", "ulidflake", "snowflakesi", "scru160", "sno"}
	codecs  = []string{"internal/form/base32", "internal/form/base36", "internal/form/digits"}
)

// wall stands between the house and its workshop.
var wall = []Rule{{Of: []string{"all"}, Never: []string{"dev/..."}, But: []string{"dev/..."},
	Why: "the wall: nothing outside imports the workshop"}}

// rules say which imports a package must not have, and why.
var rules = func() []Rule {
	rules := append([]Rule{
		{Of: []string{"internal/engine/words"}, Only: []string{"sync/atomic"},
			Why: "the word knows no layout, no unit and no clock"},
		{Of: []string{"internal/engine/steps"}, Only: []string{"internal/engine/words", "runtime", "sync/atomic"},
			Why: "steps know no layout, no unit and no clock"},
		{Of: codecs, Never: append([]string{"inspect", "iderr", "internal/form/payload", "internal/engine/mint"}, formats...), Through: true,
			Why: "codecs know no format: they return the offset of the bad character, and the format makes the error"},
		{Of: codecs, Never: []string{"fmt", "errors", "strconv", "reflect"},
			Why: "codecs neither allocate nor make errors"},
		{Of: []string{"lease/..."}, Never: append([]string{"inspect"}, formats...), Through: true,
			Why: "a lease knows formats by package grant alone"},
		{Of: []string{"internal/shape"}, Only: []string{"context", "encoding", "encoding/binary", "math/bits", "slices", "strconv", "time", "lease/grant", "usage"},
			Why: "the descriptor's type knows no format, and each format carries it"},
		{Of: []string{"usage"}, Only: []string{},
			Why: "the counters of a generator are numbers"},
		{Of: []string{"lease/grant"}, Only: []string{"time"},
			Why: "grant is what both sides know, formats and leases, and so knows neither"},
		{Of: []string{"typed"}, Never: append([]string{"inspect", "lease/...", "!lease/grant"}, formats...), Through: true,
			Why: "a kind works with any type of IDs: a program that uses one format does not carry another"},
		{Of: []string{"typed"}, Never: []string{"os/...", "net/...", "log", "math/big"}, Through: true,
			But: []string{"internal/engine/clock"},
			Why: "a kind only writes and reads texts"},
		{Of: formats, Never: []string{"typed"}, Through: true,
			Why: "formats know nothing of kinds"},
		{Of: []string{"lease/driver"}, Never: []string{"inspect", "lease", "iderr", "internal/..."}, Through: true,
			Why: "the driver is what stores implement, and nothing else"},
		{Of: []string{"lease"}, Never: []string{"lease/memlease", "lease/filelease", "lease/kubelease", "lease/drivertest"},
			Why: "a lease knows no store but by its driver"},
		{Of: []string{"internal/..."}, Never: append([]string{"inspect"}, formats...),
			Why: "formats stand on the internal packages, not the other way around"},
		{Of: []string{"all"}, Never: []string{"internal/testing/testkit/..."},
			Why: "only tests import testkit"},
		{Of: []string{"all"}, Never: []string{"internal/faults"}, But: []string{"lease/drivertest", "cmd/firn/internal/torture"},
			Why: "only tests and firn torture make stores fail"},
		{Of: []string{"all"}, Never: []string{"internal/testing/kubetest"},
			Why: "only tests talk to servers that pretend"},
		{Of: append([]string{"inspect", "iderr", "internal/engine/mint", "internal/engine/clock", "internal/engine/queue", "lease", "lease/...", "cmd/..."}, formats...), Never: []string{"internal/testing/pretend", "internal/testing/services", "internal/testing/storetest", "internal/testing/minter", "internal/testing/turn", "internal/testing/undo", "internal/testing/wait"},
			But: []string{"lease/drivertest"}, // a suite of tests, which needs a generator of its own
			Why: "only tests use the tools of tests"},
		{Of: []string{"lease/etcdlease", "lease/pglease", "lease/redislease"}, Never: []string{"lease/drivertest", "internal/testing/..."}, Through: true,
			Why: "a program that requires a store requires no tools of tests"},
		{Of: append([]string{"inspect", "iderr", "internal/...", "lease", "lease/driver", "lease/memlease", "lease/filelease", "lease/kubelease"}, formats...), Never: []string{"cmd/...", "lease/drivertest"},
			Why: "the root module stands without the nested ones"},
		{Of: []string{"pgxid"}, Never: []string{"internal/...", "!internal/shape", "lease/...", "cmd/...", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgxpool", "github.com/jackc/pgx/v5/stdlib"},
			Why: "pgxid gives types to a map of pgtype: it opens no connection, and works with the formats of each version, whose method Stored stays"},
		{Of: []string{"server/firnv1"}, Never: []string{"server/...", "cmd/...", "lease/...", "internal/..."}, Through: true,
			Why: "a client of gRPC carries no server"},
		{Of: []string{"server/..."}, Never: []string{"cmd/..."},
			Why: "the server is a library, which the command uses"},
		{Of: []string{"server/internal/supply", "server/internal/reason", "server/internal/access"}, Never: []string{"google.golang.org/grpc", "server/internal/resp", "server/internal/web", "server/internal/rpc"},
			Why: "generators, reasons and tokens know no protocol: all protocols have the same"},
		{Of: []string{"server/internal/resp", "server/internal/web", "server/internal/rpc"}, Never: []string{"server/internal/resp", "server/internal/web", "server/internal/rpc", "server/internal/door"},
			Why: "a protocol knows no other protocol: package server puts them together"},
		{Of: append([]string{"inspect", "iderr", "internal/form/payload", "lease/grant"}, formats...), Never: []string{"pgxid"}, Through: true,
			Why: "a program that uses a format does not carry pgx"},
		{Of: append([]string{"iderr", "internal/form/payload", "internal/engine/mint", "internal/engine/words", "internal/engine/steps"}, codecs...),
			Never: []string{"unsafe"}, Why: "nothing here needs it"},
	}, wall...)
	for _, f := range formats {
		others := slices.DeleteFunc(slices.Clone(formats), func(o string) bool { return o == f })
		rules = append(rules,
			Rule{Of: []string{f}, Never: append([]string{"inspect", "lease/...", "!lease/grant"}, others...), Through: true,
				Why: "a program that uses one format does not carry another, nor leases"},
			Rule{Of: []string{f}, Never: []string{"os/...", "net/...", "log", "math/big"}, Through: true,
				But: []string{"internal/engine/clock"}, // os has the runtime's poller watch a timer, and no file
				Why: "a format computes: it has no files, network or logs, and its integers are fixed"})
	}
	return rules
}()

func TestImports(t *testing.T) {
	imports, err := Imports("../../..", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range append([]string{"inspect", "internal/engine/words", "iderr", "nanoflake"}, codecs...) {
		if _, ok := imports[pkg]; !ok {
			t.Errorf("found no package %s", pkg)
		}
	}
	for _, broken := range Broken(imports, rules) {
		t.Error(broken)
	}
}

// Nothing outside the folder dev imports it, not even a test: the product builds, and passes its tests,
// without the folder.
func TestWall(t *testing.T) {
	imports, err := Imports("../../..", true)
	if err != nil {
		t.Fatal(err)
	}
	if len(imports["dev/bench"]) == 0 {
		t.Error("found no package dev/bench")
	}
	for _, broken := range Broken(imports, wall) {
		t.Error(broken)
	}
}

// The root module needs nothing but the standard library.
func TestNoRequirements(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mod), "require") || !strings.Contains(string(mod), "module "+Module+"\n") {
		t.Errorf("go.mod is\n%s", mod)
	}
}
