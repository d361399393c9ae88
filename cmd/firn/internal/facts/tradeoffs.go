package facts

import (
	"cmp"

	"github.com/firn-id/firn/internal/shape"
)

// A fact is what a format's descriptor does not say.
type fact struct {
	about  string                               // what the IDs are, in a few words
	suits  []string                             // reasons to choose the format
	beware []string                             // what to know before
	room   func(shape.Recipe, shape.Shape) room // nil if a tick always has room for all sequences
}

// A room is how many IDs a generator makes in a tick before the tick is exhausted.
type room struct {
	Least int `json:"least"`
	Mean  int `json:"mean"`
	Most  int `json:"most"`
}

// facts has each format of package inspect.
var facts = map[string]fact{
	"nanoflake": {
		about: "integers of 64 bits for keys of tables",
		suits: []string{
			"A bigint column takes the space of numbers that the database assigns.",
			"Many generators make IDs at once, in the order of time.",
		},
		beware: []string{
			"Each generator needs a generator ID of its own: lease one.",
			"The next ID is easy to guess. An ID tells when and by which generator it was made.",
			"JavaScript's numbers do not hold 64 bits: JSON carries the IDs as texts.",
			"Some other implementations shift the timestamp by 24 bits, unlike the specification: firn reads other times from their IDs.",
		},
	},
	"ulidflake": {
		about: "integers of 64 bits that are hard to guess",
		suits: []string{
			"A bigint column takes the space of numbers that the database assigns.",
			"The random bits hide how many IDs were made.",
		},
		beware: []string{
			"The format is for one generator: two generators can make the same ID. Lease the times (firn new --fenced), or use ulidflake-scalable.",
			"JavaScript's numbers do not hold 64 bits: JSON carries the IDs as texts.",
			"A tick begins at a random number and may end early. A smaller --increment-bits makes room, and IDs that are easier to guess.",
		},
		room: roomOfUlidFlake,
	},
	"ulidflake-scalable": {
		about: "integers of 64 bits that are hard to guess, of several generators",
		suits: []string{
			"A bigint column takes the space of numbers that the database assigns.",
			"The random bits hide how many IDs were made.",
		},
		beware: []string{
			"Each generator needs a scalability of its own: lease one. There are few.",
			"JavaScript's numbers do not hold 64 bits: JSON carries the IDs as texts.",
			"A tick begins at a random number and may end early. A smaller --increment-bits makes room, and IDs that are easier to guess.",
		},
		room: roomOfUlidFlake,
	},
	"snowflakesi": {
		about: "integers of 53 bits, which JavaScript holds exactly",
		suits: []string{
			"JSON and JavaScript read the IDs as numbers.",
			"The widths fit a system: more machines, or more IDs a tick.",
		},
		beware: []string{
			"Each generator needs a machine ID of its own: lease one.",
			"The epoch and the widths are not in the IDs: all programs need the same ones, for ever.",
			"Decimal texts of different lengths do not sort as the IDs do: store integers.",
			"A tick has few sequences: a burst waits for the next tick.",
		},
		room: func(r shape.Recipe, s shape.Shape) room {
			most := s.Capacity()
			if r.Reset {
				return room{most, most, most}
			}
			return room{(most + 1) / 2, most, most} // only the first tick of a burst may begin in the middle
		},
	},
	"scru160": {
		about: "IDs of 160 bits that need no coordination",
		suits: []string{
			"Any program makes IDs at any place, without a lease and without a number of its own.",
			"No ID can be guessed.",
		},
		beware: []string{
			"20 bytes are the largest IDs of all formats, in each table and each index.",
			"As text the IDs take 32 bytes: store bytes where nobody reads the table.",
		},
		room: roomOfSCRU160,
	},
	"sno": {
		about: "IDs of 80 bits with a byte of your own",
		suits: []string{
			"The metabyte tells kinds of rows, tenants or shards apart.",
			"There are many partitions, each with many IDs a tick.",
			"The form of a UUID fits columns of type uuid.",
		},
		beware: []string{
			"Each generator needs a partition of its own: lease one.",
			"After the clock goes back, IDs are not in the order of issue: the tick-tock bit keeps them unique.",
			"IDs with different metabytes do not sort by the order of issue within a tick.",
			"The next ID is easy to guess. An ID tells when and by which generator it was made.",
		},
		room: func(r shape.Recipe, s shape.Shape) room {
			n := s.Capacity()
			if r.SequenceMax > 0 {
				n = int(r.SequenceMax) - int(r.SequenceMin) + 1
			}
			return room{n, n, n}
		},
	},
}

// roomOfUlidFlake returns the room of a generator whose ticks begin anywhere. Each ID adds a random increment
// of so many bits, half of whose range is the mean.
func roomOfUlidFlake(r shape.Recipe, s shape.Shape) room {
	const usual = 8 // bits of increments
	step := 1 << (cmp.Or(r.IncrementBits, usual) - 1)
	return room{1, s.Capacity() / 2 / step, s.Capacity()}
}

// roomOfSCRU160 returns the room of a generator whose ticks begin in the lower half of the counter, or at a
// random number of fewer bits. A counter of more bits than the generator keeps beside the timestamp starts with
// a clear bit in their midst.
func roomOfSCRU160(r shape.Recipe, s shape.Shape) room {
	const kept = 20 // bits of the counter
	start := s.Fields[s.Sequence].Bits - 1
	if r.StartBits != nil {
		start = *r.StartBits
	}
	most := 1 << min(s.Fields[s.Sequence].Bits, kept)
	begin := min(1<<min(start, kept), most/2)
	return room{most - begin + 1, most - begin/2, most}
}
