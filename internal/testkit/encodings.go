package testkit

// The notations of the codecs' packages.
var (
	Base36       = *Nanoflake.Loose
	Crockford64  = UlidFlake.Texts[0]
	Base32Hex160 = SCRU160.Texts[0]
	Base32Hex80  = fixed(base32hexAlphabet, true, 16)
)

// Decimal returns decimal digits, as many as are given at the most.
func Decimal(most int) Encoding { return decimal(most) }

// Hexadecimal returns n hexadecimal digits.
func Hexadecimal(n int) Encoding { return fixed(hexAlphabet, true, n) }
