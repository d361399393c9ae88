package matrix

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"connectrpc.com/connect"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/dev/matrix/entgen/ent"
	"github.com/firn-id/firn/dev/matrix/entgen/ent/predicate"
	"github.com/firn-id/firn/dev/matrix/entgen/ent/row"
	"github.com/firn-id/firn/dev/matrix/gqlgen"
	"github.com/firn-id/firn/dev/matrix/pbgen"
	"github.com/firn-id/firn/dev/matrix/sqlcgen"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// made is the generated code for one kind.
type made[T cell.ID] struct {
	sqlc  sqlcCalls[T]
	ent   entCalls[T]
	graph graphCalls[T]
}

// sqlcCalls are the queries of sqlc. A row has an ID and a parent. The parent may be NULL.
type sqlcCalls[T cell.ID] struct {
	put        func(ctx context.Context, n int32, id T, parent *T) error
	get        func(ctx context.Context, n int32) (T, error)
	parent     func(ctx context.Context, n int32) (*T, error)
	find       func(ctx context.Context, id T) ([]int32, error)
	findParent func(ctx context.Context, id *T) ([]int32, error)
	drop       func(ctx context.Context, id T) error
}

// openSQLC makes tables by the statements of the schema.
func openSQLC(t *testing.T) *sqlcgen.Queries {
	conn := testkit.Must(pgx.ConnectConfig(t.Context(), database.Postgres(t)))
	t.Cleanup(func() { conn.Close(context.Background()) })
	testkit.OK(t, testkit.Err(conn.PgConn().Exec(t.Context(), sqlcgen.Schema).ReadAll()))
	return sqlcgen.New(conn)
}

func integersOf(list []int32, err error) ([]int, error) {
	var all []int
	for _, n := range list {
		all = append(all, int(n))
	}
	return all, err
}

func onSQLC[T cell.ID](t *testing.T, c sqlcCalls[T]) cell.Store[T] {
	ctx := t.Context()
	return cell.Store[T]{
		Put:  func(n int, id T) error { return c.put(ctx, int32(n), id, nil) },
		Get:  func(n int) (T, error) { return c.get(ctx, int32(n)) },
		Find: func(id T) ([]int, error) { return integersOf(c.find(ctx, id)) },
		Drop: func(id T) error { return c.drop(ctx, id) },
	}
}

// onSQLCNull is the store of the parents.
func onSQLCNull[T cell.ID](t *testing.T, k cell.Kind[T], c sqlcCalls[T]) cell.Store[T] {
	ctx := t.Context()
	const shift = 2000 // the numbers of rows are keys
	testkit.OK(t, c.put(ctx, shift-1, k.Absent, nil))
	if p, err := c.parent(ctx, shift-1); err != nil || p != nil {
		t.Errorf("sqlc, %s: NULL is %v, %v", k.Type, p, err)
	}
	return cell.Store[T]{
		Put: func(n int, id T) error { return c.put(ctx, int32(shift+n), k.Absent, &id) },
		Get: func(n int) (id T, err error) {
			p, err := c.parent(ctx, int32(shift+n))
			if err != nil {
				return id, err
			}
			if p == nil {
				return id, errors.New("NULL")
			}
			return *p, nil
		},
		Find: func(id T) ([]int, error) {
			list, err := integersOf(c.findParent(ctx, &id))
			for i := range list {
				list[i] -= shift
			}
			return list, err
		},
	}
}

// entCalls are the functions of ent for one field.
type entCalls[T cell.ID] struct {
	set    func(*ent.RowCreate, T) *ent.RowCreate
	get    func(*ent.Row) *T
	equal  func(T) predicate.Row
	in     func(...T) predicate.Row
	by     func(...entsql.OrderTermOption) row.OrderOption
	notNil func() predicate.Row
}

// openEnt makes a table by ent's migration.
func openEnt(t *testing.T) *ent.Client {
	client := ent.NewClient(ent.Driver(entsql.OpenDB(dialect.Postgres, database.PostgresDB(t))))
	testkit.OK(t, client.Schema.Create(t.Context()))
	return client
}

