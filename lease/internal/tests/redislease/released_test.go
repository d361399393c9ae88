package redislease_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/tests/released"
	"github.com/firn-id/firn/lease/redislease"
)

// TestReleased has a prefix for the keys that a released version has written.
func TestReleased(t *testing.T) {
	raw := needGiven(t)
	released.Test(t, "redis.json", func(t *testing.T) released.Server {
		return &ofRelease{t, raw, prefix(t, raw)}
	})
}

type ofRelease struct {
	t      *testing.T
	raw    *redis.Client
	prefix string
}

// keys are the hashes and the sorted sets with a prefix, by their names.
type keys struct {
	Hashes map[string]map[string]string `json:"hashes"`
	Sets   map[string][]string          `json:"sorted_sets"` // all members have the score 0
}

func (r *ofRelease) Load(content string) error {
	var all keys
	if err := json.Unmarshal([]byte(strings.ReplaceAll(content, released.Space, r.prefix)), &all); err != nil {
		return err
	}
	for name, fields := range all.Hashes {
		if err := r.raw.HSet(r.t.Context(), name, fields).Err(); err != nil {
			return err
		}
	}
	for name, members := range all.Sets {
		for _, member := range members {
			if err := r.raw.ZAdd(r.t.Context(), name, redis.Z{Member: member}).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *ofRelease) Open() driver.Store {
	return storetest.Open(r.t, redislease.Open, given("prefix="+r.prefix))
}

// numbered begins the fields of entries. A version numbers the changes.
var numbered = regexp.MustCompile(`^\d+ `)

func (r *ofRelease) Dump() (string, error) {
	ctx := r.t.Context()
	names, err := r.raw.Keys(ctx, "*"+r.prefix+"*").Result()
	if err != nil {
		return "", err
	}
	all := keys{Hashes: make(map[string]map[string]string), Sets: make(map[string][]string)}
	for _, name := range names {
		kind, err := r.raw.Type(ctx, name).Result()
		if err != nil {
			return "", err
		}
		if kind == "zset" {
			if all.Sets[name], err = r.raw.ZRange(ctx, name, 0, -1).Result(); err != nil {
				return "", err
			}
			continue
		}
		fields, err := r.raw.HGetAll(ctx, name).Result()
		if err != nil {
			return "", err
		}
		for _, field := range slices.Collect(maps.Keys(fields)) {
			switch {
			case field == ".store" && fields[field] != "":
				fields[field] = "name"
			case field == ".count" && numbered.MatchString(fields[field]+" "):
				fields[field] = strconv.Itoa(len(fields))
			default:
				fields[field] = numbered.ReplaceAllString(fields[field], "1 ")
			}
		}
		all.Hashes[name] = fields
	}
	content, err := json.MarshalIndent(all, "", "  ")
	return strings.ReplaceAll(string(content)+"\n", r.prefix, released.Space), err
}
