package sno_test

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/sno"
)

// What follows are the examples of the published documentation of the format, as a
// program outside the package has them.

func TestTextNew(t *testing.T) {
	id := sno.New(0)
	if id.IsZero() || id.Meta() != 0 || time.Since(id.Time()).Abs() > time.Hour {
		t.Errorf("%v: meta %d, time %v", id, id.Meta(), id.Time())
	}
	if other := sno.New(1); other == id || other.Meta() != 1 || other.Partition() != id.Partition() {
		t.Errorf("%v after %v", other, id)
	}
	now := time.Now()
	if id := sno.NewWithTime(255, now); id.Meta() != 255 || id.Time() != now.UTC().Round(0).Truncate(sno.TimeUnit) {
		t.Errorf("NewWithTime(%v) is of %v", now, id.Time())
	}
}

func TestTextPartition(t *testing.T) {
	generator, err := sno.NewGenerator(&sno.GeneratorSnapshot{
		Partition: sno.Partition{'A', 10},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := generator.New(0).Partition(); p != (sno.Partition{'A', 10}) || p != generator.Partition() {
		t.Errorf("partition %v", p)
	}

	var p sno.Partition
	p.PutUint16(65535)
	if p != (sno.Partition{255, 255}) || p.AsUint16() != sno.MaxPartition {
		t.Errorf("PutUint16(65535) = %v", p)
	}
	p.PutUint16(0x0102)
	if p != (sno.Partition{1, 2}) {
		t.Errorf("PutUint16(0x0102) = %v", p)
	}
}

var PeoplePartition = sno.Partition{'P', 0}

func TestTextSharding(t *testing.T) {
	generator1, err := sno.NewGenerator(&sno.GeneratorSnapshot{
		Partition:   PeoplePartition,
		SequenceMin: 0,
		SequenceMax: 32767, // 32768 - 1
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	generator2, err := sno.NewGenerator(&sno.GeneratorSnapshot{
		Partition:   PeoplePartition,
		SequenceMin: 32768,
		SequenceMax: 65535, // 65536 - 1
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id := generator1.New(0); id.Sequence() > 32767 || id.Partition() != PeoplePartition {
		t.Errorf("first shard: %d", id.Sequence())
	}
	if id := generator2.New(0); id.Sequence() < 32768 || id.Partition() != PeoplePartition {
		t.Errorf("second shard: %d", id.Sequence())
	}
	// "SequenceMin could be omitted in the first and SequenceMax in the second."
	upper, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: PeoplePartition, SequenceMin: 32768}, nil)
	if err != nil || upper.SequenceMin() != 32768 || upper.SequenceMax() != 65535 {
		t.Errorf("%v: from %d to %d", err, upper.SequenceMin(), upper.SequenceMax())
	}
}

func TestTextSnapshot(t *testing.T) {
	generator, err := sno.NewGenerator(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := generator.New(0)
	s := generator.Snapshot()
	restored, err := sno.NewGenerator(&s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id := restored.New(0); id.Compare(last) <= 0 || id.Partition() != generator.Partition() {
		t.Errorf("%v after %v", id, last)
	}
}

var requestIDGenerator, _ = sno.NewGenerator(&sno.GeneratorSnapshot{
	SequenceMax: 32767,
}, nil)

type Service byte
type Call byte

const (
	UsersSvc   Service = 1
	UserList   Call    = 1
	UserCreate Call    = 2
	UserDelete Call    = 3
)

func genRequestID(svc Service, methodID Call) sno.ID {
	id := requestIDGenerator.New(byte(svc))
	// Overwrites the upper byte of the fixed partition.
	// In our case - we didn't define it but gave a non-nil snapshot, so it is {0, 0}.
	id[6] = byte(methodID)

	return id
}

func TestTextRequestID(t *testing.T) {
	for _, call := range []Call{UserList, UserCreate, UserDelete} {
		id := genRequestID(UsersSvc, call)
		if id.Meta() != 1 || id.Partition() != (sno.Partition{byte(call), 0}) || id.Sequence() > 32767 {
			t.Errorf("%v: meta %d, partition %v", id, id.Meta(), id.Partition())
		}
	}
}

const (
	PersonType = iota
	CompanyType
)

type Person struct {
	ID   sno.ID
	Name string
}

func TestTextMetabyte(t *testing.T) {
	person := Person{
		ID:   sno.New(PersonType),
		Name: "A Special Snöflinga",
	}
	if person.ID.Meta() != PersonType {
		t.Errorf("meta %d", person.ID.Meta())
	}
	data, err := json.Marshal(person)
	if err != nil || !bytes.Contains(data, []byte(`"`+person.ID.String()+`"`)) {
		t.Errorf("%s, %v", data, err)
	}
	// "Take the ID of the last version created, increment its metabyte."
	version := person.ID
	version[5]++
	if version.Meta() != CompanyType || version.Compare(person.ID) != 1 || version.Timestamp() != person.ID.Timestamp() {
		t.Errorf("%v after %v", version, person.ID)
	}
	// "Take a JSON of {id: "aaaaaaaa55aaaaaa"}: the characters 8 and 9 are the metabyte."
	id, err := sno.FromEncodedString("aaaaaaaa55aaaaaa")
	meta, err2 := sno.EncodedMeta("aaaaaaaa55aaaaaa")
	if err != nil || err2 != nil || id.Meta() != meta || meta != 3<<3|3>>2 {
		t.Errorf("metabyte %d of the ID, %d of the text; %v, %v", id.Meta(), meta, err, err2)
	}
}

func TestTextZero(t *testing.T) {
	id := sno.ID{}
	if id != sno.Zero() || id != (sno.ID{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) || !id.IsZero() || !sno.Zero().IsZero() {
		t.Errorf("zero is %v", sno.Zero())
	}
	if sno.New(0).IsZero() {
		t.Error("a new ID is zero")
	}
}

func TestTextCompare(t *testing.T) {
	thisID, thatID := sno.ID{1}, sno.ID{2}
	if thisID.Compare(thatID) != -1 || thatID.Compare(thisID) != 1 || thisID.Compare(thisID) != 0 {
		t.Error("Compare")
	}
	if thisID == thatID {
		t.Error("equal")
	}
}

// stringedID wraps a sno ID to provide a driver.Valuer implementation which
// returns strings.
type stringedID sno.ID

func (id stringedID) Value() (driver.Value, error) {
	return sno.ID(id).String(), nil
}

func TestTextValuer(t *testing.T) {
	id := sno.New(0)
	exec := driver.DefaultParameterConverter // as db.Exec converts its arguments
	if v, err := exec.ConvertValue(stringedID(id)); err != nil || v != id.String() {
		t.Errorf("stringed: %v, %v", v, err)
	}
	if v, err := exec.ConvertValue(id); err != nil || !bytes.Equal(v.([]byte), id[:]) {
		t.Errorf("as it is: %v, %v", v, err)
	}
}

func TestTextSpareAndOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		generator, err := sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMin: 5, SequenceMax: 8}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for want := 4; want >= 0; want-- {
			spare := generator.Cap() - generator.Len()
			if spare != want {
				t.Errorf("spare is %d, want %d", spare, want)
			}
			if want > 0 {
				generator.New(0)
			}
		}
		var done atomic.Int32
		for range 3 {
			go func() { generator.New(0); done.Add(1) }()
		}
		synctest.Wait()
		overflow := int(uint32(generator.SequenceMax()) - generator.Sequence())
		if int32(overflow) != -3 { // the text subtracts unsigned numbers
			t.Errorf("overflow is %d", int32(overflow))
		}
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		if done.Load() != 3 {
			t.Errorf("%d of 3 were served", done.Load())
		}
	})
}

// The constants are untyped, as code that uses the documented package relies on.
func TestTextConstants(t *testing.T) {
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
