package testkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// decoders are the exported functions and methods of the formats that read IDs or parts of IDs, by
// the fuzz target that compares the decoders with the model. These targets also fuzz the shared code.
// The codecs have their own targets in addition.
var decoders = map[string]map[string]string{
	"nanoflake": {
		"FuzzColumn": column("ID"), "FuzzTextColumn": textColumn("Text"),
		"FuzzParse": "Parse MustParse ID.UnmarshalText", "FuzzParseDecimal": "ParseDecimal", "FuzzParseBase36": "ParseBase36",
		"FuzzParseHex": "ParseHex", "FuzzFromBytes": "FromBytes ID.UnmarshalBinary",
		"FuzzFromInt64": "FromInt64", "FuzzUnmarshalJSON": "ID.UnmarshalJSON", "FuzzParseAll": "ParseAll",
	},
	"ulidflake": {
		"FuzzColumn": column("ID"), "FuzzTextColumn": textColumn("Text"),
		"FuzzScalableColumn": column("ScalableID"), "FuzzScalableTextColumn": textColumn("ScalableText"),
		"FuzzParse": "Parse MustParse ID.UnmarshalText", "FuzzParseDecimal": "ParseDecimal",
		"FuzzParseHex": "ParseHex", "FuzzFromBytes": "FromBytes ID.UnmarshalBinary",
		"FuzzFromInt64": "FromInt64", "FuzzUnmarshalJSON": "ID.UnmarshalJSON",
		"FuzzParseScalable": "ParseScalable MustParseScalable ScalableID.UnmarshalText", "FuzzParseScalableDecimal": "ParseScalableDecimal",
		"FuzzParseScalableHex": "ParseScalableHex", "FuzzScalableFromBytes": "ScalableFromBytes ScalableID.UnmarshalBinary",
		"FuzzScalableFromInt64": "ScalableFromInt64", "FuzzScalableUnmarshalJSON": "ScalableID.UnmarshalJSON",
		"FuzzParseAll": "ParseAll", "FuzzParseAllScalable": "ParseAllScalable",
	},
	"snowflakesi": {
		"FuzzColumn": column("ID"), "FuzzParse": "Parse MustParse ID.UnmarshalText",
		"FuzzParseHex": "ParseHex", "FuzzFromBytes": "FromBytes ID.UnmarshalBinary",
		"FuzzFromInt64": "FromInt64", "FuzzUnmarshalJSON": "ID.UnmarshalJSON", "FuzzParseAll": "ParseAll",
	},
	"scru160": {
		"FuzzColumn": column("ID") + "ID.ScanBytes", "FuzzBinaryColumn": textColumn("Binary") + "Binary.ScanBytes",
		"FuzzParse": "Parse MustParse ID.UnmarshalText", "FuzzParseHex": "ParseHex",
		"FuzzFromBytes": "FromBytes ID.UnmarshalBinary", "FuzzUnmarshalJSON": "ID.UnmarshalJSON", "FuzzParseAll": "ParseAll",
	},
	"sno": {
		"FuzzColumn": column("ID") + "ID.ScanBytes", "FuzzTextColumn": textColumn("Text") + "Text.ScanBytes",
		"FuzzParse":    "Parse MustParse ID.UnmarshalText FromEncodedString FromEncodedBytes FromUUID",
		"FuzzEncoded":  "EncodedTime EncodedMeta EncodedPartition EncodedSequence",
		"FuzzParseHex": "ParseHex", "FuzzBinary": "FromBinaryBytes ID.UnmarshalBinary", "FuzzJSON": "ID.UnmarshalJSON",
		"FuzzParseAll": "ParseAll", "FuzzUUID": textColumn("UUID"),
	},
	"typed": { // against the decoders of the plain IDs; ID is generic, and its methods stand without its name
		"FuzzText": "Parse MustParse UnmarshalText UnmarshalParam UnmarshalGQL", "FuzzJSON": "UnmarshalJSON",
		"FuzzBytes": "UnmarshalBinary Scan ScanRedis UnmarshalBSONValue",
	},
}

// column returns the decoders of a type of columns, and textColumn those of a type that reads nothing else.
func column(name string) string {
	return strings.ReplaceAll("*Scan *UnmarshalBSONValue *UnmarshalGQL *ScanRedis *UnmarshalParam ", "*", name+".")
}

func textColumn(name string) string {
	return column(name) + strings.ReplaceAll("*UnmarshalText *UnmarshalBinary *UnmarshalJSON ", "*", name+".")
}

// decoding matches the names of decoders. FromTime is not a decoder: it builds an ID from a time
// and numbers.
var decoding = regexp.MustCompile(`(^|\.)(Must)?(Parse|Unmarshal|Scan(Bytes|Redis)?$|Encoded|(Scalable)?From(Int64|Bytes|Encoded|Binary|UUID))`)

// functions returns the exported functions of the package in the directory, methods as
// "Type.Method". If tests is true, it returns the functions of the package's tests instead.
func functions(t *testing.T, dir string, tests bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", dir, files, err)
	}
	var found []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") != tests {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			name := function(f)
			if receiver, _, method := strings.Cut(name, "."); method && !ast.IsExported(receiver) {
				continue
			}
			found = append(found, name)
		}
	}
	return found
}

// function returns the name of a function, or "Type.Method" for a method.
func function(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if id, ok := receiver.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name // of a generic type
}

// Every decoder has a fuzz target. A new decoder without a fuzz target fails here.
func TestEveryDecoderIsFuzzed(t *testing.T) {
	for dir, targets := range decoders {
		tests, want := functions(t, "../../../"+dir, true), make(map[string]bool)
		for target, names := range targets {
			if !slices.Contains(tests, target) {
				t.Errorf("%s has no %s", dir, target)
			}
			for name := range strings.FieldsSeq(names) {
				want[name] = true
			}
		}
		for _, name := range functions(t, "../../../"+dir, false) {
			if decoding.MatchString(name) && !want[name] {
				t.Errorf("%s.%s decodes, and there is no fuzz target for it", dir, name)
			}
			delete(want, name)
		}
		if len(want) > 0 {
			t.Errorf("%s does not have %v", dir, want)
		}
	}
}
