package shape

// A ColumnType is a type of columns, by PostgreSQL's name.
type ColumnType string

// The types of columns that hold IDs.
const (
	Bigint  ColumnType = "bigint"
	Varchar ColumnType = "text" // and varchar, char
	Bytea   ColumnType = "bytea"
	UUID    ColumnType = "uuid"
)

// A Column is how databases hold the IDs of one Go type.
type Column struct {
	Type   ColumnType   // of the value that the method Value returns
	GoType string       // as programs name the type
	Reads  []ColumnType // columns that the type is read from, beside Type
	Writes []ColumnType // columns that the type is written to, beside Type
}

// Stored is the column of a Go type, and the format of its IDs. The module pgxid reads Stored, and an
// older release of it may read a later one: Stored and [Column] only grow.
type Stored struct {
	Format *Format
	Column Column
}

// Stored returns the column of this type.
func (f *Format) Stored(t ColumnType) Stored {
	for _, c := range f.Columns {
		if c.Type == t {
			return Stored{f, c}
		}
	}
	panic("shape: " + f.Name + " has no column of type " + string(t))
}
