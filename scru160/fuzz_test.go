package scru160_test

import "testing"

func FuzzParse(f *testing.F)         { suite.FuzzForm(f, "text") }
func FuzzParseHex(f *testing.F)      { suite.FuzzForm(f, "hex") }
func FuzzFromBytes(f *testing.F)     { suite.FuzzForm(f, "binary") }
func FuzzUnmarshalJSON(f *testing.F) { suite.FuzzJSON(f) }
func FuzzColumn(f *testing.F)        { column.Fuzz(f) }
func FuzzBinaryColumn(f *testing.F)  { binaryColumn.Fuzz(f) }
func FuzzOrder(f *testing.F)         { suite.FuzzOrder(f, false) }
