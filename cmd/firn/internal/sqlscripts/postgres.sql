{{- /* The functions of PostgreSQL. == begins a function; the next line is its comment, and the rest its body. */ -}}

{{define "up" -}}
-- Functions about IDs for PostgreSQL 14 or later. Printed by firn sql postgres, version {{version}}.
{{.Settings}}--
-- The script may run again. Indexes may hold results of the functions, so no version of the script
-- changes a result: a function with other results has a name of its own.

{{begin}}{{schema}}
DO $$
BEGIN
  IF current_setting('server_version_num')::integer < 140000 THEN
    RAISE EXCEPTION 'firn: the functions need PostgreSQL 14 or later';
  END IF;
  IF to_regprocedure('firn.version()') IS NOT NULL THEN
    IF firn.version() > {{version}} THEN
      RAISE EXCEPTION 'firn: the functions have version %, this script has version {{version}}', firn.version()
        USING HINT = 'Print the script by a firn that is at least as new as the functions.';
    END IF;
  END IF;
{{range $k := .Keys}}{{range functions "settings" . -}}
{{"  "}}IF to_regprocedure('{{.Head}}') IS NOT NULL THEN
    IF {{.Head}} <> {{.Body}} THEN
      RAISE EXCEPTION 'firn: {{.Head}} is %, not %', {{.Head}}, {{.Body}}
        USING HINT = 'Print the script with the setting of the functions. To change the setting, begin with firn sql postgres {{$k.Name}} --down, which drops the functions.';
    END IF;
  END IF;
{{end}}{{end}}END $$;

{{range functions "shared" .}}{{template "create" .}}{{end -}}
{{range .Keys}}-- {{.Name}}

{{range functions "format" .}}{{template "create" .}}{{end}}{{end -}}
COMMIT;
{{end}}

{{define "down" -}}
-- Removes the functions of firn sql postgres, version {{version}}. If an index or a view uses a function, the
-- script removes nothing.

{{begin}}
{{range .Backward}}{{range backward "format" .}}DROP FUNCTION IF EXISTS {{.Head}};
{{end}}{{end}}
-- The functions of all formats go with the last format, and the schema if it is empty then.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = to_regnamespace('firn') AND proname ~ '_check$') THEN
{{range backward "shared" .}}    DROP FUNCTION IF EXISTS {{.Head}};
{{end}}  END IF;
END $$;
{{dropSchema}}
COMMIT;
{{end}}

{{- /* PostgreSQL resolves the names of an expression when the function is made, and the names of PL/pgSQL when
the function runs: by a search_path of its own, or without one if all names are qualified, also of operators. A
search_path would cost the small function check more time than all else. */ -}}
{{define "create" -}}
CREATE OR REPLACE FUNCTION {{.Head}} RETURNS {{.Returns}}
{{if .IsBlock -}}
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
{{if not (.Is "_check")}}{{path}} {{end}}AS $$
{{.Body}}
$$;
{{- else -}}
LANGUAGE sql {{if .Is ".version"}}STABLE{{else}}IMMUTABLE{{end}} STRICT PARALLEL SAFE
RETURN {{.Body}};
{{- end}}
COMMENT ON FUNCTION {{.Head}} IS '{{quote .Comment}}';

{{end}}

{{define "shared"}}
== firn.version() RETURNS integer
The version of the functions
{{version}}

== firn.refuse(kind text, input text, place integer, reason text, hint text) RETURNS void
Raises the error of an input that is not an ID; place is the offset of the fault, or -1
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'invalid_text_representation',
    MESSAGE = kind || ': ' || to_json(left(input, 64)) || CASE WHEN length(input) > 64 THEN '...' ELSE '' END || ': '
      || CASE WHEN place >= 0 THEN 'offset ' || place || ': ' ELSE '' END || reason,
    HINT = hint;
END

== firn.letters(kind text, input text, size integer, alphabet text, alphabet_name text) RETURNS void
Raises an error unless the input has this many bytes, all in the alphabet
DECLARE
  place integer;
BEGIN
  IF octet_length(input) <> size THEN
    PERFORM firn.refuse(kind, input, -1, 'length is ' || octet_length(input) || ', not ' || size,
      'Use the whole text of an ID of this format.');
  END IF;
  place := size - octet_length(ltrim(input, alphabet));
  IF place < size THEN
    PERFORM firn.refuse(kind, input, place, 'character ' || quote_literal(substr(input, place + 1, 1)) || ' is not ' || alphabet_name,
      'Use the text of an ID of this format, without changes.');
  END IF;
