package iderr_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
)

// The error of a bad text names the text, the place and the reason. The same types serve all formats.
func ExampleParseError() {
	_, err := nanoflake.Parse("0hqjyj5r9w!aa")
	var bad *iderr.ParseError
	if errors.As(err, &bad) && errors.Is(err, iderr.ErrCharacter) {
		fmt.Println(bad.Format, bad.Offset)
	}
	fmt.Println(err)
	// Output:
	// nanoflake 10
	// nanoflake: "0hqjyj5r9w!aa": offset 10: character '!' is not a base-36 digit
}

// TryNext never waits: a millisecond has 4,096 Nanoflakes of a generator. Here the clock stands still.
func ExampleErrExhausted() {
	now := time.Now()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		if _, err = gen.TryNext(); err != nil {
			break
		}
	}
	fmt.Println(errors.Is(err, iderr.ErrExhausted))
	// Output: true
}
