package decoders

import (
	"strings"
	"testing"

	"github.com/spf13/viper"

	shop "github.com/firn-id/firn/dev/examples/databases/configuration"
	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/typed"
)

// plainKind and prefixKind are kinds of package typed.
type (
	plainKind  struct{}
	prefixKind struct{}
)

func (prefixKind) IDPrefix() string { return "order" }

// check runs the cells of a type. gorilla/schema refuses the types of package typed.
func check[T cell.ID, P Reader[T]](t *testing.T, k cell.Kind[T]) {
	t.Helper()
	for _, w := range Ways[T, P]() {
		want := cell.Works
		if strings.HasPrefix(w.Name, "gorilla/schema") && strings.HasPrefix(k.Type, "typed.") {
			want = cell.Error
		}
		if o := cell.Run(k, w.Store); o.State != want || want == cell.Error && !strings.Contains(o.Why, "invalid path") {
			t.Errorf("%s, %s: %v", w.Name, k.Type, o)
		}
	}
}

// Each way reads each ID as it was written. docs/matrix.md has the same cells, without those of package typed.
func TestWays(t *testing.T) {
	check(t, cell.Nanoflake())
	check(t, cell.NanoflakeText())
	check(t, cell.Ulidflake())
	check(t, cell.UlidflakeText())
	check(t, cell.Scalable())
	check(t, cell.ScalableText())
	check(t, cell.Snowflake())
	check(t, cell.SCRU160())
	check(t, cell.SCRU160Binary())
	check(t, cell.Sno())
	check(t, cell.SnoText())
	check(t, cell.SnoUUID())
	check(t, cell.Typed[plainKind](cell.Nanoflake()))
	check(t, cell.Typed[prefixKind](cell.Nanoflake()))
	check(t, cell.Typed[plainKind](cell.NanoflakeText()))
	check(t, cell.Typed[prefixKind](cell.Snowflake()))
	check(t, cell.Typed[plainKind](cell.SCRU160Binary()))
	check(t, cell.Typed[prefixKind](cell.Sno()))
}

func TestTraps(t *testing.T) {
	for _, trap := range Traps {
		if err := trap.Show(); err != nil {
			t.Errorf("%s %v", trap.Title, err)
		}
	}
}

// The hook refuses each value that is not the text of an ID, and lets the values of other types pass.
func TestHookRefuses(t *testing.T) {
	for _, file := range []string{
		"id: 1000000000000", "id: 0540000000004", "id: 0x123456789ab", "id: 123456789e004", "id: true", "id: [1, 2]", "id: 2026-07-01", `id: "1"`, `id: ""`,
		"only: 1000000000000", "all: [1000000000000]", "all: 1000000000000", "id: {a: 1}",
	} {
		plain, err := viperOf[nanoflake.ID](file, viper.DecodeHook(shop.TextHook))
		refused(t, file, plain, err)
		kind, err := viperOf[typed.ID[nanoflake.ID, plainKind]](file, viper.DecodeHook(shop.TextHook))
		refused(t, file, kind, err)
		text, err := viperOf[nanoflake.Text](file, viper.DecodeHook(shop.TextHook))
		refused(t, file, text, err)
	}
}

func refused[T cell.ID](t *testing.T, file string, k keyed[T], err error) {
	t.Helper()
	if err == nil || !k.ID.IsZero() || k.Only != nil && !(*k.Only).IsZero() || len(k.All) > 0 && !k.All[0].IsZero() {
		t.Errorf("%s is %v, %v", file, k, err)
	}
}
