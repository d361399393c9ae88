{{- /* The stored functions of MariaDB and MySQL. == begins a function; the next line is its comment, and the rest its body. */ -}}

{{define "up" -}}
-- Functions about IDs for MariaDB 10.11, MySQL 8 or later. Printed by firn sql mysql, version {{version}}.
{{.Settings}}--
-- The script may run again, and replaces the functions.

DELIMITER //

{{range functions "shared" .}}{{template "create" .}}{{end -}}
{{range .Keys}}-- {{.Name}}

{{range functions "format" .}}{{template "create" .}}{{end}}{{end -}}
DELIMITER ;
{{end}}

{{define "down" -}}
-- Removes the functions of firn sql mysql, version {{version}}.

{{range .Backward}}{{range backward "format" .}}DROP FUNCTION IF EXISTS {{.Name}};
{{end}}{{end}}
{{if .All -}}
-- The functions of all formats.
{{range backward "shared" .}}DROP FUNCTION IF EXISTS {{.Name}};
{{end}}
{{- else -}}
-- The functions of all formats stay: firn sql mysql --down removes them with all formats.
{{end}}
{{- end}}

{{- /* MariaDB reads the comments that begin with M!, and replaces a function in one step. MySQL cannot: it reads the
comment that begins with !80000. */ -}}
{{define "create" -}}
/*!80000 DROP FUNCTION IF EXISTS {{.Name}} */ /*M! DO 0 */ //
CREATE /*M! OR REPLACE */ FUNCTION {{.Head}} RETURNS {{.Returns}}
{{if .Is "firn_version"}}NOT {{end}}DETERMINISTIC NO SQL SQL SECURITY INVOKER COMMENT '{{quote .Comment}}'
{{if not .IsBlock}}RETURN {{end}}{{.Body}} //

{{end}}

{{define "ASCII"}}CHARACTER SET ascii COLLATE ascii_bin{{end}}
{{define "TEXT"}}VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin{{end}}

{{- /* The text of an error has at most 128 characters, and ends at a NUL. DIV rounds to 0, and times before 1970 are
negative. */ -}}
{{define "shared"}}
== firn_version() RETURNS INT
The version of the functions
{{version}}

== firn_refuse(kind VARCHAR(32) {{template "ASCII"}}, input {{template "TEXT"}}, place INT, reason {{template "TEXT"}}) RETURNS INT
Raises the error of an input that is not an ID; place is the offset of the fault, or -1
BEGIN
  DECLARE message VARCHAR(512) CHARACTER SET utf8mb4 DEFAULT LEFT(REPLACE(CONCAT(kind, ': "', LEFT(input, 40), '": ', IF(place < 0, '', CONCAT('offset ', place, ': ')), reason), CHAR(0), '?'), 128);
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = message;
  RETURN NULL;
END

