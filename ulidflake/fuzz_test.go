package ulidflake_test

import "testing"

func FuzzParse(f *testing.F)         { suite.FuzzForm(f, "text") }
func FuzzParseDecimal(f *testing.F)  { suite.FuzzForm(f, "decimal") }
func FuzzParseHex(f *testing.F)      { suite.FuzzForm(f, "hex") }
func FuzzFromBytes(f *testing.F)     { suite.FuzzForm(f, "binary") }
func FuzzFromInt64(f *testing.F)     { suite.FuzzInt(f) }
func FuzzUnmarshalJSON(f *testing.F) { suite.FuzzJSON(f) }
func FuzzColumn(f *testing.F)        { column.Fuzz(f) }
func FuzzTextColumn(f *testing.F)    { textColumn.Fuzz(f) }
func FuzzOrder(f *testing.F)         { suite.FuzzOrder(f, false) }

func FuzzParseScalable(f *testing.F)         { scalable.FuzzForm(f, "text") }
func FuzzParseScalableDecimal(f *testing.F)  { scalable.FuzzForm(f, "decimal") }
func FuzzParseScalableHex(f *testing.F)      { scalable.FuzzForm(f, "hex") }
func FuzzScalableFromBytes(f *testing.F)     { scalable.FuzzForm(f, "binary") }
func FuzzScalableFromInt64(f *testing.F)     { scalable.FuzzInt(f) }
func FuzzScalableUnmarshalJSON(f *testing.F) { scalable.FuzzJSON(f) }
func FuzzScalableColumn(f *testing.F)        { scalableColumn.Fuzz(f) }
func FuzzScalableTextColumn(f *testing.F)    { scalableTextColumn.Fuzz(f) }
func FuzzScalableOrder(f *testing.F)         { scalable.FuzzOrder(f, false) }
