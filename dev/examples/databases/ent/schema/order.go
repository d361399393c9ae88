// Package schema is the schema of orders for ent: docs/databases/ent.md has the same code.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// An Order can have a parent: an order that it replaces.
type Order struct{ ent.Schema }

// Fields are the columns. Without Incremental(false), PostgreSQL and MySQL number orders by themselves,
// and SQLite numbers the rows of a key of type integer.
func (Order) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("id").GoType(nanoflake.ID(0)).Immutable().
			SchemaType(map[string]string{dialect.SQLite: "bigint"}).
			Annotations(entsql.Annotation{Incremental: new(false)}),
		field.Int64("parent_id").GoType(nanoflake.ID(0)).Optional().Nillable(),
		field.Bytes("event").GoType(scru160.Binary{}).Unique().
			SchemaType(map[string]string{dialect.MySQL: "binary(20)"}),
		field.String("visit").GoType(sno.Text{}).MaxLen(16).Unique(),
		field.String("item"),
	}
}

// Edges are the relations of an order.
func (Order) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("replacements", Order.Type).From("parent").Unique().Field("parent_id"),
	}
}