func onEnt[T cell.ID](t *testing.T, client *ent.Client, k cell.Kind[T], c entCalls[T]) cell.Store[T] {
	ctx := t.Context()
	testkit.OK(t, testkit.Err(client.Row.Delete().Exec(ctx)))
	store := cell.Store[T]{
		Put: func(n int, id T) error { return c.set(client.Row.Create().SetID(n), id).Exec(ctx) },
		Get: func(n int) (id T, err error) {
			r, err := client.Row.Get(ctx, n)
			if err != nil {
				return id, err
			}
			if c.get(r) == nil {
				return id, errors.New("NULL")
			}
			return *c.get(r), nil
		},
		Find: func(id T) ([]int, error) {
			one, err := client.Row.Query().Where(c.equal(id)).IDs(ctx)
			if err != nil {
				return nil, err
			}
			two, err := client.Row.Query().Where(c.in(id, k.Absent)).IDs(ctx)
			if !slices.Equal(one, two) {
				return append(one, two...), err // a wrong answer
			}
			return one, err
		},
		Drop: func(id T) error {
			_, err := client.Row.Delete().Where(c.equal(id)).Exec(ctx)
			return err
		},
	}
	if c.by == nil {
		return store // ent does not sort fields of bytes
	}
	store.Order = func() (ids []T, err error) {
		rows, err := client.Row.Query().Where(c.notNil()).Order(c.by()).All(ctx)
		for _, r := range rows {
			ids = append(ids, *c.get(r))
		}
		if k.Column.Postgres != "BIGINT" && k.Column.Postgres != "BYTEA" && k.Column.Postgres != "UUID" {
			slices.SortFunc(ids, func(a, b T) int { return slices.Index(k.IDs, a) - slices.Index(k.IDs, b) }) // the column has the database's collation
		}
		return ids, err
	}
	return store
}

// A shelf keeps IDs in the server of GraphQL.
type shelf[T cell.ID] struct{ ids map[int]*T }

func (s *shelf[T]) put(n int, id *T) (bool, error) {
	if s.ids == nil {
		s.ids = map[int]*T{}
	}
	s.ids[n] = id
	return true, nil
}

type graphCalls[T cell.ID] struct {
	name  string
	shelf *shelf[T]
}

// openGraph serves GraphQL by the code of gqlgen.
func openGraph(t *testing.T, g *graph) string {
	schema := handler.New(gqlgen.NewExecutableSchema(gqlgen.Config{Resolvers: g}))
	schema.AddTransport(transport.POST{})
	server := httptest.NewServer(schema)
	t.Cleanup(server.Close)
	return server.URL
}

// onGraph is the store of a server of GraphQL, with IDs as variables.
func onGraph[T cell.ID](t *testing.T, url string, c graphCalls[T]) cell.Store[T] {
	call := func(query string, variables map[string]any, dst any) error {
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		var answer struct {
			Data   map[string]json.RawMessage
			Errors []struct{ Message string }
		}
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			return err
		}
		if len(answer.Errors) > 0 {
			return errors.New(answer.Errors[0].Message)
		}
		for _, data := range answer.Data {
			return json.Unmarshal(data, dst)
		}
		return errors.New("no data")
	}
	return cell.Store[T]{
		Zero: true,
		Put: func(n int, id T) error {
			var ok bool
			err := call("mutation ($n: Int!, $id: "+c.name+") { put"+c.name+"(n: $n, id: $id) }", map[string]any{"n": n, "id": id}, &ok)
			if err != nil {
				return err
			}
			var zero T
			if got := c.shelf.ids[n]; !ok || (got == nil) != (id == zero) || got != nil && *got != id {
				return fmt.Errorf("the server has %v for %v", got, id)
			}
			return nil
		},
		Get: func(n int) (id T, err error) {
			err = call("query ($n: Int!) { get"+c.name+"(n: $n) }", map[string]any{"n": n}, &id)
			return id, err
		},
	}
}

