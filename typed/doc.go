// Package typed gives IDs the kind of the things that the IDs name. The IDs of orders and the IDs
// of invoices are then different types, and the compiler finds an ID in the wrong place:
//
//	type OrderKind struct{}
//
//	type OrderID = typed.ID[nanoflake.ID, OrderKind]
//
//	id, err := typed.Of[OrderKind](gen.Next(ctx))
//	id, err := typed.Parse[OrderID](text)
//	id.Plain().Time(epoch) // the plain ID, with its time and fields
//
// The first type argument is the plain ID, and decides about columns of databases:
// typed.ID[scru160.Binary, OrderKind] is 20 bytes in a database. The second argument is the kind:
// an empty struct of the program. Write an alias, with =, as above: a defined type would lose all
// methods.
//
// # Defined types
//
// Do not write type OrderID nanoflake.ID. Such a type has no methods: JSON carries it as a number,
// and JavaScript rounds numbers from 2^53, so another ID comes back. Databases take it for any
// integer, and its text is a decimal number. An ID of this package has all methods for texts and
// databases.
//
// # Prefix
//
// Texts of a kind with a method IDPrefix begin with the prefix and an underscore:
//
//	func (OrderKind) IDPrefix() string { return "order" } // order_0549x5l2itvr4
//
// The text of one kind is then not a text of a kind with another prefix. A text without the prefix
// is an error, too. Strings in JSON, names in JSON objects, logs, parameters of requests, GraphQL
// and package fmt have the prefix. Databases, BSON and binary forms have no prefix, so a kind can
// get or change its prefix without a change of the database.
//
// A prefix has 1 to 63 lower-case letters, digits and underscores; the first is a letter, and the
// last is not an underscore. A bad prefix is a *[iderr.ConfigError] of each method that writes or
// reads a text. A test can check prefixes by [Prefix].
//
// Each method that writes or reads a text calls IDPrefix of the zero value of the kind. Return a
// constant, and declare the method on the value, as above: a method on the pointer is a
// *[iderr.ConfigError]. A kind that is a pointer or an interface has no prefix. A struct that
// embeds a kind takes over its method IDPrefix: declare the method for each kind.
//
// Let a kind be an empty struct. Any type will do, but each text of a kind with a prefix makes a
// value of the kind, and allocates a value that is not empty.
//
// # Cost
//
// The methods that read an ID call a method of the plain ID through an interface. A variable of
// the ID and a buffer on the stack, as an argument of a direct call, can therefore move to the
// heap. An ID in a struct that package json or database/sql fills is on the heap already. The file
// docs/typed.md has figures.
//
// # Package fmt
//
// The method Scan belongs to database/sql, and fmt.Sscan cannot use it. fmt.Sscan refuses an ID of
// this package, and reads the integer of a plain ID or of a defined type as a decimal number:
// another ID, from a text of 13 digits. Read texts by [Parse].
package typed
