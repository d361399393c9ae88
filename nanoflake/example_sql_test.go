package nanoflake_test

import (
	"fmt"

	"github.com/firn-id/firn/nanoflake"
)

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