// A carrier puts IDs into a message of protobuf, and reads them.
type carrier[T cell.ID] struct {
	put func(*pbgen.Row, T) error
	get func(*pbgen.Row) (T, error)
}

// asText carries the text, in a field of type string.
func asText[T cell.ID]() carrier[T] {
	return carrier[T]{
		func(r *pbgen.Row, id T) error {
			text, err := any(id).(encoding.TextMarshaler).MarshalText()
			r.Text = string(text)
			return err
		},
		func(r *pbgen.Row) (id T, err error) {
			err = any(&id).(encoding.TextUnmarshaler).UnmarshalText([]byte(r.Text))
			return id, err
		},
	}
}

// asBytes carries the binary form, in a field of type bytes.
func asBytes[T cell.ID]() carrier[T] {
	return carrier[T]{
		func(r *pbgen.Row, id T) (err error) {
			r.Binary, err = any(id).(encoding.BinaryMarshaler).MarshalBinary()
			return err
		},
		func(r *pbgen.Row) (id T, err error) {
			err = any(&id).(encoding.BinaryUnmarshaler).UnmarshalBinary(r.Binary)
			return id, err
		},
	}
}

// asInteger carries the integer, in a field of type fixed64.
func asInteger[T cell.ID](k cell.Kind[T]) carrier[T] {
	return carrier[T]{
		func(r *pbgen.Row, id T) error {
			r.Integer = uint64(any(id).(interface{ Int64() int64 }).Int64())
			return nil
		},
		func(r *pbgen.Row) (T, error) { return k.FromInt64(int64(r.Integer)) },
	}
}

// message is the store of encoded messages.
func message[T cell.ID](c carrier[T]) cell.Store[T] {
	data := map[int][]byte{}
	return cell.Store[T]{
		Zero: true,
		Put: func(n int, id T) (err error) {
			var r pbgen.Row
			if err := c.put(&r, id); err != nil {
				return err
			}
			data[n], err = proto.Marshal(&r)
			return err
		},
		Get: func(n int) (id T, err error) {
			var r pbgen.Row
			if err := proto.Unmarshal(data[n], &r); err != nil {
				return id, err
			}
			return c.get(&r)
		},
	}
}

// onConnect is the store of a server of Connect. The server parses the IDs of requests.
func onConnect[T cell.ID](t *testing.T, c carrier[T], options ...connect.ClientOption) cell.Store[T] {
	const put, get = "/matrix.v1.Rows/Put", "/matrix.v1.Rows/Get"
	ids := map[int32]T{}
	mux := http.NewServeMux()
	mux.Handle(put, connect.NewUnaryHandler(put, func(_ context.Context, r *connect.Request[pbgen.Row]) (*connect.Response[pbgen.Row], error) {
		id, err := c.get(r.Msg)
		if err != nil {
			return nil, connect.NewError(connect.CodeInvalidArgument, err)
		}
		ids[r.Msg.N] = id
		return connect.NewResponse(r.Msg), nil
	}))
	mux.Handle(get, connect.NewUnaryHandler(get, func(_ context.Context, r *connect.Request[pbgen.Row]) (*connect.Response[pbgen.Row], error) {
		if err := c.put(r.Msg, ids[r.Msg.N]); err != nil {
			return nil, err
		}
		return connect.NewResponse(r.Msg), nil
	}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	call := func(path string, r *pbgen.Row) (*pbgen.Row, error) {
		client := connect.NewClient[pbgen.Row, pbgen.Row](server.Client(), server.URL+path, options...)
		response, err := client.CallUnary(t.Context(), connect.NewRequest(r))
		if err != nil {
			return nil, err
		}
		return response.Msg, nil
	}
	return cell.Store[T]{
		Zero: true,
		Put: func(n int, id T) error {
			r := &pbgen.Row{N: int32(n)}
			if err := c.put(r, id); err != nil {
				return err
			}
			_, err := call(put, r)
			return err
		},
		Get: func(n int) (id T, err error) {
			r, err := call(get, &pbgen.Row{N: int32(n)})
			if err != nil {
				return id, err
			}
			return c.get(r)
		},
	}
}
