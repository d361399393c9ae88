package nanoflake

import (
	"github.com/firn-id/firn/internal/base36"
	"github.com/firn-id/firn/internal/wire"
)

var list = wire.List[ID]{Length: base36.Len, Shortest: base36.Len, Append: ID.AppendText, Parse: parse[[]byte]}

// AppendAll appends the canonical texts of ids to dst, sep after each: a line for each ID with
// '\n'. A value that is no ID is a *[ListError];
// dst then ends with the text of the one before. It does not allocate if dst has room for 14 bytes for each.
func AppendAll(dst []byte, ids []ID, sep byte) ([]byte, error) { return list.AppendAll(dst, ids, sep) }

// ParseAll appends to dst the IDs of a list as [AppendAll] writes it: texts that [Parse]
// reads, sep after each, which the last one may lack. A text that is none, an empty one included, is a
// *[ListError], which says where it is and wraps Parse's error; dst then has the IDs before
// it. It allocates at most once, if dst has no room for the IDs.
func ParseAll(dst []ID, text []byte, sep byte) ([]ID, error) { return list.ParseAll(dst, text, sep) }
