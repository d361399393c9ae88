package testkit

// The notations of the codecs' packages.
var (
	Base36       = *Nanoflake.Loose
	Crockford64  = UlidFlake.Texts[0]
	Base32Hex160 = SCRU160.Texts[0]
	Base32Hex80  = fixed(base32hexAlphabet, true, 16)
)

// Decimal returns the notation of up to most decimal digits.
func Decimal(most int) Encoding { return decimal(most) }

// Hexadecimal returns the notation of n hexadecimal digits.
func Hexadecimal(n int) Encoding { return fixed(hexAlphabet, true, n) }
