// Package schema has the entities of the matrix for ent.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// Row has a field for each type of IDs.
type Row struct{ ent.Schema }

func (Row) Fields() []ent.Field {
	return []ent.Field{
		field.Int("id"),
		field.Int64("nanoflake_id").GoType(nanoflake.ID(0)).Optional().Nillable(),
		field.String("nanoflake_text").GoType(nanoflake.Text{}).Optional().Nillable(),
		field.Int64("ulidflake_id").GoType(ulidflake.ID(0)).Optional().Nillable(),
		field.String("ulidflake_text").GoType(ulidflake.Text{}).Optional().Nillable(),
		field.Int64("scalable_id").GoType(ulidflake.ScalableID(0)).Optional().Nillable(),
		field.String("scalable_text").GoType(ulidflake.ScalableText{}).Optional().Nillable(),
		field.Int64("snowflakesi_id").GoType(snowflakesi.ID(0)).Optional().Nillable(),
		field.String("scru160_id").GoType(scru160.ID{}).Optional().Nillable(),
		field.Bytes("scru160_binary").GoType(scru160.Binary{}).Optional().Nillable(),
		field.Bytes("sno_id").GoType(sno.ID{}).Optional().Nillable(),
		field.String("sno_text").GoType(sno.Text{}).Optional().Nillable(),
		field.UUID("sno_uuid", sno.UUID{}).Optional().Nillable().SchemaType(map[string]string{dialect.Postgres: "uuid"}),
	}
}