== firn_refuse_text(kind VARCHAR(32) {{template "ASCII"}}, input {{template "TEXT"}}, fits BOOLEAN, size VARCHAR(64) {{template "ASCII"}}, foreign_letter VARCHAR(64) {{template "ASCII"}}, alphabet VARCHAR(64) {{template "ASCII"}}, allowed VARCHAR(64) {{template "ASCII"}}) RETURNS INT
Raises the error of a text that is not an ID; fits says whether the length is right, and a pattern finds foreign letters
BEGIN
  DECLARE place INT DEFAULT REGEXP_INSTR(LEFT(input, 64), foreign_letter);
  IF NOT fits THEN
    RETURN firn_refuse(kind, input, -1, CONCAT('length is ', LENGTH(input), ', not ', size, ': use the whole text'));
  ELSEIF place > 0 THEN
    RETURN firn_refuse(kind, input, place - 1, CONCAT('character ''', SUBSTRING(input, place, 1), ''' is not ', alphabet));
  END IF;
  RETURN firn_refuse(kind, input, -1, CONCAT('value is not in ', allowed));
END

== firn_ticks(t DATETIME(6), epoch BIGINT, last_tick BIGINT) RETURNS BIGINT
Milliseconds from the epoch to t, a time in UTC, limited to 0 to last_tick
BEGIN
  DECLARE us BIGINT DEFAULT TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', t);
  RETURN LEAST(GREATEST((us - MOD(MOD(us, 1000) + 1000, 1000)) DIV 1000 - epoch, 0), last_tick);
END
{{end}}

{{- /* Without a strict sql_mode, an integer out of range becomes the largest BIGINT, and a word the integer 0: as a
text, each stays itself. */ -}}
{{define "id"}}id {{if .Integer}}VARCHAR(64) {{template "ASCII"}}{{else}}VARBINARY(64){{end}}{{end}}
{{define "ID"}}{{if .Integer}}BIGINT{{else}}VARBINARY({{.Size}}){{end}}{{end}}

{{- /* Without blocks, MariaDB may compute all branches of an expression, and raise the error of a branch not taken. */ -}}
{{define "valid"}}
{{- if .Integer}}LENGTH(id) BETWEEN 1 AND 19 AND id NOT REGEXP '[^0-9]' AND CAST(id AS UNSIGNED) <= {{.Most}}
{{- else}}LENGTH(id) = {{.Size}}{{end}}{{end}}
{{define "invalid"}}  ELSEIF id IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN firn_refuse('{{.Name}}', {{if .Integer}}id, -1, 'value is not in 0 to {{.Most}}: use an ID of this format'
    {{- else}}LOWER(HEX(id)), -1, CONCAT('length is ', LENGTH(id), ', not {{.Size}} bytes: use the binary form'){{end}});
END{{end}}

{{- /* A call of a function takes longer than its work, so a function calls others only to raise an error. */ -}}
{{define "format"}}
== firn_{{.Ident}}_check({{template "id" .}}) RETURNS {{template "ID" .}}
Returns the ID; raises an error for any other value
BEGIN
  IF {{template "valid" .}} THEN
    RETURN {{if .Integer}}CAST(id AS UNSIGNED){{else}}id{{end}};
{{template "invalid" .}}

== firn_{{.Ident}}_time({{template "id" .}}) RETURNS DATETIME(3)
The time of the ID in UTC
{{- $timestamp := index .Fields 0}}
BEGIN
  IF {{template "valid" .}}{{if .LastDatetime}} AND {{template "field" $timestamp}} <= {{.LastDatetime}}{{end}} THEN
    RETURN DATE_ADD(DATE_ADD(TIMESTAMP'{{.EpochText}}', INTERVAL {{template "field" $timestamp}} DIV {{.TicksADay}} DAY), INTERVAL {{template "field" $timestamp}} MOD {{.TicksADay}} * {{mul 1000 .Unit}} MICROSECOND);
{{- if .LastDatetime}}
  ELSEIF id IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN firn_refuse('{{.Name}}', {{if .Integer}}id, -1, 'value is not in 0 to {{.Most}}, or the time is after the year 9999'
    {{- else}}LOWER(HEX(id)), -1, CONCAT('not {{.Size}} bytes, or the time is after the year 9999'){{end}});
END
{{else}}
{{template "invalid" .}}
{{end}}
{{range .Fields}}
== firn_{{$.Ident}}_{{.Name}}({{template "id" $}}) RETURNS {{if gt .Bits 64}}DECIMAL(25){{else}}BIGINT{{end}}
The {{.Words}} of the ID
BEGIN
  IF {{template "valid" $}} THEN
    RETURN {{template "field" .}};
{{template "invalid" $}}
{{end}}
== firn_{{.Ident}}_first(t DATETIME(6)) RETURNS {{template "ID" .}}
The smallest ID of the {{.UnitName}} of t, a time in UTC
{{if .Integer}}{{template "tick" .}} << {{.TimeShift}}
{{- else}}UNHEX(CONCAT(LPAD(HEX({{template "tick" .}}), {{.HeadDigits}}, '0'), REPEAT('00', {{.Tail}})))
{{- end}}

== firn_{{.Ident}}_last(t DATETIME(6)) RETURNS {{template "ID" .}}
The largest ID of the {{.UnitName}} of t, a time in UTC
{{if .Integer}}{{template "tick" .}} << {{.TimeShift}} | {{.Rest}}
{{- else}}UNHEX(CONCAT(LPAD(HEX({{template "tick" .}}{{if .Pad}} | {{.PadMask}}{{end}}), {{.HeadDigits}}, '0'), REPEAT('FF', {{.Tail}})))
{{- end}}

{{template "text" .}}
{{end}}

{{define "field"}}
{{- if .Key.Integer}}(CAST(id AS UNSIGNED) >> {{.Shift}} & {{.Mask}})
{{- else if gt .Bits 64}}CAST(CAST(CONV(HEX(SUBSTRING(id, {{add .Start 1}}, 5)), 16, 10) AS UNSIGNED) AS DECIMAL(25)) * 1099511627776
    {{- ""}} + CAST(CONV(HEX(SUBSTRING(id, {{add .Start 6}}, 5)), 16, 10) AS UNSIGNED)
{{- else}}(CAST(CONV(HEX(SUBSTRING(id, {{add .Start 1}}, {{.Size}})), 16, 10) AS UNSIGNED) >> {{.Below}} & {{.Mask}})
{{- end}}{{end}}

{{- /* Other fields may share a byte with the timestamp. */ -}}
{{define "tick"}}firn_ticks(t, {{.Shape.Epoch}}, {{.LastMilli}})
{{- if not .Integer}}{{if gt .Unit 1}} DIV {{.Unit}}{{end}}{{if .Pad}} << {{.Pad}}{{end}}{{end}}{{end}}

{{define "text"}}
== firn_{{.Ident}}_text({{template "id" .}}) RETURNS {{if lt .Text.Least .Text.Most}}VAR{{end}}CHAR({{.Text.Most}}) {{template "ASCII"}}
The canonical text of the ID
BEGIN
{{- $digits := and (eq .Base 32) (not .HasConv)}}
{{- if $digits}}{{range $g, $characters := .Groups}}
  DECLARE v{{$g}} BIGINT UNSIGNED;{{end}}{{end}}
  IF {{template "valid" .}} THEN
{{- if $digits}}{{range $g, $characters := .Groups}}
    SET v{{$g}} = {{if $.Integer}}CAST(id AS UNSIGNED){{else}}CAST(CONV(HEX(SUBSTRING(id, {{add 1 (mul 5 $g)}}, 5)), 16, 10) AS UNSIGNED){{end}};{{end}}
    RETURN CONCAT({{range $i, $c := .Characters}}{{if $i}},
    {{end}}SUBSTRING('{{.Folded}}', (v{{.Group}} >> {{.Shift}} & 31) + 1, 1){{end}});
{{- else if eq .Base 36}}
    RETURN LPAD(LOWER(CONV(id, 10, 36)), {{.Text.Most}}, '0');
{{- else if eq .Base 10}}
    RETURN CAST(id AS UNSIGNED);
{{- else}}
    RETURN CONCAT({{range $g, $characters := .Groups}}{{if $g}},
    {{end}}LPAD(CONV(HEX(SUBSTRING(id, {{add 1 (mul 5 $g)}}, 5)), 16, 32), 8, '0'){{end}});
{{- end}}
{{template "invalid" .}}

== firn_{{.Ident}}_parse(s {{template "TEXT"}}) RETURNS {{template "ID" .}}
The ID of a text{{if .Text.HexToo}} of {{.LengthsInWords}}{{end}}; raises an error for any other text
BEGIN
{{- if .Text.HexToo}}
  IF LENGTH(s) = {{.HexLength}} THEN
    IF s NOT REGEXP '[^{{ranges .HexLetters}}]' THEN
      RETURN UNHEX(s);
    END IF;
    RETURN firn_refuse_text('{{.Name}}', s, TRUE, '', '[^{{ranges .HexLetters}}]', 'a hexadecimal digit', '');
  END IF;
{{- end}}
  IF {{template "fits" .}} AND s NOT REGEXP '[^{{ranges .Letters}}]'
    {{- if eq .Base 10}} AND CAST(s AS UNSIGNED) <= {{.Most}}{{else if .Integer}} AND UPPER(s) <= '{{upper .Text.Largest}}'{{end}} THEN
{{- if eq .Base 36}}
    RETURN CAST(CONV(s, 36, 10) AS UNSIGNED);
{{- else if eq .Base 10}}
    RETURN CAST(s AS UNSIGNED);
{{- else if .Integer}}
    RETURN {{template "value" .Characters}};
{{- else if .HasConv}}
    RETURN UNHEX(CONCAT({{range $g, $characters := .Groups}}{{if $g}},
    {{end}}LPAD(CONV(SUBSTRING(s, {{add 1 (mul 8 $g)}}, 8), 32, 16), 10, '0'){{end}}));
{{- else}}
    RETURN UNHEX(CONCAT({{range $g, $characters := .Groups}}{{if $g}},
    {{end}}LPAD(HEX({{template "value" .}}), 10, '0'){{end}}));
{{- end}}
  ELSEIF s IS NULL THEN
    RETURN NULL;
  END IF;
  RETURN firn_refuse_text('{{.Name}}', s, {{template "fits" .}}, '{{.Lengths}}', '[^{{ranges .Letters}}]', '{{quote .Text.Name}}', '{{.Allowed}}');
END
{{if .Text.HexToo}}
== firn_{{.Ident}}_hex({{template "id" .}}) RETURNS CHAR({{.HexLength}}) {{template "ASCII"}}
The alternative text of the ID, in hexadecimal
BEGIN
  IF {{template "valid" .}} THEN
    RETURN LOWER(HEX(id));
{{template "invalid" .}}
{{end}}
{{- if .HasUUID}}
== firn_{{.Ident}}_uuid({{template "id" .}}) RETURNS CHAR(36) {{template "ASCII"}}
The text of the ID in the form of a UUID: the characters of the text of the ID are the bytes of the UUID
BEGIN
  DECLARE u CHAR(32) {{template "ASCII"}} DEFAULT LOWER(HEX(firn_{{.Ident}}_text(id)));
  RETURN CONCAT(SUBSTRING(u, 1, 8), '-', SUBSTRING(u, 9, 4), '-', SUBSTRING(u, 13, 4), '-', SUBSTRING(u, 17, 4), '-', SUBSTRING(u, 21, 12));
END

== firn_{{.Ident}}_from_uuid(u {{template "TEXT"}}) RETURNS {{template "ID" .}}
The ID of the text of a UUID from firn_{{.Ident}}_uuid; raises an error for any other text
BEGIN
  DECLARE h {{template "TEXT"}} DEFAULT REPLACE(u, '-', '');
  IF u NOT REGEXP '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$' OR LENGTH(u) <> 36 THEN
    RETURN firn_refuse('{{.Name}}', u, -1, 'is not the text of a UUID: use one from firn_{{.Ident}}_uuid');
  ELSEIF h NOT REGEXP '^(3[2-9]|6[1-9A-Fa-f]|7[0-8])+$' THEN
    RETURN firn_refuse('{{.Name}}', u, -1, 'a byte of the UUID is not in [2-9a-x]: use one from firn_{{.Ident}}_uuid');
  END IF;
  RETURN firn_{{.Ident}}_parse(CAST(UNHEX(h) AS CHAR CHARACTER SET utf8mb4));
END
{{end}}
{{- if not .Integer}}
== firn_{{.Ident}}_text_time(s {{template "TEXT"}}) RETURNS DATETIME(3)
The time in UTC of the ID of a text
firn_{{.Ident}}_time(firn_{{.Ident}}_parse(s))
{{end}}
{{- end}}

{{define "fits"}}LENGTH(s) {{if eq .Base 10}}BETWEEN {{.Text.Least}} AND {{.Text.Most}}{{else}}= {{.Text.Most}}{{end}}{{end}}

{{define "value"}}{{range $i, $c := .}}{{if $i}}
    | {{end}}((LOCATE(SUBSTRING({{if .Text.AnyCase}}UPPER(s){{else}}s{{end}}, {{.Place}}, 1), '{{.Folded}}') - 1) << {{.Shift}}){{end}}{{end}}
