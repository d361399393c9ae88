package facts

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/vectors"
	"github.com/firn-id/firn/snowflakesi"
)

// values checks the vectors of a format.
func (t *tester) values(_ context.Context, f *shape.Format) (int, error) {
	all, err := vectors.Read(t.files, f.Name)
	if err != nil {
		return 0, err
	}
	for i, v := range all {
		if err := checkValue(f, v); err != nil {
			return i, fmt.Errorf("vector %d: %w", i+1, err)
		}
	}
	return len(all), nil
}

// A form is a way to read an ID, and a text in this form.
type form struct {
	name, text string
	read       func(string) ([]byte, error)
}

// checkValue checks the forms, the time and the fields of a vector.
func checkValue(f *shape.Format, v vectors.Value) error {
	var id []byte
	for _, r := range []form{{"text", v.Text, f.Parse}, {"decimal", v.Decimal, f.Decimal}, {"hex", v.Hex, f.Hex}, {"base36", v.Base36, f.Base36}} {
		if r.text == "" || r.read == nil {
			continue
		}
		got, err := r.read(r.text)
		if err != nil {
			return err
		}
		if id != nil && !bytes.Equal(got, id) {
			return fmt.Errorf("the %s %s reads as %x, and not as %x", r.name, r.text, got, id)
		}
		id = got
	}
	if id == nil {
		return errors.New("has no form that the format reads")
	}
	if err := checkForms(f, v, id); err != nil {
		return err
	}
	return checkFields(f, v, id)
}

// checkForms writes an ID in each form, and reads the text.
func checkForms(f *shape.Format, v vectors.Value, id []byte) error {
	text, err := f.AppendText(nil, id)
	if err != nil {
		return err
	}
	if want := v.Text; want != "" && string(text) != want {
		return fmt.Errorf("the text is %s, not %s", text, want)
	}
	if want := v.Base36; want != "" && strings.TrimLeft(string(text), "0") != strings.TrimLeft(want, "0") {
		return fmt.Errorf("the text is %s, and has the digits %s", text, want)
	}
	if want := v.Hex; want != "" && hex.EncodeToString(id) != want {
		return fmt.Errorf("the hex is %x, not %s", id, want)
	}
	if want := v.Decimal; want != "" && new(big.Int).SetBytes(id).String() != want {
		return fmt.Errorf("the decimal is %v, not %s", new(big.Int).SetBytes(id), want)
	}
	again, err := f.Parse(string(text))
	if err != nil {
		return err
	}
	if !bytes.Equal(again, id) {
		return fmt.Errorf("the text %s reads as %x, and not as %x", text, again, id)
	}
	return nil
}

// checkFields checks the time and the fields of an ID.
func checkFields(f *shape.Format, v vectors.Value, id []byte) error {
	s, err := f.Of(settingsOf(v))
	if err != nil {
		return err
	}
	if got := s.Time(id); !v.Time.IsZero() && !got.Equal(v.Time) {
		return fmt.Errorf("the time of %x is %s, not %s", id, got.Format(time.RFC3339Nano), v.Time.Format(time.RFC3339Nano))
	}
	for _, field := range s.Fields {
		all := new(big.Int).Rsh(new(big.Int).SetBytes(id), uint(field.Shift))
		got := all.And(all, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(field.Bits)), big.NewInt(1))).String()
		if want := v.Fields[field.Name]; want != "" && got != want {
			return fmt.Errorf("the %s of %x is %s, not %s", field.Name, id, got, want)
		}
	}
	return nil
}

// settingsOf returns the settings of a vector.
func settingsOf(v vectors.Value) (set shape.Settings) {
	if v.Epoch != nil {
		set.Epoch = *v.Epoch
	}
	if v.ClockBits != nil {
		set.ClockBits = *v.ClockBits
	}
	if v.MachineBits != nil {
		set.MachineBits = *v.MachineBits
		if set.MachineBits == 0 {
			set.MachineBits = snowflakesi.NoMachineBits
		}
	}
	return set
}

// kinds are the errors that vectors name.
var kinds = map[string]error{
	"length": iderr.ErrLength, "character": iderr.ErrCharacter, "range": iderr.ErrRange, "type": iderr.ErrType, "no ID": iderr.ErrNoID,
}

// rejects checks that the format refuses the texts that are no IDs. Vectors in forms that programs alone read
// do not count.
func (t *tester) rejects(_ context.Context, f *shape.Format) (cases int, err error) {
	all, err := vectors.ReadRejects(t.files, f.Name)
	if err != nil {
		return 0, err
	}
	readers := map[string]func(string) ([]byte, error){"text": f.Parse, "decimal": f.Decimal, "hex": f.Hex, "base36": f.Base36}
	for _, r := range all {
		read := readers[r.Form]
		if read == nil {
			continue
		}
		cases++
		text, err := r.Text()
		if err != nil {
			return cases, err
		}
		id, err := read(text)
		switch want := kinds[r.Error]; {
		case err == nil:
			return cases, fmt.Errorf("%s: the %s %.80q reads as %x", r.Why, r.Form, text, id)
		case !errors.Is(err, want):
			return cases, fmt.Errorf("%s: the error is not %q: %w", r.Why, want, err)
		}
	}
	return cases, nil
}
