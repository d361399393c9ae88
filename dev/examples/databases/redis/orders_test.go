package orders

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

func store(t *testing.T) Store {
	client, prefix := database.Redis(t)
	return Store{Client: client, Prefix: prefix}
}

func TestOrders(t *testing.T) {
	ctx, s, gen, ids := t.Context(), store(t), sample.Generator(t), sample.IDs(t)
	for i, id := range slices.Backward(ids) {
		o := Order{ID: id, Item: "globe " + id.String()}
		if i == 3 {
			o.Parent = &ids[0]
		}
		testkit.OK(t, s.Insert(ctx, o))
		if got, err := s.Find(ctx, id); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("found %v, %v, want %v", got, err, o)
		}
	}
	if got, err := s.Find(ctx, nanoflake.Max); !errors.Is(err, redis.Nil) {
		t.Errorf("an ID without an order: %v, %v", got, err)
	}
	if got, err := s.Made(ctx, gen, sample.Time(2), sample.Time(4)); err != nil || !slices.Equal(got, ids[2:5]) {
		t.Errorf("made %v, %v, want %v", got, err, ids[2:5])
	}
	if fields, err := s.Client.HGetAll(ctx, s.key(ids[1])).Result(); err != nil || len(fields) != 2 || len(fields["id"]) != 8 {
		t.Errorf("a hash without a parent has %q, %v", fields, err)
	}
	if _, err := s.Latest(ctx); !errors.Is(err, redis.Nil) {
		t.Errorf("the latest before any: %v", err)
	}
	testkit.OK(t, s.SetLatest(ctx, ids[6]))
	if got, err := s.Latest(ctx); err != nil || got != ids[6] {
		t.Errorf("the latest is %v, %v, want %v", got, err, ids[6])
	}
}

// A hash with texts of another program reads as well.
func TestText(t *testing.T) {
	ctx, s, id := t.Context(), store(t), sample.IDs(t)[0]
	testkit.OK(t, s.Client.HSet(ctx, s.key(id), "id", id.String(), "parent", id.String(), "item", "globe").Err())
	if got, err := s.Find(ctx, id); err != nil || got.ID != id || got.Parent == nil || *got.Parent != id {
		t.Errorf("found %v, %v, want %v", got, err, id)
	}
}

// A forgotten ID is refused by the store: go-redis writes the zeros of the zero ID.
func TestNoID(t *testing.T) {
	ctx, s, id := t.Context(), store(t), sample.IDs(t)[0]
	for _, o := range []Order{{Item: "forgotten"}, {ID: id, Parent: new(nanoflake.ID)}} {
		if err := s.Insert(ctx, o); !errors.Is(err, ErrNoID) {
			t.Errorf("%v: %v", o, err)
		}
	}
	if err := s.SetLatest(ctx, 0); !errors.Is(err, ErrNoID) {
		t.Errorf("no ID as the latest: %v", err)
	}
	if keys, err := s.Client.Keys(ctx, s.Prefix+"*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("the keys are %q, %v", keys, err)
	}
	testkit.OK(t, s.Client.Set(ctx, s.Prefix+"latest", nanoflake.ID(0), 0).Err())
	if got, err := s.Latest(ctx); err != nil || !got.IsZero() {
		t.Errorf("go-redis refuses the zero ID: %v, %v", got, err)
	}
}

// Another form is an error and never another ID.
func TestWrongValue(t *testing.T) {
	ctx, s, id := t.Context(), store(t), sample.IDs(t)[0]
	for _, value := range []any{id.Decimal(), "", "0549x5l2itvr", "0549x5l2itvr!", 1.5, true} {
		testkit.OK(t, s.Client.HSet(ctx, s.key(id), "id", value).Err())
		if got, err := s.Find(ctx, id); err == nil {
			t.Errorf("%v in a hash reads as %v", value, got)
		}
		testkit.OK(t, s.Client.Set(ctx, s.Prefix+"latest", value, 0).Err())
		if got, err := s.Latest(ctx); err == nil {
			t.Errorf("%v reads as %v", value, got)
		}
	}
}

// A score has 53 bits: IDs of one generator in one millisecond fall together.
func TestScore(t *testing.T) {
	ctx, s, id := t.Context(), store(t), sample.IDs(t)[6]
	for _, member := range []nanoflake.ID{id, id + 1} {
		testkit.OK(t, s.Client.ZAdd(ctx, s.index(), redis.Z{Score: float64(member), Member: member.String()}).Err())
	}
	found, err := s.Client.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.index(), ByScore: true, Start: id.Decimal(), Stop: id.Decimal()}).Result()
	if err != nil || len(found) != 2 {
		t.Errorf("one score finds %v, %v: scores have more than 53 bits", found, err)
	}
}

// A nil *ID without the option omitempty panics in go-redis.
func TestNilPointer(t *testing.T) {
	ctx, s := t.Context(), store(t)
	defer func() {
		if recover() == nil {
			t.Error("go-redis writes a nil *ID: the page says that it panics")
		}
	}()
	err := s.Client.HSet(ctx, s.Prefix+"nil", struct {
		Parent *nanoflake.ID `redis:"parent"`
	}{}).Err()
	t.Log(err)
}