END

== firn.ticks(t timestamptz, epoch bigint, last bigint) RETURNS bigint
Milliseconds from the epoch to t, limited to 0 to last
{{- /* EXTRACT is immutable only of a time without zone. EXTRACT of an infinite time is infinite. */}}
BEGIN
  RETURN least(greatest(floor(extract(epoch FROM t AT TIME ZONE 'UTC') * 1000) - epoch, 0), last)::bigint;
END

== firn.uint(id bytea, start integer, size integer) RETURNS bigint
The unsigned integer of up to 7 bytes, the most significant first
('x' || lpad(encode(substr(id, start + 1, size), 'hex'), 16, '0'))::bit(64)::bigint
{{end}}

{{define "format"}}
{{- template "settings" .}}
{{- if .Integer}}{{template "integer" .}}{{else}}{{template "bytes" .}}{{end}}
{{- template "text" .}}
{{- end}}

{{- /* Functions without arguments tell the settings of the format. */ -}}
{{define "settings"}}
{{- if .Has "epoch"}}
== firn.{{.Ident}}_epoch() RETURNS timestamptz
The epoch of {{.Name}}
timestamp '{{.EpochText}}' AT TIME ZONE 'UTC'
{{end}}
{{- if .HasLayouts}}
== firn.{{.Ident}}_layout() RETURNS text
The bits of the fields of {{.Name}}
'{{.Layout}}'::text
{{end}}
{{- end}}

{{define "integer"}}
== firn.{{.Ident}}_check(id bigint) RETURNS bigint
Returns the ID; raises an error for an integer out of range
BEGIN
  IF id OPERATOR(pg_catalog.<) 0::bigint OR id OPERATOR(pg_catalog.>) {{.Most}}::bigint THEN
    PERFORM firn.refuse('{{.Name}}', id::pg_catalog.text, -1, 'value is not in 0 to {{.Most}}', 'Use an ID of this format, without changes.');
  END IF;
  RETURN id;
END

== firn.{{.Ident}}_time(id bigint) RETURNS timestamptz
The time of the ID, to the millisecond
{{- /* The sum of a time without zone and an interval is immutable in the catalogue, so PostgreSQL puts the
expression in place of the call. to_timestamp takes a double, which does not hold all times. */}}
(timestamp '{{.EpochText}}' + (firn.{{.Ident}}_check(id) >> {{.TimeShift}}) * interval '1 millisecond') AT TIME ZONE 'UTC'

{{range $i, $f := .Fields}}
== firn.{{$.Ident}}_{{.Name}}(id bigint) RETURNS {{if $i}}integer{{else}}bigint{{end}}
The {{.Words}} of the ID
{{if $i}}({{end}}firn.{{$.Ident}}_check(id){{if .Shift}} >> {{.Shift}}{{end}}{{if $i}} & {{.Mask}})::integer{{end}}
{{end}}

== firn.{{.Ident}}_first(t timestamptz) RETURNS bigint
The smallest ID of the millisecond of t
firn.ticks(t, {{.Shape.Epoch}}, {{.LastMilli}}) << {{.TimeShift}}

== firn.{{.Ident}}_last(t timestamptz) RETURNS bigint
The largest ID of the millisecond of t
firn.ticks(t, {{.Shape.Epoch}}, {{.LastMilli}}) << {{.TimeShift}} | {{.Rest}}
{{end}}

{{define "bytes"}}
== firn.{{.Ident}}_check(id bytea) RETURNS bytea
Returns the ID; raises an error unless it has {{.Size}} bytes
BEGIN
  IF pg_catalog.octet_length(id) OPERATOR(pg_catalog.<>) {{.Size}} THEN
    PERFORM firn.refuse('{{.Name}}', pg_catalog.encode(pg_catalog.substr(id, 1, 32), 'hex'), -1,
      pg_catalog.format('length is %s, not {{.Size}} bytes', pg_catalog.octet_length(id)),
      'Use the binary form of an ID. firn.{{.Name}}_parse reads texts.');
  END IF;
  RETURN id;
END

