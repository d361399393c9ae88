package pgxtest

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/typed"
)

// A label is a kind whose texts have a prefix, which databases do not have.
type label struct{}

func (label) IDPrefix() string { return "label" }

func labels[T typed.Untyped[T]](t *testing.T, s server, column string, id T, other T) {
	type ID = typed.ID[T, label]
	named := typed.As[label](id)
	conn := s.connect(t, func(conn *pgx.Conn) {
		testkit.OK(t, pgxid.RegisterType[ID](conn.TypeMap()))
	})
	plain := s.connect(t, registered)
	exec(t, conn, "drop table if exists labels")
	exec(t, conn, "create table labels (id "+column+")")
	for _, mode := range modes {
		exec(t, conn, "delete from labels")
		exec(t, conn, "insert into labels values ($1)", mode, named)
		exec(t, conn, "insert into labels values ($1)", mode, &named)
		exec(t, conn, "insert into labels values ($1)", mode, sql.Null[ID]{V: named, Valid: true})
		if _, err := conn.CopyFrom(t.Context(), pgx.Identifier{"labels"}, []string{"id"}, pgx.CopyFromRows([][]any{{named}})); err != nil {
			t.Errorf("%T, %v: %v", id, mode, err)
		}
		exec(t, plain, "insert into labels values ($1)", mode, other)
		for _, by := range modes {
			rows, err := conn.Query(t.Context(), "select id from labels where id = any($1)", by, []ID{named})
			testkit.OK(t, err)
			got, err := pgx.CollectRows(rows, pgx.RowTo[ID])
			if err != nil || len(got) != 4 || got[0] != named || got[3] != named {
				t.Errorf("%T, written by %v, read by %v: %v, %v", id, mode, by, got, err)
			}
			if got, err := one[T](t.Context(), plain, "select distinct id from labels where id = $1", by, id); err != nil || got != id {
				t.Errorf("the plain %T: %v, %v", id, got, err)
			}
			if got, err := one[sql.Null[ID]](t.Context(), conn, "select id from labels where id = $1", by, other); err != nil || got.V.Plain() != other {
				t.Errorf("the typed %T: %v, %v", other, got, err)
			}
			if _, err := conn.Exec(t.Context(), "select id from labels where id = $1", by, ID{}); !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("the zero %T: %v", id, err)
			}
		}
	}
}

// A typed ID is stored as its Value, in all modes, and not by its text.
func TestTyped(t *testing.T) {
	s := open(t)
	labels(t, s, "bigint", nano, nano2)
	labels(t, s, "text", nano.Text(), nano2.Text())
	labels(t, s, "char(40)", nano.Text(), nano2.Text())
	labels(t, s, "text", scru, scru160.ID{1})
	labels(t, s, "bytea", scru.Binary(), scru160.ID{1}.Binary())
	labels(t, s, "bytea", short, sno.ID{1})
	labels(t, s, "text", short.Text(), sno.ID{1}.Text())
}
