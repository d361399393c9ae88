package stores

import (
	"context"
	"errors"
	"testing"

	"github.com/firn-id/firn/lease/filelease"
)

func TestOpens(t *testing.T) {
	broken := errors.New("broken")
	store, err := Opens(func(context.Context, string) (*filelease.Store, error) { return nil, broken })(t.Context(), "")
	if store != nil || err != broken {
		t.Errorf("%v, %v", store, err)
	}
}
