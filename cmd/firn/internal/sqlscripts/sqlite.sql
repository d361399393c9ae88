{{- /* The expressions of SQLite. == begins an expression, and RETURNS has the type of its generated column; the next line
is its comment, and the rest its text. */ -}}

{{define "up" -}}
-- Generated columns and expressions for SQLite 3.41 or later. Printed by firn sql sqlite, version {{version}}.
{{.Settings}}--
-- The column {{identifier .Column}} holds the IDs: integers, or the bytes of scru160 and sno. In the expressions, :at is
-- an instant in Unix milliseconds, such as unixepoch('2026-07-01') * 1000, and :text is the text of an
-- ID. A value that is not an ID gives NULL. A range of times uses the index on the column:
--
--   WHERE {{identifier .Column}} BETWEEN (expression first) AND (expression last)
{{range .Keys}}
-- {{.Name}}
{{$all := functions "format" . -}}
{{if $.Table -}}
--
-- A second run changes nothing: SQLite refuses a column that exists.

{{range $all}}{{if .Returns -}}
ALTER TABLE {{identifier $.Table}} ADD COLUMN {{identifier $.Column "_" .Head}} {{.Returns}} GENERATED ALWAYS AS ({{.Body}}) VIRTUAL;
{{end}}{{end -}}
CREATE INDEX IF NOT EXISTS {{identifier $.Table "_" $.Column "_time"}} ON {{identifier $.Table}}({{identifier $.Column "_time"}});

-- Expressions
{{end}}
{{- range $all -}}
--
-- {{.Head}}: {{.Comment}}
--   {{indent .Body}}
{{end}}{{end}}{{end}}

{{define "down" -}}
-- Removes the generated columns of firn sql sqlite, version {{version}}.

DROP INDEX IF EXISTS {{identifier .Table "_" .Column "_time"}};
{{range .Keys}}{{range backward "format" .}}{{if .Returns -}}
ALTER TABLE {{identifier $.Table}} DROP COLUMN {{identifier $.Column "_" .Head}};
{{end}}{{end}}{{end}}{{end}}

{{define "valid"}}CASE WHEN typeof({{.ID}}) = {{if .Integer}}'integer' AND {{.ID}} BETWEEN 0 AND {{.Most}}
{{- else}}'blob' AND length({{.ID}}) = {{.Size}}{{end}} THEN{{end}}

{{- /* The column time has the form of SQLite's own functions: texts of times compare by their characters. */ -}}
{{define "format"}}
{{- $timestamp := index .Fields 0}}
== time RETURNS TEXT
the time of the ID in UTC, as datetime(..., 'subsec') writes it, NULL after the year 9999
{{template "valid" .}} datetime({{template "seconds" $timestamp}}, 'unixepoch') || printf('.%03d', {{template "millis" $timestamp}}) END

== unix_ms RETURNS INTEGER
the time of the ID in Unix milliseconds
{{template "valid" .}} {{template "ms" $timestamp}} END

== timestamp
the timestamp of the ID
{{template "valid" .}} {{template "field" $timestamp}} END
{{range slice .Fields 1}}
== {{.Name}} RETURNS {{if gt .Bits 63}}TEXT
the {{.Words}} of the ID in hexadecimal
{{template "valid" $}} lower(substr(hex({{$.ID}}), {{add 1 (mul 2 .Start)}})) END
{{- else}}INTEGER
the {{.Words}} of the ID
{{template "valid" $}} {{template "field" .}} END
{{- end}}
{{end}}
{{template "text" .}}
{{- $at := "CASE WHEN typeof(:at) IN ('integer', 'real') THEN"}}
== first
the smallest ID of the {{.UnitName}} of :at
{{$at}} {{if .Integer}}{{template "tick" .}} << {{.TimeShift}}
{{- else}}unhex(printf('%0{{.HeadDigits}}x', {{template "tick" .}}{{if .Pad}} * {{add .PadMask 1}}{{end}}) || '{{repeat "00" .Tail}}'){{end}} END

== last
the largest ID of the {{.UnitName}} of :at
{{$at}} {{if .Integer}}{{template "tick" .}} << {{.TimeShift}} | {{.Rest}}
{{- else}}unhex(printf('%0{{.HeadDigits}}x', {{template "tick" .}}{{if .Pad}} * {{add .PadMask 1}} + {{.PadMask}}{{end}}) || '{{repeat "ff" .Tail}}'){{end}} END
{{end}}

{{- /* Drivers of JavaScript bind each number as a real. */ -}}
{{define "tick"}}(min(max(CAST(round(:at) AS INTEGER), {{.Shape.Epoch}}), {{add .Shape.Epoch .LastMilli}}) - {{.Shape.Epoch}})
{{- if not .Integer}}{{if gt .Unit 1}} / {{.Unit}}{{end}}{{end}}{{end}}

