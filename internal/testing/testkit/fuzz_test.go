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

// decoders are the exported functions and methods of the formats that read IDs or parts of IDs,
// each with the fuzz target that compares the decoder with the model. These targets also fuzz the
// shared code. The codecs have their own targets in addition.
var decoders = map[string]map[string]string{
	"nanoflake": {
		"ID.Scan": "FuzzColumn", "ID.UnmarshalBSONValue": "FuzzColumn", "ID.UnmarshalGQL": "FuzzColumn", "ID.ScanRedis": "FuzzColumn", "ID.UnmarshalParam": "FuzzColumn",
		"Text.Scan": "FuzzTextColumn", "Text.UnmarshalBSONValue": "FuzzTextColumn", "Text.UnmarshalGQL": "FuzzTextColumn", "Text.ScanRedis": "FuzzTextColumn", "Text.UnmarshalParam": "FuzzTextColumn", "Text.UnmarshalText": "FuzzTextColumn", "Text.UnmarshalBinary": "FuzzTextColumn", "Text.UnmarshalJSON": "FuzzTextColumn",
		"Parse": "FuzzParse", "MustParse": "FuzzParse", "ID.UnmarshalText": "FuzzParse", "ParseDecimal": "FuzzParseDecimal",
		"ParseBase36": "FuzzParseBase36",
		"ParseHex":    "FuzzParseHex", "FromBytes": "FuzzFromBytes", "ID.UnmarshalBinary": "FuzzFromBytes",
		"FromInt64": "FuzzFromInt64", "ID.UnmarshalJSON": "FuzzUnmarshalJSON",
		"ParseAll": "FuzzParseAll",
	},
	"ulidflake": {
		"ID.Scan": "FuzzColumn", "ID.UnmarshalBSONValue": "FuzzColumn", "ID.UnmarshalGQL": "FuzzColumn", "ID.ScanRedis": "FuzzColumn", "ID.UnmarshalParam": "FuzzColumn",
		"Text.Scan": "FuzzTextColumn", "Text.UnmarshalBSONValue": "FuzzTextColumn", "Text.UnmarshalGQL": "FuzzTextColumn", "Text.ScanRedis": "FuzzTextColumn", "Text.UnmarshalParam": "FuzzTextColumn", "Text.UnmarshalText": "FuzzTextColumn", "Text.UnmarshalBinary": "FuzzTextColumn", "Text.UnmarshalJSON": "FuzzTextColumn",
		"ScalableID.Scan": "FuzzScalableColumn", "ScalableID.UnmarshalBSONValue": "FuzzScalableColumn", "ScalableID.UnmarshalGQL": "FuzzScalableColumn", "ScalableID.ScanRedis": "FuzzScalableColumn", "ScalableID.UnmarshalParam": "FuzzScalableColumn",
		"ScalableText.Scan": "FuzzScalableTextColumn", "ScalableText.UnmarshalBSONValue": "FuzzScalableTextColumn", "ScalableText.UnmarshalGQL": "FuzzScalableTextColumn", "ScalableText.ScanRedis": "FuzzScalableTextColumn", "ScalableText.UnmarshalParam": "FuzzScalableTextColumn", "ScalableText.UnmarshalText": "FuzzScalableTextColumn", "ScalableText.UnmarshalBinary": "FuzzScalableTextColumn", "ScalableText.UnmarshalJSON": "FuzzScalableTextColumn",
		"Parse": "FuzzParse", "MustParse": "FuzzParse", "ID.UnmarshalText": "FuzzParse", "ParseDecimal": "FuzzParseDecimal",
		"ParseHex": "FuzzParseHex", "FromBytes": "FuzzFromBytes", "ID.UnmarshalBinary": "FuzzFromBytes",
		"FromInt64": "FuzzFromInt64", "ID.UnmarshalJSON": "FuzzUnmarshalJSON",
		"ParseScalable": "FuzzParseScalable", "MustParseScalable": "FuzzParseScalable", "ScalableID.UnmarshalText": "FuzzParseScalable",
		"ParseScalableDecimal": "FuzzParseScalableDecimal", "ParseScalableHex": "FuzzParseScalableHex",
		"ScalableFromBytes": "FuzzScalableFromBytes", "ScalableID.UnmarshalBinary": "FuzzScalableFromBytes",
		"ScalableFromInt64": "FuzzScalableFromInt64", "ScalableID.UnmarshalJSON": "FuzzScalableUnmarshalJSON",
		"ParseAll": "FuzzParseAll", "ParseAllScalable": "FuzzParseAllScalable",
	},
	"snowflakesi": {
		"ID.Scan": "FuzzColumn", "ID.UnmarshalBSONValue": "FuzzColumn", "ID.UnmarshalGQL": "FuzzColumn", "ID.ScanRedis": "FuzzColumn", "ID.UnmarshalParam": "FuzzColumn",
		"Parse": "FuzzParse", "MustParse": "FuzzParse", "ID.UnmarshalText": "FuzzParse",
		"ParseHex": "FuzzParseHex", "FromBytes": "FuzzFromBytes", "ID.UnmarshalBinary": "FuzzFromBytes",
		"FromInt64": "FuzzFromInt64", "ID.UnmarshalJSON": "FuzzUnmarshalJSON",
		"ParseAll": "FuzzParseAll",
	},
	"scru160": {
		"ID.Scan": "FuzzColumn", "ID.UnmarshalBSONValue": "FuzzColumn", "ID.UnmarshalGQL": "FuzzColumn", "ID.ScanRedis": "FuzzColumn", "ID.UnmarshalParam": "FuzzColumn", "ID.ScanBytes": "FuzzColumn",
		"Binary.Scan": "FuzzBinaryColumn", "Binary.UnmarshalBSONValue": "FuzzBinaryColumn", "Binary.UnmarshalGQL": "FuzzBinaryColumn", "Binary.ScanRedis": "FuzzBinaryColumn", "Binary.UnmarshalParam": "FuzzBinaryColumn", "Binary.UnmarshalText": "FuzzBinaryColumn", "Binary.UnmarshalBinary": "FuzzBinaryColumn", "Binary.UnmarshalJSON": "FuzzBinaryColumn", "Binary.ScanBytes": "FuzzBinaryColumn",
		"Parse": "FuzzParse", "MustParse": "FuzzParse", "ID.UnmarshalText": "FuzzParse",
		"ParseHex": "FuzzParseHex", "FromBytes": "FuzzFromBytes", "ID.UnmarshalBinary": "FuzzFromBytes",
		"ID.UnmarshalJSON": "FuzzUnmarshalJSON", "ParseAll": "FuzzParseAll",
	},
	"sno": {
		"ID.Scan": "FuzzColumn", "ID.UnmarshalBSONValue": "FuzzColumn", "ID.UnmarshalGQL": "FuzzColumn", "ID.ScanRedis": "FuzzColumn", "ID.UnmarshalParam": "FuzzColumn", "ID.ScanBytes": "FuzzColumn",
		"Text.Scan": "FuzzTextColumn", "Text.UnmarshalBSONValue": "FuzzTextColumn", "Text.UnmarshalGQL": "FuzzTextColumn", "Text.ScanRedis": "FuzzTextColumn", "Text.UnmarshalParam": "FuzzTextColumn", "Text.UnmarshalText": "FuzzTextColumn", "Text.UnmarshalBinary": "FuzzTextColumn", "Text.UnmarshalJSON": "FuzzTextColumn", "Text.ScanBytes": "FuzzTextColumn",
		"Parse": "FuzzParse", "MustParse": "FuzzParse", "ID.UnmarshalText": "FuzzParse",
		"FromEncodedString": "FuzzParse", "FromEncodedBytes": "FuzzParse", "FromUUID": "FuzzParse",
		"EncodedTime": "FuzzEncoded", "EncodedMeta": "FuzzEncoded", "EncodedPartition": "FuzzEncoded", "EncodedSequence": "FuzzEncoded",
		"ParseHex": "FuzzParseHex", "FromBinaryBytes": "FuzzBinary", "ID.UnmarshalBinary": "FuzzBinary",
		"ID.UnmarshalJSON": "FuzzJSON", "ParseAll": "FuzzParseAll",
		"UUID.UnmarshalText": "FuzzUUID", "UUID.UnmarshalJSON": "FuzzUUID", "UUID.Scan": "FuzzUUID", "UUID.UnmarshalBinary": "FuzzUUID", "UUID.UnmarshalBSONValue": "FuzzUUID",
		"UUID.UnmarshalGQL": "FuzzUUID", "UUID.ScanRedis": "FuzzUUID", "UUID.UnmarshalParam": "FuzzUUID",
	},
	"typed": { // against the decoders of the plain IDs; ID is generic, and its methods stand without its name
		"Parse": "FuzzText", "MustParse": "FuzzText", "UnmarshalText": "FuzzText", "UnmarshalParam": "FuzzText",
		"UnmarshalGQL": "FuzzText", "UnmarshalJSON": "FuzzJSON",
		"UnmarshalBinary": "FuzzBytes", "Scan": "FuzzBytes", "ScanRedis": "FuzzBytes", "UnmarshalBSONValue": "FuzzBytes",
	},
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
		tests := functions(t, "../../../"+dir, true)
		var all []string
		for _, name := range functions(t, "../../../"+dir, false) {
			if !decoding.MatchString(name) {
				continue
			}
			all = append(all, name)
			if target, ok := targets[name]; !ok {
				t.Errorf("%s.%s decodes, and there is no fuzz target for it", dir, name)
			} else if !slices.Contains(tests, target) {
				t.Errorf("%s.%s has no %s", dir, name, target)
			}
		}
		for name := range targets {
			if !slices.Contains(all, name) {
				t.Errorf("there is no %s.%s", dir, name)
			}
		}
	}
}
