package web

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// buffers are *[]byte for answers. Larger buffers are not kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const keptBuffer = 1 << 20

// ids answers with new IDs.
func (s *server) ids(w http.ResponseWriter, r *http.Request, b *access.Bearer) error {
	g, err := s.Set.Find(r.PathValue("name"))
	if err != nil {
		return err
	}
	if err := b.May(g.Name); err != nil {
		return err
	}
	o, err := readOrder(r.URL.RawQuery, s.MaxIDs)
	if err != nil {
		return err
	}
	m, err := choose(r.Header, asPacked)
	if err != nil {
		return err
	}
	switch {
	case m == asPacked && o.in:
		return reason.Form.New("as is for JSON and text: packed IDs are the binary form")
	case o.as == asInteger && !g.Integer():
		return reason.Form.New("IDs of %s have %d bits, which is no integer here: use as=hex or as=text", g.Format.Name(), 8*g.Size)
	}
	if err := b.Take(g.Name, o.n); err != nil {
		return err
	}
	if o.n > supply.MaxRun {
		if err := s.enterLarge(r); err != nil {
			return err
		}
		defer func() { <-s.large }()
	}
	room := buffers.Get().(*[]byte)
	defer func() {
		if cap(*room) <= keptBuffer {
			buffers.Put(room)
		}
	}()
	ids, err := g.AppendBinary(r.Context(), slices.Grow((*room)[:0], o.n*g.Size), o.n)
	*room = ids
	if err != nil {
		return err // the IDs before the error are IDs of nobody
	}
	idsHead(w, m)
	if m == asPacked {
		h := w.Header()
		h.Set("Firn-Generator", g.Name)
		h.Set("Firn-Format", g.Format.Name())
		h.Set("Firn-Width", strconv.Itoa(g.Size))
		h.Set("Firn-Byte-Order", "big-endian")
		h.Set("Firn-Count", strconv.Itoa(o.n))
		h.Set("Content-Length", strconv.Itoa(len(ids)))
		w.Write(ids)
		return nil
	}
	writeTexts(w, g, ids, o.as, m)
	return nil
}

// writeTexts answers with IDs in JSON or in text, piece by piece: the texts of many IDs are longer than their binary forms.
func writeTexts(w io.Writer, g *supply.Source, ids []byte, as form, m media) {
	room := buffers.Get().(*[]byte)
	defer buffers.Put(room)
	dst, before, after := (*room)[:0], "", "\n"
	if m == asJSON { // the names have no characters that JSON escapes
		dst = append(dst, `{"generator":"`+g.Name+`","format":"`+g.Format.Name()+`","ids":[`...)
		before, after = `"`, `",`
	}
	const piece = 32 << 10 // bytes
	write := g.Format.Descriptor().Writer()
	for ; len(ids) > 0; ids = ids[g.Size:] {
		dst = append(dst, before...)
		switch as {
		case asInteger:
			dst = strconv.AppendUint(dst, binary.BigEndian.Uint64(ids), 10)
		case asHex:
			dst = hex.AppendEncode(dst, ids[:g.Size])
		default:
			var err error
			if dst, err = write(dst, ids[:g.Size]); err != nil {
				panic(err) // a new ID has a text; the client gets a part of an answer, and sees that
			}
		}
		dst = append(dst, after...)
		if len(dst) >= piece && len(ids) > g.Size {
			if _, err := w.Write(dst); err != nil {
				return // the client has gone
			}
			dst = dst[:0]
		}
	}
	if m == asJSON {
		dst = append(dst[:len(dst)-1], "]}\n"...)
	}
	w.Write(dst)
	*room = dst
}

// largeMemory bounds the memory for large answers under way, in bytes. An answer that the client is slow to read keeps its
// memory until the last byte is in the buffers of the system.
const largeMemory = 64 << 20

// largeAnswers returns how many large answers may be under way.
func largeAnswers(most int) int {
	const widest = 20 // bytes of an ID
	return max(largeMemory/(widest*most), 2)
}

// enterLarge waits until another large answer may begin.
func (s *server) enterLarge(r *http.Request) error {
	t := time.NewTimer(supply.DefaultWait)
	defer t.Stop()
	select {
	case s.large <- struct{}{}:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	case <-t.C:
		return reason.Busy.New("%d requests for more than %d IDs are under way, as many as the server's memory allows", cap(s.large), supply.MaxRun)
	}
}
