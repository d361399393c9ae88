package matrix

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"gorm.io/gorm"

	"connectrpc.com/connect"

	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/dev/internal/mongodb"
	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/dev/matrix/decoders"
	"github.com/firn-id/firn/dev/matrix/entgen/ent"
	"github.com/firn-id/firn/dev/matrix/sqlcgen"
)

// A table is the outcomes of all cells.
type table struct {
	kinds []string
	ways  []*way
}

// A way is a row of the table.
type way struct {
	group, name string
	cells       map[string]cell.Outcome
}

func (m *table) set(group, name, kind string, o cell.Outcome) {
	if !slices.Contains(m.kinds, kind) {
		m.kinds = append(m.kinds, kind)
	}
	end := len(m.ways)
	for i, w := range m.ways {
		if w.group == group && w.name == name {
			w.cells[kind] = o
			return
		}
		if w.group == group {
			end = i + 1
		}
	}
	m.ways = slices.Insert(m.ways, end, &way{group, name, map[string]cell.Outcome{kind: o}})
}

// places are the servers of a run.
type places struct {
	pgx      []*pgx.Conn // by mode
	sessions []*session
	arrays   *session
	redis    *keyspace
	mongo    *mongo.Database
	gorm     map[string]*gorm.DB
	bun      *bun.DB
	sqlc     *sqlcgen.Queries
	ent      *ent.Client
	graph    *graph
	graphURL string
}

func openAll(t *testing.T) *places {
	p := &places{
		mongo: mongodb.Open(t), gorm: openGorm(t), bun: bun.NewDB(database.PostgresDB(t), pgdialect.New()),
		sqlc: openSQLC(t), ent: openEnt(t), graph: new(graph),
	}
	client, prefix := database.Redis(t)
	p.redis = &keyspace{Client: client, prefix: prefix}
	p.graphURL = openGraph(t, p.graph)
	for _, mode := range modes {
		p.pgx = append(p.pgx, openPgx(t, mode))
	}
	stdlib := openPostgres(t)
	maria := openMariaDB(t, false)
	text := openMariaDB(t, true)
	lite := openSQLite(t)
	p.arrays = onSQL(t, stdlib, ofPostgres("database/sql over pgx"))
	p.sessions = []*session{
		p.arrays,
		prepared(t, stdlib, ofPostgres("database/sql over pgx, prepared")),
		onSQL(t, maria, ofMariaDB("go-sql-driver/mysql")),
		prepared(t, maria, ofMariaDB("go-sql-driver/mysql, prepared")),
		onSQL(t, text, ofMariaDB("go-sql-driver/mysql, interpolateParams")),
		onSQL(t, lite, ofSQLite("modernc.org/sqlite")),
	}
	return p
}

const (
	groupPostgres = "PostgreSQL"
	groupSQL      = "database/sql"
	groupNull     = "NULL"
	groupORM      = "Object-relational mappers and generated code"
	groupDocument = "Redis, MongoDB"
	groupWire     = "JSON, GraphQL, protobuf"
	groupDecoder  = "Forms, configurations, flags, CSV and other encodings"
)

