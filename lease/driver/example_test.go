package driver_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/firn-id/firn/lease/driver"
)

// A Table is the public type of a store. The Handle has the methods that every store has.
type Table struct {
	*driver.Handle
	mu   sync.Mutex
	rows map[string]row
}

type row struct {
	value   string
	version int
}

// Open returns a new table.
func Open() *Table {
	t := &Table{rows: make(map[string]row)}
	t.Handle = driver.New(driver.Backend{Address: "table://example", Get: t.get, List: t.list, Put: t.put})
	return t
}

func (t *Table) get(_ context.Context, key string) (driver.Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.rows[key]
	if !ok {
		return driver.Entry{}, driver.ErrNotFound
	}
	return driver.Entry{Value: []byte(r.value), Revision: revision(r)}, nil
}

// list may return the rows in any order, and rows with other prefixes.
func (t *Table) list(context.Context, string) ([]driver.Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []driver.Entry
	for key, r := range t.rows {
		list = append(list, driver.Entry{Key: key, Value: []byte(r.value), Revision: revision(r)})
	}
	return list, nil
}

func (t *Table) put(_ context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rows[key]
	if revision(r) != rev {
		return driver.None, driver.ErrConflict
	}
	r = row{value: string(value), version: r.version + 1}
	t.rows[key] = r
	return revision(r), nil
}

func revision(r row) driver.Revision {
	if r.version == 0 {
		return driver.None
	}
	return driver.Revision(strconv.Itoa(r.version))
}

// A whole store: three functions, and a handle that does the rest.
func ExampleNew() {
	ctx := context.Background()
	store := Open()
	first, _ := store.Put(ctx, "pool/b", []byte("one"), driver.None)
	store.Put(ctx, "pool/a", []byte("two"), driver.None)
	_, err := store.Put(ctx, "pool/b", []byte("three"), "7")
	fmt.Println(err)
	_, err = store.Get(ctx, "Pool/B")
	fmt.Println(err)
	list, _ := store.List(ctx, "pool/")
	for _, e := range list {
		fmt.Printf("%s=%s\n", e.Key, e.Value)
	}
	store.Close()
	_, err = store.Put(ctx, "pool/b", nil, first)
	fmt.Println(err)

	// Output:
	// table://example: put pool/b: changed meanwhile
	// table://example: get: invalid key or value: "Pool/B" has a character, or a first character, that names do not have
	// pool/a=two
	// pool/b=one
	// table://example: put pool/b: store unavailable: the store is closed
}
