package typed_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/typed"
)

// Kinds are empty structs.
type (
	InvoiceKind struct{}
	BuyerKind   struct{}
)

type (
	InvoiceID = typed.ID[nanoflake.ID, InvoiceKind]
	BuyerID   = typed.ID[nanoflake.ID, BuyerKind]
)

// Texts of the IDs of invoices begin with invoice_.
func (InvoiceKind) IDPrefix() string { return "invoice" }

type Invoice struct {
	ID    InvoiceID
	Buyer BuyerID
}

// An ID in JSON and in messages has the prefix of its kind.
func Example() {
	invoice := Invoice{ID: typed.MustParse[InvoiceID]("invoice_0549x5l2itvr4")}
	data, err := json.Marshal(invoice)
	fmt.Println(string(data), err)

	_, err = typed.Parse[InvoiceID]("order_0549x5l2itvr4")
	fmt.Println(err)
	// Output:
	// {"ID":"invoice_0549x5l2itvr4","Buyer":null} <nil>
	// nanoflake: "order_0549x5l2itvr4": offset 0: the text of this kind of ID begins with "invoice_"
}

// Of takes the results of a generator.
func ExampleOf() {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := typed.Of[InvoiceKind](gen.Next(context.Background()))
	fmt.Println(id.Plain().GeneratorID(), err)
	// Output: 7 <nil>
}

// As gives an ID made elsewhere its kind, and Plain returns the plain ID again.
func ExampleAs() {
	plain := nanoflake.MustParse("0549x5l2itvr4")
	id := typed.As[InvoiceKind](plain)
	fmt.Println(id, id.Plain())
	// Output: invoice_0549x5l2itvr4 0549x5l2itvr4
}

// Parse reads a text. The type argument is the type of the ID.
func ExampleParse() {
	id, err := typed.Parse[BuyerID]("0549x5l2itvr4")
	fmt.Println(id, err)
	// Output: 0549x5l2itvr4 <nil>
}

// MustParse is for constants in code.
func ExampleMustParse() {
	fmt.Println(typed.MustParse[InvoiceID]("invoice_0549x5l2itvr4").Plain().Sequence())
	// Output: 0
}

// A test of a program finds a bad prefix.
func ExamplePrefix() {
	fmt.Println(typed.Prefix[InvoiceKind]())
	// Output: invoice <nil>
}

// The plain ID decides about the column: here 20 bytes, without the prefix.
func ExampleID_Value() {
	id := typed.As[InvoiceKind](scru160.Max().Binary())
	value, err := id.Value()
	fmt.Printf("%T of %d bytes, %v\n", value, len(value.([]byte)), err)
	// Output: []uint8 of 20 bytes, <nil>
}
