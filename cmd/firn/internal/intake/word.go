package intake

import (
	"bytes"
	"strings"

	"github.com/firn-id/firn/inspect"
)

// longestWord is the length of the longest word that can be an ID: hex of 20 bytes behind 0x.
const longestWord = 42

// isWord has the bytes of words.
var isWord = func() (all [256]bool) {
	for _, c := range []byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
		all[c] = true
	}
	return all
}()

// nextWord returns the next word that is an ID. A word is letters and digits between other bytes.
func (r *Reader) nextWord() (id []byte, line int64, err error) {
	for {
		text, err := r.word()
		if err != nil {
			return nil, r.line + 1, err
		}
		if id, ok := r.parseWord(text); ok && r.plausible(id) {
			return id, r.line + 1, nil
		}
	}
}

// word returns the next word of up to longestWord bytes, and passes over longer ones.
func (r *Reader) word() ([]byte, error) {
	for {
		i := r.start
		for i < r.end && !isWord[r.buf[i]] {
			if r.buf[i] == '\n' {
				r.line++
			}
			i++
			r.inWord = false
		}
		r.start = i
		for i < r.end && isWord[r.buf[i]] {
			i++
		}
		switch n := i - r.start; {
		case i < r.end || r.err != nil && n > 0: // a whole word
			text := r.buf[r.start:i]
			r.start = i
			if long := r.inWord || n > longestWord; !long {
				return text, nil
			}
			r.inWord = false
		case r.err != nil:
			return nil, r.err
		case n > longestWord:
			r.inWord, r.start = true, i
			r.fill()
		default:
			r.fill()
		}
	}
}

// parseWord reads a word as a text, or in the form of the source.
func (r *Reader) parseWord(text []byte) (id []byte, ok bool) {
	form := r.of.Form
	if r.of.Detect {
		form = inspect.Text
	}
	if form == inspect.Hex {
		text = bytes.TrimPrefix(bytes.TrimPrefix(text, []byte("0x")), []byte("0X"))
	}
	switch d := r.of.Format.Descriptor(); {
	case form == inspect.Text && (len(text) < d.Text.Least || len(text) > d.Text.Most) && !(d.Text.HexToo && len(text) == 2*d.Size):
		return nil, false
	case form == inspect.Text && strings.IndexByte(d.Text.Digits, text[0]) < 0 && !d.Text.AnyCase:
		return nil, false // errors take time
	}
	id, err := r.ids.AppendReadAs(r.id[:0], text, form)
	return id, err == nil
}

// plausible reports whether an ID's time says that the word was meant as an ID.
func (r *Reader) plausible(id []byte) bool {
	t := r.of.Shape.Time(id)
	return !t.Before(r.first) && !t.After(r.last) && !r.ids.Young(id)
}
