package sno_test

import (
	"database/sql/driver"
	"testing"
	"time"

	"github.com/firn-id/firn/sno"
)

// All names of the published documentation, with the signatures and the fields. A difference is an error
// of the compiler.
var (
	_ func([]sno.ID) = sno.Sort

	_ func(*sno.GeneratorSnapshot, chan<- *sno.SequenceOverflowNotification) (*sno.Generator, error) = sno.NewGenerator

	_ func(*sno.Generator) int                      = (*sno.Generator).Cap
	_ func(*sno.Generator) int                      = (*sno.Generator).Len
	_ func(*sno.Generator, byte) sno.ID             = (*sno.Generator).New
	_ func(*sno.Generator, byte, time.Time) sno.ID  = (*sno.Generator).NewWithTime
	_ func(*sno.Generator) sno.Partition            = (*sno.Generator).Partition
	_ func(*sno.Generator) uint32                   = (*sno.Generator).Sequence
	_ func(*sno.Generator) uint16                   = (*sno.Generator).SequenceMax
	_ func(*sno.Generator) uint16                   = (*sno.Generator).SequenceMin
	_ func(*sno.Generator) sno.GeneratorSnapshot    = (*sno.Generator).Snapshot
	_ func([]byte) (sno.ID, error)                  = sno.FromBinaryBytes
	_ func([]byte) (sno.ID, error)                  = sno.FromEncodedBytes
	_ func(string) (sno.ID, error)                  = sno.FromEncodedString
	_ func(byte) sno.ID                             = sno.New
	_ func(byte, time.Time) sno.ID                  = sno.NewWithTime
	_ func() sno.ID                                 = sno.Zero
	_ func(sno.ID) []byte                           = sno.ID.Bytes
	_ func(sno.ID, sno.ID) int                      = sno.ID.Compare
	_ func(sno.ID) bool                             = sno.ID.IsZero
	_ func(sno.ID) ([]byte, error)                  = sno.ID.MarshalBinary
	_ func(sno.ID) ([]byte, error)                  = sno.ID.MarshalJSON
	_ func(sno.ID) ([]byte, error)                  = sno.ID.MarshalText
	_ func(sno.ID) byte                             = sno.ID.Meta
	_ func(sno.ID) sno.Partition                    = sno.ID.Partition
	_ func(*sno.ID, any) error                      = (*sno.ID).Scan
	_ func(sno.ID) uint16                           = sno.ID.Sequence
	_ func(sno.ID) string                           = sno.ID.String
	_ func(sno.ID) time.Time                        = sno.ID.Time
	_ func(sno.ID) int64                            = sno.ID.Timestamp
	_ func(*sno.ID, []byte) error                   = (*sno.ID).UnmarshalBinary
	_ func(*sno.ID, []byte) error                   = (*sno.ID).UnmarshalJSON
	_ func(*sno.ID, []byte) error                   = (*sno.ID).UnmarshalText
	_ func(sno.ID) (driver.Value, error)            = sno.ID.Value
	_ func(*sno.InvalidDataSizeError) string        = (*sno.InvalidDataSizeError).Error
	_ func(*sno.InvalidSequenceBoundsError) string  = (*sno.InvalidSequenceBoundsError).Error
	_ func(*sno.InvalidTypeError) string            = (*sno.InvalidTypeError).Error
	_ func(*sno.PartitionPoolExhaustedError) string = (*sno.PartitionPoolExhaustedError).Error
	_ func(sno.Partition) uint16                    = sno.Partition.AsUint16
	_ func(*sno.Partition, uint16)                  = (*sno.Partition).PutUint16
	_ [10]byte                                      = sno.ID{}
	_ [2]byte                                       = sno.Partition{}
	_ chan<- *sno.SequenceOverflowNotification      = (chan *sno.SequenceOverflowNotification)(nil)

	_ = struct {
		Now   time.Time
		Count uint32
		Ticks uint32
	}(sno.SequenceOverflowNotification{})
	_ = struct {
		Cur uint32
		Min uint16
		Max uint16
		Msg string
	}(sno.InvalidSequenceBoundsError{})
	_ = struct{ Size int }(sno.InvalidDataSizeError{})
	_ = struct{ Value any }(sno.InvalidTypeError{})
	_ = struct{}(sno.PartitionPoolExhaustedError{})

	// TestRestoreOfReplacedPackage has the names of the fields in JSON.
	_ = func(s *sno.GeneratorSnapshot) (_ *sno.Partition, _, _ *uint16, _ *uint32, _, _, _ *int64, _ *uint32) {
		return &s.Partition, &s.SequenceMin, &s.SequenceMax, &s.Sequence, &s.Now, &s.WallHi, &s.WallSafe, &s.Drifts
	}
)

// The constants are untyped, as code that uses the documented package relies on.
func TestConstants(t *testing.T) {
	var (
		binary   [sno.SizeBinary]byte
		encoded  [sno.SizeEncoded]byte
		epoch    int64         = sno.Epoch
		duration time.Duration = sno.TimeUnit
		integer  int64         = sno.TimeUnit
		float    float64       = sno.TimeUnit
		stamp    int64         = sno.MaxTimestamp
		last     uint64        = sno.MaxTimestamp
		p        uint16        = sno.MaxPartition
		seq      uint16        = sno.MaxSequence
		wider    uint32        = sno.MaxSequence + 1
	)
	if len(binary) != 10 || len(encoded) != 16 || epoch != time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).Unix() ||
		duration != 4*time.Millisecond || integer != 4_000_000 || float != 4e6 ||
		stamp != 549_755_813_887 || last != 1<<39-1 || p != 65535 || seq != 65535 || wider != 65536 {
		t.Error("a constant has another value")
	}
	end := time.Unix(sno.Epoch, 0).Add(0).UnixNano() + sno.MaxTimestamp*sno.TimeUnit
	if got := time.Unix(0, end).UTC().Format("2006-01-02 15:04:05.000"); got != "2079-09-07 15:47:35.548" {
		t.Errorf("timestamps end at %s", got)
	}
}
