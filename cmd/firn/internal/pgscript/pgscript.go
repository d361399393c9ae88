// Package pgscript has the parts that all scripts for PostgreSQL share. A schema that a script made has the
// comment "Made by firn sql".
package pgscript

import _ "embed"

// Path is the search_path of each function that is not of operators with qualified names alone. Only
// objects of PostgreSQL itself have names without a schema.
const Path = "SET search_path = pg_catalog, pg_temp"

// Begin begins a transaction in which all names have PostgreSQL's own meaning.
//
//go:embed begin.sql
var Begin string

// Schema makes the schema firn, or refuses the present schema. One role owns the schema and all
// objects in the schema: callers run the code of an object's owner.
//
//go:embed schema.sql
var Schema string

// DropSchema drops the schema firn if a script has made the schema and the schema is empty.
//
//go:embed drop.sql
var DropSchema string
