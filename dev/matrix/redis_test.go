package matrix

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/dev/matrix/cell"
)

// A keyspace is a client of Redis, with keys of the test's own. Each store has the keys of a number.
type keyspace struct {
	*redis.Client
	prefix string
	stores int
}

// store returns a function that makes keys for one store.
func (k *keyspace) store() (key func(n int) string) {
	k.stores++
	prefix := fmt.Sprintf("%s%d-", k.prefix, k.stores)
	return func(n int) string { return fmt.Sprint(prefix, n) }
}

// redisSet is the store of strings, with a set for searches.
func redisSet[T cell.ID](t *testing.T, client *keyspace) cell.Store[T] {
	key, ctx := client.store(), t.Context()
	members := map[int]bool{}
	return cell.Store[T]{
		Zero: true,
		Put: func(n int, id T) error {
			members[n] = true
			if err := client.SAdd(ctx, key(n)+"-set", id).Err(); err != nil {
				return err
			}
			return client.Set(ctx, key(n), id, 0).Err()
		},
		Get: func(n int) (id T, err error) {
			err = client.Get(ctx, key(n)).Scan(&id)
			return id, err
		},
		Find: func(id T) (rows []int, err error) {
			for n := range members {
				is, err := client.SIsMember(ctx, key(n)+"-set", id).Result()
				if err != nil {
					return nil, err
				}
				if is {
					rows = append(rows, n)
				}
			}
			return rows, nil
		},
	}
}

// redisHash is the store of hashes, from a struct and into a struct.
func redisHash[T cell.ID](t *testing.T, client *keyspace) cell.Store[T] {
	type row struct {
		ID T `redis:"id"`
	}
	key, ctx := client.store(), t.Context()
	return cell.Store[T]{
		Zero: true,
		Put:  func(n int, id T) error { return client.HSet(ctx, key(n), row{id}).Err() },
		Get: func(n int) (T, error) {
			var r row
			err := client.HGetAll(ctx, key(n)).Scan(&r)
			return r.ID, err
		},
	}
}
