// Package pgxid teaches pgx the types of Firn's IDs. Call [Register] for each connection:
//
//	config, err := pgxpool.ParseConfig(address)
//	...
//	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
//		pgxid.Register(conn.TypeMap())
//		return nil
//	}
//
// IDs work in pgx without this package too, by their methods Value and Scan. With Register:
//
//   - pgx writes and reads an integer ID about as fast as an int64, and without reflection.
//   - Slices of IDs are parameters in all modes: where id = any($1). Without Register, slices fail
//     in the modes exec and simple protocol.
//   - pgtype.Range and pgtype.Multirange of an integer ID are an int8range and an int8multirange.
//   - A parameter whose column cannot hold the ID is a *[iderr.ParseError] that is
//     [iderr.ErrType], before the server sees the parameter. Without Register, a sno.ID is ten raw
//     bytes in a column of text, and has six bytes of padding in a column of type uuid.
//
// The columns of the types are:
//
//	bigint               nanoflake.ID, ulidflake.ID, ulidflake.ScalableID, snowflakesi.ID
//	text, varchar, char  nanoflake.Text, ulidflake.Text, ulidflake.ScalableText, scru160.ID, sno.Text
//	bytea                scru160.Binary, scru160.ID, sno.ID
//	uuid                 sno.UUID
//
// The zero ID means "no ID", and is the error [iderr.ErrNoID] as a parameter. NULL is the
// nil pointer *T, or an invalid sql.Null[T]. [RegisterType] adds types of package typed, and types
// that embed an ID.
//
// # Modes that do not ask the server
//
// In the modes exec and simple protocol, pgx does not know the columns of a statement. Each type is
// then written as in its first column of the list above. The server refuses some wrong pairs, and
// stores others: 13 decimal digits are a text and an integer, and read as another ID by the type of
// the column. A scru160.ID is written as text in these modes: a column of bytea then holds 32
// characters, a read is an error, and a search for the ID misses rows with 20 bytes. Use
// scru160.Binary for bytea.
package pgxid