{{define "field"}}
{{- if .Key.Integer}}({{.Key.ID}} >> {{.Shift}} & {{.Mask}})
{{- else}}(({{range $i, $n := .Nibbles}}{{if $i}} + {{end}}({{template "hex digit" .}} << {{.Shift}}){{end}}) >> {{.Over}} & {{.Mask}})
{{- end}}{{end}}

{{- /* The digit 0 is not in the text, where instr returns 0. */ -}}
{{define "hex digit"}}instr('123456789ABCDEF', substr(hex({{.ID}}), {{.Place}}, 1)){{end}}
{{define "next hex digit"}}instr('123456789ABCDEF', substr(hex({{.ID}}), {{add .Place 1}}, 1)){{end}}

{{- /* % has the sign of the time, and the epoch may be before 1970. */ -}}
{{define "ms"}}({{template "field" .}}{{if gt .Key.Unit 1}} * {{.Key.Unit}}{{end}} + {{.Key.Shape.Epoch}}){{end}}
{{define "millis"}}{{if lt .Key.Shape.Epoch 0}}({{end}}{{template "ms" .}} % 1000{{if lt .Key.Shape.Epoch 0}} + 1000) % 1000{{end}}{{end}}
{{define "seconds"}}{{if lt .Key.Shape.Epoch 0}}({{template "ms" .}} - {{template "millis" .}}){{else}}{{template "ms" .}}{{end}} / 1000{{end}}

{{define "text"}}
== text RETURNS TEXT
the canonical text of the ID
{{template "valid" .}} {{if eq .Base 10}}CAST({{.ID}} AS TEXT)
{{- else if .Integer}}{{range $i, $c := .Characters}}{{if $i}}
 || {{end}}substr('{{.Text.Digits}}', {{if eq .Base 36}}{{.ID}} / {{.Power}} % 36{{else}}({{.ID}} >> {{.Shift}} & 31){{end}} + 1, 1){{end}}
{{- else}}{{range $i, $c := .DigitsOfBytes}}{{if $i}}
 || {{end}}substr('{{.Text.Digits}}', (({{template "hex digit" .}} << 4 | {{template "next hex digit" .}}) >> {{.Shift}} & 31) + 1, 1){{end}}
{{- end}} END

== parse
the ID of :text
CASE WHEN typeof(:text) = 'text' AND {{if eq .Base 10 -}}
  length(:text) BETWEEN {{.Text.Least}} AND {{.Text.Most}} AND length(CAST(:text AS BLOB)) = length(:text) AND :text NOT GLOB '*[^{{ranges .Letters}}]*'
  {{- ""}} AND CAST(:text AS INTEGER) <= {{.Most}} THEN CAST(:text AS INTEGER) END
{{- else -}}
  length(:text) = {{.Text.Most}} AND length(CAST(:text AS BLOB)) = {{.Text.Most}} AND :text NOT GLOB '*[^{{ranges .Letters}}]*'
  {{- if .Integer}} AND upper(:text) <= '{{upper .Text.Largest}}' THEN {{range $i, $c := .Characters}}{{if $i}}
 + {{end}}{{if eq .Base 36}}{{template "letter" .}} * {{.Power}}{{else}}({{template "letter" .}} << {{.Shift}}){{end}}{{end}}
  {{- else}} THEN unhex({{range $i, $n := .DigitsOfText}}{{if $i}}
 || {{end}}substr('0123456789ABCDEF', {{if .Pair}}(({{template "letter" .}} << 5 | {{template "next letter" .}}) >> {{.Shift}} & 15)
      {{- else}}({{template "letter" .}} >> {{.Shift}} & 15){{end}} + 1, 1){{end}})
    {{- if .Text.HexToo}} WHEN typeof(:text) = 'text' AND length(:text) = {{.HexLength}} AND length(CAST(:text AS BLOB)) = {{.HexLength}}
      {{- ""}} AND :text NOT GLOB '*[^{{ranges .HexLetters}}]*' THEN unhex(:text){{end}}
  {{- end}} END
{{- end}}
{{end}}

{{define "of"}}{{if .Text.AnyCase}}upper(:text){{else}}:text{{end}}{{end}}
{{define "letter"}}(instr('{{.Folded}}', substr({{template "of" .}}, {{.Place}}, 1)) - 1){{end}}
{{define "next letter"}}(instr('{{.Folded}}', substr({{template "of" .}}, {{add .Place 1}}, 1)) - 1){{end}}
