package nanoflake_test

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/firn-id/firn/nanoflake"
)

// An order has its ID in a column of type BIGINT. The column of the parent may be NULL.
type order struct {
	id     nanoflake.ID
	parent sql.Null[nanoflake.ID]
	item   string
}

// insert stores an order. An ID is an argument like any other.
func insert(ctx context.Context, db *sql.DB, o order) error {
	_, err := db.ExecContext(ctx, "INSERT INTO orders (id, parent, item) VALUES ($1, $2, $3)", o.id, o.parent, o.item)
	return err
}

// made returns the orders of a time. The primary key is the index of the scan.
func made(ctx context.Context, db *sql.DB, gen *nanoflake.Generator, from, to time.Time) ([]order, error) {
	rows, err := db.QueryContext(ctx, "SELECT id, parent, item FROM orders WHERE id BETWEEN $1 AND $2 ORDER BY id",
		gen.First(from), gen.Last(to))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []order
	for rows.Next() {
		var o order
		if err := rows.Scan(&o.id, &o.parent, &o.item); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// An ID goes into a column of type BIGINT, and comes back, by database/sql. A program imports the
// driver of its database.
func ExampleID_Scan() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "postgres://orders@db.example.com/orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := insert(ctx, db, order{id: id, item: "snow globe"}); err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	orders, err := made(ctx, db, gen, now.Add(-time.Hour), now)
	fmt.Println(len(orders), err)
}

// Value and Scan are what database/sql calls.
func ExampleID_Value() {
	id := nanoflake.MustParse("0549x5l2itvr4")
	v, err := id.Value()
	fmt.Println(v, err)
	_, err = nanoflake.ID(0).Value()
	fmt.Println(err)

	var read nanoflake.ID
	for _, column := range []any{int64(673740726894358528), "0549x5l2itvr4", nil} { // BIGINT, a text, NULL
		err := read.Scan(column)
		fmt.Println(read, err)
	}
	// Output:
	// 673740726894358528 <nil>
	// nanoflake: the zero ID means "no ID" and is not stored: make an ID first, or use a pointer or a sql.Null for a column that may be NULL
	// 0549x5l2itvr4 <nil>
	// 0549x5l2itvr4 nanoflake: a text of length 13 holds no nanoflake.ID, which is an integer: make the column BIGINT, or use nanoflake.Text for a column with the texts of IDs; for decimal digits, scan into an int64
	// 0549x5l2itvr4 nanoflake: NULL is no ID: read a column that may be NULL into a pointer or a sql.Null
}

// A Text is an ID in a column of text.
func ExampleText() {
	id := nanoflake.MustParse("0549x5l2itvr4")
	v, err := id.Text().Value()
	fmt.Println(v, err)

	var read nanoflake.Text
	err = read.Scan("0549x5l2itvr4")
	fmt.Println(read.ID() == id, err)
	// Output:
	// 0549x5l2itvr4 <nil>
	// true <nil>
}