{{range $i, $f := .Fields}}
{{- if gt .Bits 64}}
== firn.{{$.Ident}}_{{.Name}}(id bytea) RETURNS numeric
The {{.Words}} of the ID
BEGIN
  RETURN firn.uint(firn.{{$.Ident}}_check(id), {{.Start}}, 5)::numeric * 1099511627776 + firn.uint(id, {{add .Start 5}}, 5);
END
{{else}}
== firn.{{$.Ident}}_{{.Name}}(id bytea) RETURNS {{if $i}}integer{{else}}bigint{{end}}
The {{.Words}} of the ID
{{if $i}}({{end}}firn.uint(firn.{{$.Ident}}_check(id), {{.Start}}, {{.Size}})
{{- if .Below}} >> {{.Below}}{{end}}{{if .Cut}} & {{.Mask}}{{end}}{{if $i}})::integer{{end}}
{{end}}
{{- end}}

== firn.{{.Ident}}_time(id bytea) RETURNS timestamptz
The time of the ID
{{- if .TimeInDouble}}
(timestamp '{{.EpochText}}' + firn.{{.Ident}}_timestamp(id) * interval '{{.Unit}} milliseconds') AT TIME ZONE 'UTC'
{{- else}}
{{- /* The timestamps reach further than the whole numbers of a double reach in microseconds, so the sum is of
whole days and of the rest. */}}
DECLARE
  ms bigint := firn.{{.Ident}}_timestamp(id);
BEGIN
  RETURN (timestamp '{{.EpochText}}' + ms / 86400000 * interval '1 day' + ms % 86400000 * interval '1 millisecond') AT TIME ZONE 'UTC';
END
{{- end}}

== firn.{{.Ident}}_first(t timestamptz) RETURNS bytea
The smallest ID of the {{.UnitName}} of t
decode(lpad(to_hex({{template "tick" .}}), {{.HeadDigits}}, '0') || repeat('00', {{.Tail}}), 'hex')

== firn.{{.Ident}}_last(t timestamptz) RETURNS bytea
The largest ID of the {{.UnitName}} of t
decode(lpad(to_hex({{template "tick" .}}{{if .Pad}} | {{.PadMask}}{{end}}), {{.HeadDigits}}, '0') || repeat('ff', {{.Tail}}), 'hex')
{{end}}

{{- /* Other fields may share a byte with the timestamp. */ -}}
{{define "tick"}}firn.ticks(t, {{.Shape.Epoch}}, {{.LastMilli}})
{{- if gt .Unit 1}} / {{.Unit}}{{end}}{{if .Pad}} << {{.Pad}}{{end}}{{end}}

{{define "text"}}
{{- if eq .Base 10}}
== firn.{{.Ident}}_text(id bigint) RETURNS text
The canonical text of the ID
firn.{{.Ident}}_check(id)::text

== firn.{{.Ident}}_parse(s text) RETURNS bigint
The ID of a text; raises an error for any other text
BEGIN
  IF octet_length(s) NOT BETWEEN {{.Text.Least}} AND {{.Text.Most}} THEN
    PERFORM firn.refuse('{{.Name}}', s, -1, 'length is ' || octet_length(s) || ', not {{.Lengths}}', 'Use the whole text of an ID of this format.');
  END IF;
  PERFORM firn.letters('{{.Name}}', s, octet_length(s), '{{.Letters}}', '{{.Text.Name}}');
  IF s::bigint > {{.Most}} THEN
    PERFORM firn.refuse('{{.Name}}', s, -1, 'value is not in 0 to {{.Most}}', 'Use the text of an ID of this format, without changes.');
  END IF;
  RETURN s::bigint;
END
{{else if .Integer}}
== firn.{{.Ident}}_text(id bigint) RETURNS text
The canonical text of the ID
DECLARE
  d CONSTANT text COLLATE "C" := '{{.Text.Digits}}';
  v bigint := firn.{{.Ident}}_check(id);
BEGIN
  RETURN {{range $i, $c := .Characters}}{{if $i}}
    || {{end}}substr(d, (v {{if eq .Base 36}}/ {{.Power}} % 36{{else}}>> {{.Shift}} & 31{{end}})::integer + 1, 1){{end}};
END

== firn.{{.Ident}}_parse(s text) RETURNS bigint
The ID of a text; raises an error for any other text
{{template "variables" .}}
BEGIN
{{template "letters" .}}
  IF u > '{{upper .Text.Largest}}' THEN
    PERFORM firn.refuse('{{.Name}}', s, -1, 'value is not in {{.Allowed}}', 'Use the text of an ID of this format, without changes.');
  END IF;
  RETURN {{if eq .Base 36}}{{range $i, $c := .Characters}}{{if $i}}
    + {{end}}(strpos(d, substr(u, {{.Place}}, 1)) - 1) * {{.Power}}{{end}}{{else}}{{template "value" .Characters}}{{end}};
