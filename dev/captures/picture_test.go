//go:build unix

package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestPicture: the picture has the text of the screen in its colours, and is well-formed.
func TestPicture(t *testing.T) {
	s := newScreen(40)
	if err := s.run(exec.Command("printf", `a \033[36m<cyan>\033[0m\n\n  \033[1;7mbold\033[0m \033[38;5;208morange\033[0m`), ""); err != nil {
		t.Fatal(err)
	}
	picture := s.draw("a <cyan> & b")
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, picture)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "text" {
			fill := ink
			for _, a := range e.Attr {
				if a.Name.Local == "fill" {
					fill = a.Value
				}
			}
			var text string
			if err := d.DecodeElement(&text, &e); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, fill+" "+text)
		}
	}
	if got, want := strings.Join(texts, "\n"), faint+" a <cyan> & b\n"+ink+" a\n"+palette[6]+" <cyan>\n"+paper+" bold\n#ff8700 orange"; got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}
