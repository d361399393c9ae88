// Package advice follows the advice of the server's errors.
package advice

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/server/internal/reason"
)

// unfollowed is advice that no fault of the tables meets, each with the reason.
var unfollowed = map[string]string{
	"clients are slow to read %d large answers: ask again, or for fewer IDs at a time": "server/internal/resp TestBusy follows it",
	"listen on %v: %v": "says what the server has tried",
}

func TestAdvice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the shell and the modes of files are those of Unix")
	}
	texts := sources.Texts(t, filepath.Join("..", "..", ".."), "tests", "firnv1")
	remedies := map[string]bool{} // in documents alone
	for _, r := range reason.All() {
		remedies[r.Remedy] = true
	}
	texts = slices.DeleteFunc(texts, func(s sources.Text) bool { return remedies[s.Text] })
	advice.Check(t, advice.Test{Tables: [][]advice.Fault{files(t), secrets(t), requests(t), calls(t)}, Texts: texts, Least: 80, Unfollowed: unfollowed})
}
