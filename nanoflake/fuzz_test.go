package nanoflake_test

import "testing"

func FuzzParse(f *testing.F)         { suite.FuzzForm(f, "text") }
func FuzzParseBase36(f *testing.F)   { suite.FuzzForm(f, "base36") }
func FuzzParseDecimal(f *testing.F)  { suite.FuzzForm(f, "decimal") }
func FuzzParseHex(f *testing.F)      { suite.FuzzForm(f, "hex") }
func FuzzFromBytes(f *testing.F)     { suite.FuzzForm(f, "binary") }
func FuzzFromInt64(f *testing.F)     { suite.FuzzInt(f) }
func FuzzUnmarshalJSON(f *testing.F) { suite.FuzzJSON(f) }
func FuzzColumn(f *testing.F)        { column.Fuzz(f) }
func FuzzTextColumn(f *testing.F)    { textColumn.Fuzz(f) }
func FuzzOrder(f *testing.F)         { suite.FuzzOrder(f, false) }
