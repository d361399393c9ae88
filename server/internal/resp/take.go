package resp

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"sync"
	"time"

	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// longestKey is the length of the longest key that a connection keeps with its generator.
const longestKey = 64

// find returns the generator for a key, if the token may take IDs of the generator.
func (c *conn) find(key []byte) (*supply.Source, error) {
	if c.source != nil && bytes.Equal(key, c.key) {
		return c.source, c.bearer.May(c.source.Name)
	}
	s, err := c.server.Set.ByKey(key)
	if err != nil {
		return nil, err
	}
	if len(key) <= longestKey {
		c.key, c.source = append(c.key[:0], key...), s
	}
	return s, c.bearer.May(s.Name)
}

// integers returns the generator for a key. The generator has IDs of 64 bits.
func (c *conn) integers(key []byte, command string) (*supply.Source, error) {
	s, err := c.find(key)
	if err == nil && !s.Integer() {
		err = reason.Form.New("an ID of generator %s (format %s) has %d bytes, and %s answers with integers of 8 bytes: use FIRN.NEXT", s.Name, s.Format.Name(), s.Size, command)
	}
	return s, err
}

// together is how many commands that are the same have their IDs made together.
const together = 256

// increment runs INCR. Commands behind it with the same bytes run together with it. text is the command.
func (c *conn) increment(key, text []byte) {
	w := c.work
	s, err := c.integers(key, "INCR")
	if err != nil {
		c.refuse(reason.Of(err))
		return
	}
	n := 1
	for next := w.in[w.from:w.to]; n < together && bytes.HasPrefix(next, text); n++ {
		next = next[len(text):]
	}
	if err := c.bearer.Take(s.Name, n); err != nil {
		if n > 1 { // perhaps the token may have a part
			n = 1
			err = c.bearer.Take(s.Name, n)
		}
		if err != nil {
			c.refuse(reason.Of(err))
			return
		}
	}
	w.from += (n - 1) * len(text)
	made, err := c.binary(s, w.ids[:0], n)
	w.ids = made
	for ; len(made) > 0; made = made[8:] {
		w.out = appendID(w.out, binary.BigEndian.Uint64(made), c.big)
		w.answers++
		n--
	}
	for range n { // the commands without an ID
		c.refuse(reason.Of(err))
	}
}

// binary appends the binary forms of n new IDs. When a generator has no IDs in time, the commands that came together with
// the command that has waited do not wait, too.
func (c *conn) binary(s *supply.Source, dst []byte, n int) ([]byte, error) {
	if c.failed == s {
		return dst, c.why
	}
	dst, err := s.AppendBinary(c.server.waiting, dst, n)
	if err != nil {
		err = c.remember(s, err)
	}
	return dst, err
}

// remember returns the reason of a generator's error. It keeps a reason that may be the end of a wait.
func (c *conn) remember(s *supply.Source, err error) error {
	why := c.reason(err)
	if why.Retry > 0 {
		c.failed, c.why = s, why
	}
	return why
}

func runIncr(c *conn, words [][]byte) error {
	return c.one(words[1], "INCR")
}

// one answers with one ID as an integer.
func (c *conn) one(key []byte, command string) error {
	w := c.work
	s, err := c.integers(key, command)
	if err != nil {
		return err
	}
	if err := c.bearer.Take(s.Name, 1); err != nil {
		return err
	}
	if w.ids, err = c.binary(s, w.ids[:0], 1); err != nil {
		return err
	}
	w.out = appendID(w.out, binary.BigEndian.Uint64(w.ids), c.big)
	return nil
}

func runIncrBy(c *conn, words [][]byte) error {
	switch n, err := strconv.ParseInt(string(words[2]), 10, 64); {
	case err != nil:
		return reason.Count.New("value is not an integer or out of range: the increment is 1")
	case n != 1:
		return reason.Count.New("INCRBY takes the increment 1: for more IDs use FIRN.NEXT key count, or FIRN.RUN key count for consecutive integers")
	}
	return c.one(words[1], "INCRBY")
}