END
{{else}}
== firn.{{.Ident}}_text(id bytea) RETURNS text
The canonical text of the ID
DECLARE
  d CONSTANT text COLLATE "C" := '{{.Text.Digits}}';
{{- range $g, $characters := .Groups}}
  v{{$g}} bigint := firn.uint({{if $g}}id{{else}}firn.{{$.Ident}}_check(id){{end}}, {{mul 5 $g}}, 5);
{{- end}}
BEGIN
  RETURN {{range $i, $c := .Characters}}{{if $i}}
    || {{end}}substr(d, (v{{.Group}} >> {{.Shift}} & 31)::integer + 1, 1){{end}};
END

== firn.{{.Ident}}_parse(s text) RETURNS bytea
The ID of a text{{if .Text.HexToo}} of {{.LengthsInWords}}{{end}}; raises an error for any other text
{{template "variables" .}}
BEGIN
{{- if .Text.HexToo}}
  IF octet_length(s) = {{.HexLength}} THEN
    PERFORM firn.letters('{{.Name}}', s, {{.HexLength}}, '{{.HexLetters}}', 'a hexadecimal digit');
    RETURN decode(s, 'hex');
  ELSIF octet_length(s) <> {{.Text.Most}} THEN
    PERFORM firn.refuse('{{.Name}}', s, -1, 'length is ' || octet_length(s) || ', not {{.Lengths}}', 'Use the whole text of an ID of this format.');
  END IF;
{{- end}}
{{template "letters" .}}
  RETURN decode({{range $g, $characters := .Groups}}{{if $g}}
    || {{end}}lpad(to_hex({{template "value" .}}), 10, '0'){{end}}, 'hex');
END
{{if .Text.HexToo}}
== firn.{{.Ident}}_hex(id bytea) RETURNS text
The alternative text of the ID, in hexadecimal
encode(firn.{{.Ident}}_check(id), 'hex')
{{end}}
{{- if .HasUUID}}
== firn.{{.Ident}}_uuid(id bytea) RETURNS uuid
The ID in the form of a UUID: the characters of the text are the bytes of the UUID
encode(decode(firn.{{.Ident}}_text(id), 'escape'), 'hex')::uuid

== firn.{{.Ident}}_from_uuid(u uuid) RETURNS bytea
The ID of a UUID from {{.Ident}}_uuid; raises an error for any other UUID
DECLARE
  b bytea := decode(replace(u::text, '-', ''), 'hex');
  c integer;
BEGIN
  FOR i IN 0..15 LOOP
    c := get_byte(b, i);
    IF c NOT BETWEEN 50 AND 57 AND c NOT BETWEEN 97 AND 120 THEN
      PERFORM firn.refuse('{{.Name}}', u::text, -1, 'byte ' || i || ' of the UUID is 0x' || lpad(to_hex(c), 2, '0') || ', not in [2-9a-x]',
        'Use a UUID from firn.{{.Ident}}_uuid, or from UUID of the Go package.');
    END IF;
  END LOOP;
  RETURN firn.{{.Ident}}_parse(encode(b, 'escape'));
END
{{end}}
== firn.{{.Ident}}_text_time(s text) RETURNS timestamptz
The time of the ID of a text
firn.{{.Ident}}_time(firn.{{.Ident}}_parse(s))
{{end}}
{{- end}}

{{- /* Variables have the collation C: the comparisons are of bytes, whatever the collation of the text. */ -}}
{{define "variables"}}DECLARE
  d CONSTANT text COLLATE "C" := '{{.Folded}}';
  u text COLLATE "C" := {{if .Text.AnyCase}}translate(s, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'){{else}}s{{end}};
{{- end}}

{{define "letters"}}  PERFORM firn.letters('{{.Name}}', s, {{.Text.Most}}, '{{.Letters}}', '{{quote .Text.Name}}');{{end}}

{{define "value"}}{{range $i, $c := .}}{{if $i}}
    | {{end}}((strpos(d, substr(u, {{.Place}}, 1)) - 1)::bigint << {{.Shift}}){{end}}{{end}}
