package stats

import (
	"encoding/xml"
	"fmt"
	"io"
)

// A drawing writes elements of SVG. The encoder escapes texts, and keeps the first error of a write.
type drawing struct{ out *xml.Encoder }

func newDrawing(w io.Writer) drawing {
	d := drawing{xml.NewEncoder(w)}
	d.out.Indent("", " ")
	return d
}

// begin begins an element. attributes are names and values by turns.
func (d drawing) begin(name string, attributes ...any) {
	start := xml.StartElement{Name: xml.Name{Local: name}}
	for i := 0; i < len(attributes); i += 2 {
		start.Attr = append(start.Attr, xml.Attr{Name: xml.Name{Local: attributes[i].(string)}, Value: fmt.Sprint(attributes[i+1])})
	}
	d.out.EncodeToken(start)
}

// end ends the element that began last.
func (d drawing) end(name string) { d.out.EncodeToken(xml.EndElement{Name: xml.Name{Local: name}}) }

// text writes an element that has a text.
func (d drawing) text(name, text string, attributes ...any) {
	d.begin(name, attributes...)
	d.out.EncodeToken(xml.CharData(text))
	d.end(name)
}

// words writes a text that begins at a point.
func (d drawing) words(x, y int, text, class string) {
	d.text("text", text, "x", x, "y", y, "class", class)
}

// line draws a line.
func (d drawing) line(x1, y1, x2, y2 int, class string) {
	d.begin("line", "x1", x1, "y1", y1, "x2", x2, "y2", y2, "class", class)
	d.end("line")
}

// box draws a rectangle. With a mouse on it, viewers show the text.
func (d drawing) box(x, y, width, height int, class, text string) {
	d.begin("rect", "x", x, "y", y, "width", width, "height", height, "class", class)
	if text != "" {
		d.text("title", text)
	}
	d.end("rect")
}