// count reads a number of IDs.
func (c *conn) count(word []byte) (int, error) {
	n, err := strconv.ParseUint(string(word), 10, 32)
	if err != nil || n < 1 || n > uint64(c.server.MaxIDs) {
		const most = 40 // bytes of a word in an error
		return 0, reason.Count.New("count %q is no number from 1 to %d", word[:min(len(word), most)], c.server.MaxIDs)
	}
	return int(n), nil
}

// many returns the generator and the number of IDs that a command asks for, and takes them from the token's.
func (c *conn) many(words [][]byte) (s *supply.Source, n int, err error) {
	if s, err = c.find(words[1]); err != nil {
		return nil, 0, err
	}
	n = 1
	if len(words) > 2 {
		if n, err = c.count(words[2]); err != nil {
			return nil, 0, err
		}
	}
	return s, n, c.bearer.Take(s.Name, n)
}

func runNext(c *conn, words [][]byte) error {
	w := c.work
	s, n, err := c.many(words)
	if err != nil {
		return err
	}
	if c.failed == s {
		return c.why
	}
	text := s.Format.Descriptor().Text
	if err := c.grow(n * (text.Most + len("$99\r\n\r\n"))); err != nil {
		return err
	}
	if len(words) > 2 {
		w.out = appendHead(w.out, '*', n)
	}
	if text.Least == text.Most {
		w.out, err = s.AppendTexts(c.server.waiting, w.out, n, "$"+strconv.Itoa(text.Most)+"\r\n", "\r\n")
	} else {
		w.ids, err = s.AppendTexts(c.server.waiting, w.ids[:0], n, "", "\n")
		for line := range bytes.Lines(w.ids) {
			w.out = appendBulk(w.out, line[:len(line)-1])
		}
	}
	if err != nil {
		return c.remember(s, err)
	}
	return nil
}

func runRun(c *conn, words [][]byte) error {
	w := c.work
	s, err := c.find(words[1])
	if err != nil {
		return err
	}
	if !s.Runs() {
		return reason.Form.New("the IDs of generator %s (format %s) are no consecutive integers: use FIRN.NEXT", s.Name, s.Format.Name())
	}
	n, err := c.count(words[2])
	if err != nil {
		return err
	}
	n = min(n, supply.MaxRun)
	if err := c.bearer.Take(s.Name, n); err != nil {
		return err
	}
	if c.failed == s {
		return c.why
	}
	first, n, err := s.Run(c.server.waiting, n)
	if err != nil {
		return c.remember(s, err)
	}
	w.out = appendInt(appendID(appendHead(w.out, '*', 2), first, c.big), n)
	return nil
}

// maxLarge is how many large answers there are at a time. A client that reads slowly holds a large answer for as long as
// the client may take, so the number bounds the memory of the server.
const maxLarge = 32

var largeAnswers sync.Pool // of *[]byte

// grow makes room for an answer. A large answer waits for its turn.
func (c *conn) grow(n int) error {
	w := c.work
	const head = 32 // bytes around the IDs
	if n += head; len(w.out)+n <= keep || w.large {
		return nil
	}
	select {
	case c.server.large <- struct{}{}:
	default:
		patience := time.NewTimer(supply.DefaultWait)
		defer patience.Stop()
		select {
		case c.server.large <- struct{}{}:
		case <-patience.C:
			return reason.Busy.New("clients are slow to read %d large answers: ask again, or for fewer IDs at a time", maxLarge)
		case <-c.server.waiting.Done():
			return c.server.waiting.Err()
		}
	}
	w.large = true
	b, _ := largeAnswers.Get().(*[]byte)
	if b == nil || cap(*b) < len(w.out)+n {
		fresh := make([]byte, 0, len(w.out)+n)
		b = &fresh
	}
	w.small, w.out = w.out, append((*b)[:0], w.out...)
	return nil
}

// giveBack ends a large answer.
func (w *work) giveBack(s *Server) {
	b := w.out[:0]
	largeAnswers.Put(&b)
	w.out, w.small, w.large = w.small[:0], nil, false
	<-s.large
}
