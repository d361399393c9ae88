package matrix

import (
	"context"
	"testing"

	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/dev/matrix/entgen/ent"
	"github.com/firn-id/firn/dev/matrix/entgen/ent/row"
	"github.com/firn-id/firn/dev/matrix/gqlgen"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// columns runs all cells of all kinds. Generated code has functions for each kind.
func columns(t *testing.T, m *table, p *places) {
	q, g := p.sqlc, p.graph
	column(t, m, p, cell.Nanoflake(), made[nanoflake.ID]{
		sqlc: sqlcCalls[nanoflake.ID]{q.PutNanoflakeId, q.GetNanoflakeId, q.ParentNanoflakeId, q.FindNanoflakeId, q.FindParentNanoflakeId, q.DropNanoflakeId},
		ent: entCalls[nanoflake.ID]{
			(*ent.RowCreate).SetNanoflakeID, func(r *ent.Row) *nanoflake.ID { return r.NanoflakeID }, row.NanoflakeIDEQ, row.NanoflakeIDIn, row.ByNanoflakeID, row.NanoflakeIDNotNil,
		},
		graph: graphCalls[nanoflake.ID]{"NanoflakeID", &g.nanoflakeID},
	})
	column(t, m, p, cell.NanoflakeText(), made[nanoflake.Text]{
		sqlc: sqlcCalls[nanoflake.Text]{q.PutNanoflakeText, q.GetNanoflakeText, q.ParentNanoflakeText, q.FindNanoflakeText, q.FindParentNanoflakeText, q.DropNanoflakeText},
		ent: entCalls[nanoflake.Text]{
			(*ent.RowCreate).SetNanoflakeText, func(r *ent.Row) *nanoflake.Text { return r.NanoflakeText }, row.NanoflakeTextEQ, row.NanoflakeTextIn, row.ByNanoflakeText, row.NanoflakeTextNotNil,
		},
		graph: graphCalls[nanoflake.Text]{"NanoflakeText", &g.nanoflakeText},
	})
	column(t, m, p, cell.Ulidflake(), made[ulidflake.ID]{
		sqlc: sqlcCalls[ulidflake.ID]{q.PutUlidflakeId, q.GetUlidflakeId, q.ParentUlidflakeId, q.FindUlidflakeId, q.FindParentUlidflakeId, q.DropUlidflakeId},
		ent: entCalls[ulidflake.ID]{
			(*ent.RowCreate).SetUlidflakeID, func(r *ent.Row) *ulidflake.ID { return r.UlidflakeID }, row.UlidflakeIDEQ, row.UlidflakeIDIn, row.ByUlidflakeID, row.UlidflakeIDNotNil,
		},
		graph: graphCalls[ulidflake.ID]{"UlidflakeID", &g.ulidflakeID},
	})
	column(t, m, p, cell.UlidflakeText(), made[ulidflake.Text]{
		sqlc: sqlcCalls[ulidflake.Text]{q.PutUlidflakeText, q.GetUlidflakeText, q.ParentUlidflakeText, q.FindUlidflakeText, q.FindParentUlidflakeText, q.DropUlidflakeText},
		ent: entCalls[ulidflake.Text]{
			(*ent.RowCreate).SetUlidflakeText, func(r *ent.Row) *ulidflake.Text { return r.UlidflakeText }, row.UlidflakeTextEQ, row.UlidflakeTextIn, row.ByUlidflakeText, row.UlidflakeTextNotNil,
		},
		graph: graphCalls[ulidflake.Text]{"UlidflakeText", &g.ulidflakeText},
	})
	column(t, m, p, cell.Scalable(), made[ulidflake.ScalableID]{
		sqlc: sqlcCalls[ulidflake.ScalableID]{q.PutUlidflakeScalableId, q.GetUlidflakeScalableId, q.ParentUlidflakeScalableId, q.FindUlidflakeScalableId, q.FindParentUlidflakeScalableId, q.DropUlidflakeScalableId},
		ent: entCalls[ulidflake.ScalableID]{
			(*ent.RowCreate).SetScalableID, func(r *ent.Row) *ulidflake.ScalableID { return r.ScalableID }, row.ScalableIDEQ, row.ScalableIDIn, row.ByScalableID, row.ScalableIDNotNil,
		},
		graph: graphCalls[ulidflake.ScalableID]{"UlidflakeScalableID", &g.ulidflakeScalableID},
	})
	column(t, m, p, cell.ScalableText(), made[ulidflake.ScalableText]{
		sqlc: sqlcCalls[ulidflake.ScalableText]{q.PutUlidflakeScalableText, q.GetUlidflakeScalableText, q.ParentUlidflakeScalableText, q.FindUlidflakeScalableText, q.FindParentUlidflakeScalableText, q.DropUlidflakeScalableText},
		ent: entCalls[ulidflake.ScalableText]{
			(*ent.RowCreate).SetScalableText, func(r *ent.Row) *ulidflake.ScalableText { return r.ScalableText }, row.ScalableTextEQ, row.ScalableTextIn, row.ByScalableText, row.ScalableTextNotNil,
		},
		graph: graphCalls[ulidflake.ScalableText]{"UlidflakeScalableText", &g.ulidflakeScalableText},
	})
	column(t, m, p, cell.Snowflake(), made[snowflakesi.ID]{
		sqlc: sqlcCalls[snowflakesi.ID]{q.PutSnowflakesiId, q.GetSnowflakesiId, q.ParentSnowflakesiId, q.FindSnowflakesiId, q.FindParentSnowflakesiId, q.DropSnowflakesiId},
		ent: entCalls[snowflakesi.ID]{
			(*ent.RowCreate).SetSnowflakesiID, func(r *ent.Row) *snowflakesi.ID { return r.SnowflakesiID }, row.SnowflakesiIDEQ, row.SnowflakesiIDIn, row.BySnowflakesiID, row.SnowflakesiIDNotNil,
		},
		graph: graphCalls[snowflakesi.ID]{"SnowflakesiID", &g.snowflakesiID},
	})
	column(t, m, p, cell.SCRU160(), made[scru160.ID]{
		sqlc: sqlcCalls[scru160.ID]{q.PutScru160Id, q.GetScru160Id, q.ParentScru160Id, q.FindScru160Id, q.FindParentScru160Id, q.DropScru160Id},
		ent: entCalls[scru160.ID]{
			(*ent.RowCreate).SetScru160ID, func(r *ent.Row) *scru160.ID { return r.Scru160ID }, row.Scru160IDEQ, row.Scru160IDIn, row.ByScru160ID, row.Scru160IDNotNil,
		},
		graph: graphCalls[scru160.ID]{"Scru160ID", &g.scru160ID},
	})
	column(t, m, p, cell.SCRU160Binary(), made[scru160.Binary]{
		sqlc: sqlcCalls[scru160.Binary]{q.PutScru160Binary, q.GetScru160Binary, q.ParentScru160Binary, q.FindScru160Binary, q.FindParentScru160Binary, q.DropScru160Binary},
		ent: entCalls[scru160.Binary]{
			(*ent.RowCreate).SetScru160Binary, func(r *ent.Row) *scru160.Binary { return r.Scru160Binary }, row.Scru160BinaryEQ, row.Scru160BinaryIn, nil, row.Scru160BinaryNotNil,
		},
		graph: graphCalls[scru160.Binary]{"Scru160Binary", &g.scru160Binary},
	})
	column(t, m, p, cell.Sno(), made[sno.ID]{
		sqlc: sqlcCalls[sno.ID]{q.PutSnoId, q.GetSnoId, q.ParentSnoId, q.FindSnoId, q.FindParentSnoId, q.DropSnoId},
		ent: entCalls[sno.ID]{
			(*ent.RowCreate).SetSnoID, func(r *ent.Row) *sno.ID { return r.SnoID }, row.SnoIDEQ, row.SnoIDIn, nil, row.SnoIDNotNil,
		},
		graph: graphCalls[sno.ID]{"SnoID", &g.snoID},
	})
	column(t, m, p, cell.SnoText(), made[sno.Text]{
		sqlc: sqlcCalls[sno.Text]{q.PutSnoText, q.GetSnoText, q.ParentSnoText, q.FindSnoText, q.FindParentSnoText, q.DropSnoText},
		ent: entCalls[sno.Text]{
			(*ent.RowCreate).SetSnoText, func(r *ent.Row) *sno.Text { return r.SnoText }, row.SnoTextEQ, row.SnoTextIn, row.BySnoText, row.SnoTextNotNil,
		},
		graph: graphCalls[sno.Text]{"SnoText", &g.snoText},
	})
	column(t, m, p, cell.SnoUUID(), made[sno.UUID]{
		sqlc: sqlcCalls[sno.UUID]{q.PutSnoUuid, q.GetSnoUuid, q.ParentSnoUuid, q.FindSnoUuid, q.FindParentSnoUuid, q.DropSnoUuid},
		ent: entCalls[sno.UUID]{
			(*ent.RowCreate).SetSnoUUID, func(r *ent.Row) *sno.UUID { return r.SnoUUID }, row.SnoUUIDEQ, row.SnoUUIDIn, row.BySnoUUID, row.SnoUUIDNotNil,
		},
		graph: graphCalls[sno.UUID]{"SnoUUID", &g.snoUUID},
	})
}

// graph is the server of GraphQL: it keeps the IDs that it gets.
type graph struct {
	nanoflakeID           shelf[nanoflake.ID]
	nanoflakeText         shelf[nanoflake.Text]
	ulidflakeID           shelf[ulidflake.ID]
	ulidflakeText         shelf[ulidflake.Text]
	ulidflakeScalableID   shelf[ulidflake.ScalableID]
	ulidflakeScalableText shelf[ulidflake.ScalableText]
	snowflakesiID         shelf[snowflakesi.ID]
	scru160ID             shelf[scru160.ID]
	scru160Binary         shelf[scru160.Binary]
	snoID                 shelf[sno.ID]
	snoText               shelf[sno.Text]
	snoUUID               shelf[sno.UUID]
}

func (g *graph) Query() gqlgen.QueryResolver       { return g }
func (g *graph) Mutation() gqlgen.MutationResolver { return g }

func (g *graph) GetNanoflakeID(_ context.Context, n int) (*nanoflake.ID, error) {
	return g.nanoflakeID.ids[n], nil
}
func (g *graph) PutNanoflakeID(_ context.Context, n int, id *nanoflake.ID) (bool, error) {
	return g.nanoflakeID.put(n, id)
}
func (g *graph) GetNanoflakeText(_ context.Context, n int) (*nanoflake.Text, error) {
	return g.nanoflakeText.ids[n], nil
}
func (g *graph) PutNanoflakeText(_ context.Context, n int, id *nanoflake.Text) (bool, error) {
	return g.nanoflakeText.put(n, id)
}
func (g *graph) GetUlidflakeID(_ context.Context, n int) (*ulidflake.ID, error) {
	return g.ulidflakeID.ids[n], nil
}
func (g *graph) PutUlidflakeID(_ context.Context, n int, id *ulidflake.ID) (bool, error) {
	return g.ulidflakeID.put(n, id)
}
func (g *graph) GetUlidflakeText(_ context.Context, n int) (*ulidflake.Text, error) {
	return g.ulidflakeText.ids[n], nil
}
func (g *graph) PutUlidflakeText(_ context.Context, n int, id *ulidflake.Text) (bool, error) {
	return g.ulidflakeText.put(n, id)
}
func (g *graph) GetUlidflakeScalableID(_ context.Context, n int) (*ulidflake.ScalableID, error) {
	return g.ulidflakeScalableID.ids[n], nil
}
func (g *graph) PutUlidflakeScalableID(_ context.Context, n int, id *ulidflake.ScalableID) (bool, error) {
	return g.ulidflakeScalableID.put(n, id)
}
func (g *graph) GetUlidflakeScalableText(_ context.Context, n int) (*ulidflake.ScalableText, error) {
	return g.ulidflakeScalableText.ids[n], nil
}
func (g *graph) PutUlidflakeScalableText(_ context.Context, n int, id *ulidflake.ScalableText) (bool, error) {
	return g.ulidflakeScalableText.put(n, id)
}
func (g *graph) GetSnowflakesiID(_ context.Context, n int) (*snowflakesi.ID, error) {
	return g.snowflakesiID.ids[n], nil
}
func (g *graph) PutSnowflakesiID(_ context.Context, n int, id *snowflakesi.ID) (bool, error) {
	return g.snowflakesiID.put(n, id)
}
func (g *graph) GetScru160id(_ context.Context, n int) (*scru160.ID, error) {
	return g.scru160ID.ids[n], nil
}
func (g *graph) PutScru160id(_ context.Context, n int, id *scru160.ID) (bool, error) {
	return g.scru160ID.put(n, id)
}
func (g *graph) GetScru160Binary(_ context.Context, n int) (*scru160.Binary, error) {
	return g.scru160Binary.ids[n], nil
}
func (g *graph) PutScru160Binary(_ context.Context, n int, id *scru160.Binary) (bool, error) {
	return g.scru160Binary.put(n, id)
}
func (g *graph) GetSnoID(_ context.Context, n int) (*sno.ID, error) { return g.snoID.ids[n], nil }
func (g *graph) PutSnoID(_ context.Context, n int, id *sno.ID) (bool, error) {
	return g.snoID.put(n, id)
}
func (g *graph) GetSnoText(_ context.Context, n int) (*sno.Text, error) { return g.snoText.ids[n], nil }
func (g *graph) PutSnoText(_ context.Context, n int, id *sno.Text) (bool, error) {
	return g.snoText.put(n, id)
}
func (g *graph) GetSnoUUID(_ context.Context, n int) (*sno.UUID, error) { return g.snoUUID.ids[n], nil }
func (g *graph) PutSnoUUID(_ context.Context, n int, id *sno.UUID) (bool, error) {
	return g.snoUUID.put(n, id)
}