// column runs all cells of a kind.
func column[T cell.ID, P decoders.Reader[T]](t *testing.T, m *table, p *places, k cell.Kind[T], c made[T]) {
	set := func(group, name string, s cell.Store[T]) { m.set(group, name, k.Type, cell.Run(k, s)) }
	for i, mode := range modes {
		s := onPgx(t, p.pgx[i], "pgx, mode "+mode.String())
		set(groupPostgres, s.name, plain(t, s, k))
	}
	set(groupPostgres, "pgx, CopyFrom", copied(t, p.pgx[0], k))
	for i, mode := range modes {
		s := onPgx(t, p.pgx[i], "pgx, arrays, mode "+mode.String())
		set(groupPostgres, s.name, arrays(t, s, k, nil))
	}
	for i, mode := range modes {
		if mode != pgx.QueryExecModeExec && mode != pgx.QueryExecModeSimpleProtocol {
			continue
		}
		p.pgx[i].TypeMap().RegisterDefaultPgType([]T(nil), arrayType(k.Column))
		s := onPgx(t, p.pgx[i], "pgx, arrays, mode "+mode.String()+", the slice registered")
		set(groupPostgres, s.name, arrays(t, s, k, nil))
	}
	for _, s := range p.sessions {
		set(groupSQL, s.name, plain(t, s, k))
	}
	set(groupSQL, "database/sql over pgx, arrays", arrays(t, p.arrays, k, scanner[T]("")))
	set(groupSQL, "database/sql over pgx, arrays, the slice registered", arrays(t, p.arrays, k, scanner[T](arrayType(k.Column))))
	all := p.sessions
	for i, mode := range modes {
		all = append(all, onPgx(t, p.pgx[i], "pgx, "+mode.String()))
	}
	var plains, pointers, sqlNulls []cell.Outcome
	for _, s := range all {
		n := nulls(t, s, k)
		plains, pointers, sqlNulls = append(plains, n.plain), append(pointers, n.pointer), append(sqlNulls, n.null)
	}
	m.set(groupNull, "NULL into the type itself", k.Type, agree(t, plains))
	m.set(groupNull, "NULL into a pointer", k.Type, agree(t, pointers))
	m.set(groupNull, "NULL into sql.Null", k.Type, agree(t, sqlNulls))

	for _, name := range []string{"PostgreSQL", "MariaDB", "SQLite"} {
		set(groupORM, "GORM on "+name, onGorm(t, p.gorm[name], k))
	}
	set(groupORM, "bun on PostgreSQL", onBun(t, p.bun, k))
	set(groupORM, "ent on PostgreSQL", onEnt(t, p.ent, k, c.ent))
	set(groupORM, "sqlc on PostgreSQL", onSQLC(t, c.sqlc))
	set(groupORM, "sqlc, columns that may be NULL", onSQLCNull(t, k, c.sqlc))

	set(groupDocument, "go-redis, Set and Get", redisSet[T](t, p.redis))
	set(groupDocument, "go-redis, HSet of a struct and HGetAll", redisHash[T](t, p.redis))
	set(groupDocument, "bson.Marshal and bson.Unmarshal", values[T](bson.Marshal, bson.Unmarshal))
	set(groupDocument, "mongo-driver on FerretDB", collection(t, p.mongo, k))

	object := values[T](json.Marshal, json.Unmarshal)
	object.Zero = true
	set(groupWire, "encoding/json", object)
	name := member[T]()
	name.Zero = true
	set(groupWire, "encoding/json, names of members", name)
	set(groupWire, "GraphQL by gqlgen", onGraph(t, p.graphURL, c.graph))
	set(groupWire, "protobuf, string", message(asText[T]()))
	set(groupWire, "protobuf, bytes", message(asBytes[T]()))
	if k.FromInt64 != nil {
		set(groupWire, "protobuf, fixed64", message(asInteger(k)))
	}
	set(groupWire, "Connect, protobuf with a string", onConnect(t, asText[T]()))
	set(groupWire, "Connect, JSON with bytes", onConnect(t, asBytes[T](), connect.WithProtoJSON()))
	for _, w := range decoders.Ways[T, P]() {
		set(groupDecoder, w.Name, w.Store)
	}
}

// agree returns the outcome of several ways, which must be the same.
func agree(t *testing.T, outcomes []cell.Outcome) cell.Outcome {
	worst := cell.Join(outcomes...)
	for _, o := range outcomes {
		if o.State != worst.State {
			t.Errorf("one way is %v, and another %v", o, worst)
		}
	}
	return worst
}

func runAll(t *testing.T) *table {
	m, p := &table{}, openAll(t)
	columns(t, m, p)
	jsonV2(t, m)
	return m
}
