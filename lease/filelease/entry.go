package filelease

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/firn-id/firn/lease/driver"
)

// A file is a line and then the value, unchanged:
//
//	firn 1 <number> <checksum>\n
//
// 1 is the version of the format. The number is decimal, 1 for a new entry, and grows by one with
// each change. The checksum is the CRC-32C of key, \n, number, \n and value, in eight hexadecimal
// digits. With the key in the checksum, a file copied to another name, with the interval of another
// worker, is not a valid entry.
//
// The revision is number and checksum. An entry restored from a copy counts on from an old number.
// The checksum in the revision distinguishes new changes from the lost changes with the same
// numbers.
const (
	magic   = "firn "
	version = "1"
	maxHead = len(magic) + len(version) + 1 + 20 + 1 + 8 + 1
	maxFile = int64(maxHead + driver.MaxValue)
)

// entry is an entry with its number and its file.
type entry struct {
	driver.Entry
	number uint64
	info   fs.FileInfo // identifies the file
}

// encode returns the file of an entry and its revision.
func encode(key string, number uint64, value []byte) ([]byte, driver.Revision) {
	n := strconv.FormatUint(number, 10)
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum([]byte(key+"\n"+n+"\n"), table), table, value)
	b := make([]byte, 0, maxHead+len(value))
	b = fmt.Appendf(b, "%s%s %s %08x\n", magic, version, n, sum)
	return append(b, value...), driver.Revision(fmt.Sprintf("%s-%08x", n, sum))
}

// damaged returns the entry of a damaged file, with a revision for a Put. The last number of the
// entry is lost. The next number is random, and larger than any number in use. No revision comes
// back, even if the new entry is damaged too.
func damaged(key string, info fs.FileInfo) entry {
	rev := fmt.Sprintf("damaged-%d-%d", info.Size(), info.ModTime().UnixNano())
	return entry{Entry: driver.Entry{Key: key, Revision: driver.Revision(rev)}, number: 1<<62 + rand.Uint64N(1<<62), info: info}
}

// decode returns the entry of a file, or an error that is ErrVersion or ErrDamaged. It accepts
// exactly the output of encode.
func decode(key string, content []byte) (entry, error) {
	if len(content) == 0 {
		return entry{}, fmt.Errorf("%w: the file is empty", driver.ErrDamaged)
	}
	rest, ok := bytes.CutPrefix(content, []byte(magic))
	digits := bytes.TrimLeft(rest, "0123456789")
	v := string(rest[:len(rest)-len(digits)])
	if !ok || v == "" || v[0] == '0' || len(digits) == 0 || digits[0] != ' ' && digits[0] != '\n' {
		return entry{}, fmt.Errorf("%w: the file does not begin as an entry does", driver.ErrDamaged)
	}
	if v != version {
		return entry{}, fmt.Errorf("%w: format %.20s, where this one knows %s", driver.ErrVersion, v, version)
	}
	head, value, _ := bytes.Cut(digits, []byte("\n"))
	n, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte(" ")), []byte(" "))
	number, err := strconv.ParseUint(string(n), 10, 64)
	if err != nil || number == 0 || number == math.MaxUint64 { // no entry has counted so far
		return entry{}, fmt.Errorf("%w: the first line is not that of an entry", driver.ErrDamaged)
	}
	again, rev := encode(key, number, value)
	if !bytes.Equal(again, content) {
		return entry{}, fmt.Errorf("%w: the checksum is wrong, or another key's", driver.ErrDamaged)
	}
	return entry{Entry: driver.Entry{Key: key, Value: value, Revision: rev}, number: number}, nil
}
