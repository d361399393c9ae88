package snowflakesi_test

import "testing"

func FuzzParse(f *testing.F)         { suite.FuzzForm(f, "text") }
func FuzzParseHex(f *testing.F)      { suite.FuzzForm(f, "hex") }
func FuzzFromBytes(f *testing.F)     { suite.FuzzForm(f, "binary") }
func FuzzFromInt64(f *testing.F)     { suite.FuzzInt(f) }
func FuzzUnmarshalJSON(f *testing.F) { suite.FuzzJSON(f) }
func FuzzColumn(f *testing.F)        { column.Fuzz(f) }
func FuzzOrder(f *testing.F)         { suite.FuzzOrder(f, true) }
