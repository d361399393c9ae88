package web

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// An outlet is a generator with what its answers have in common.
type outlet struct {
	*supply.Source
	open   []byte              // JSON up to the first ID
	packed map[string][]string // headers of packed IDs
}

func newOutlet(g *supply.Source) *outlet {
	open := object(map[string]string{"generator": g.Name})
	open = append(open[:len(open)-len("}\n")], `,"format":"`+g.Format.Name()+`","ids":[`...)
	return &outlet{g, open, map[string][]string{
		"Firn-Generator":  {g.Name},
		"Firn-Format":     {g.Format.Name()},
		"Firn-Width":      {strconv.Itoa(g.Size)},
		"Firn-Byte-Order": {"big-endian"},
	}}
}

// buffers are *[]byte for answers. Larger buffers are not kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const keptBuffer = 1 << 20

// ids answers with new IDs.
func (s *server) ids(w http.ResponseWriter, r *http.Request, b *access.Bearer) error {
	g := s.named(r)
	if g == nil {
		_, err := s.Set.Find(r.PathValue("name"))
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
	if err := g.takes(o, m); err != nil {
		return err
	}
	if err := b.Take(g.Name, o.n); err != nil {
		return err
	}
	if o.n > supply.MaxRun {
		if err := s.enterLarge(r); err != nil {
			return err
		}
		defer s.leaveLarge()
	}
	room := buffers.Get().(*[]byte)
	defer func() {
		if cap(*room) <= keptBuffer {
			buffers.Put(room)
		}
	}()
	if m != asPacked && o.as == asCanonical && o.n <= supply.MaxRun {
		return g.texts(w, r, o.n, m, room)
	}
	ids, err := g.AppendBinary(r.Context(), slices.Grow((*room)[:0], o.n*g.Size), o.n)
	*room = ids
	if err != nil {
		return err // the IDs before the error are IDs of nobody
	}
	if m == asPacked {
		h := idsHead(w, m)
		maps.Copy(h, g.packed)
		h["Firn-Count"] = []string{strconv.Itoa(o.n)}
		h["Content-Length"] = []string{strconv.Itoa(len(ids))}
		w.Write(ids)
		return nil
	}
	return g.many(w, ids, o.as, m)
}

// takes returns an error for a form or a type that the generator's IDs do not have.
func (g *outlet) takes(o order, m media) error {
	switch {
	case m == asPacked && o.in:
		return reason.Form.New("as is for JSON and text: packed IDs are the binary form")
	case o.as == asInteger && !g.Integer():
		return reason.Form.New("IDs of %s have %d bits, which is no integer here: use as=hex or as=text", g.Format.Name(), 8*g.Size)
	}
	return nil
}

// texts answers with the texts of at most supply.MaxRun new IDs.
func (g *outlet) texts(w http.ResponseWriter, r *http.Request, n int, m media, room *[]byte) (err error) {
	dst := (*room)[:0]
	if m == asText {
		dst, err = g.AppendTexts(r.Context(), dst, n, "", "\n")
	} else {
		dst, err = g.AppendTexts(r.Context(), append(dst, g.open...), n, `"`, `",`)
	}
	*room = dst
	if err != nil {
		return err
	}
	if m == asJSON {
		dst = append(dst[:len(dst)-1], "]}\n"...)
		*room = dst
	}
	h := idsHead(w, m)
	if len(dst) > 1<<11 { // net/http counts the bytes of shorter answers
		h["Content-Length"] = []string{strconv.Itoa(len(dst))}
	}
	w.Write(dst)
	return nil
}

// many answers with IDs that are made already, piece by piece: the texts of many IDs are longer than their binary forms.
func (g *outlet) many(w http.ResponseWriter, ids []byte, as form, m media) error {
	room := buffers.Get().(*[]byte)
	defer buffers.Put(room)
	idsHead(w, m)
	dst, before, after := (*room)[:0], "", "\n"
	if m == asJSON {
		dst, before, after = append(dst, g.open...), `"`, `",`
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
				return nil // the client has gone
			}
			dst = dst[:0]
		}
	}
	if m == asJSON {
		dst = append(dst[:len(dst)-1], "]}\n"...)
	}
	w.Write(dst)
	*room = dst
	return nil
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
	select {
	case s.large <- struct{}{}:
		return nil
	default:
	}
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

func (s *server) leaveLarge() { <-s.large }
