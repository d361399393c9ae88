package orders

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/go-playground/validator/v10"
	"github.com/labstack/echo/v4"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/typed"
	"github.com/firn-id/firn/ulidflake"
)

func get(t *testing.T, h http.Handler, path string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code, w.Body.String()
}

// wrong are texts that are not an ID.
var wrong = []string{"673740726894358528", "0549x5l2itvr", "0549x5l2itvr44", "0549x5l2itvr!", "0x1", "1", "-1"}

func TestPath(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	ids := sample.IDs(t)
	asked := 0
	find := func(id nanoflake.ID) (Order, error) {
		asked++
		if id != ids[1] {
			return Order{}, ErrNotFound
		}
		return Order{ID: id, Parent: &ids[0], Item: "globe"}, nil
	}
	search := func(s Search) any { return s }
	for name, h := range map[string]http.Handler{"net/http": Handler(find), "gin": Gin(find, search), "echo": Echo(find, search)} {
		t.Run(name, func(t *testing.T) {
			status, body := get(t, h, "/orders/"+ids[1].String())
			var o Order
			if err := json.Unmarshal([]byte(body), &o); err != nil || status != http.StatusOK {
				t.Fatal(status, body, err)
			}
			if want, _ := find(ids[1]); !reflect.DeepEqual(o, want) {
				t.Errorf("got %v, want %v", o, want)
			}
			if status, body := get(t, h, "/orders/"+ids[2].String()); status != http.StatusNotFound {
				t.Errorf("an ID without an order: %d %s", status, body)
			}
			asked = 0
			for _, id := range wrong {
				if status, body := get(t, h, "/orders/"+id); status != http.StatusBadRequest || asked != 0 {
					t.Errorf("%s: %d %s", id, status, body)
				}
			}
		})
	}
}

func TestQuery(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	ids := sample.IDs(t)
	var got *Search
	search := func(s Search) any { got = &s; return s }
	for name, h := range map[string]http.Handler{"gin": Gin(nil, search), "echo": Echo(nil, search)} {
		t.Run(name, func(t *testing.T) {
			query := url.Values{"after": {ids[0].String()}, "only": {ids[1].String()}, "id": {ids[2].String(), ids[3].String()}}
			got = nil
			status, body := get(t, h, "/orders?"+query.Encode())
			if want := (Search{After: ids[0], Only: &ids[1], IDs: ids[2:4]}); status != http.StatusOK || got == nil || !reflect.DeepEqual(*got, want) {
				t.Errorf("searched for %v, want %v: %d %s", got, want, status, body)
			}
			if status, body := get(t, h, "/orders"); status != http.StatusOK || !reflect.DeepEqual(*got, Search{}) {
				t.Errorf("searched for %v: %d %s", got, status, body)
			}
			for _, id := range append([]string{""}, wrong...) {
				for _, name := range []string{"after", "only", "id"} {
					if status, body := get(t, h, "/orders?"+name+"="+id); status != http.StatusBadRequest {
						t.Errorf("%s=%s: %d %s", name, id, status, body)
					}
				}
			}
		})
	}
}

// Each library reads what Query writes, and refuses other texts. The texts of some IDs have only digits.
func TestForms(t *testing.T) {
	digits := []nanoflake.ID{nanoflake.MustParse("0540000000004"), nanoflake.MustParse("1000000000000"), nanoflake.MustParse("0549x5l2itvr4")}
	for name, decode := range map[string]func(url.Values) (Search, error){"go-playground/form": Forms(), "gorilla/schema": Schemas()} {
		for _, want := range []Search{{}, {After: digits[0], Only: &digits[1], IDs: digits}} {
			if got, err := decode(Query(want)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		for _, id := range append([]string{"", "12345678901_3", "1000000000000 "}, wrong...) {
			for _, field := range []string{"after", "only", "id"} {
				if id == "" && field == "id" {
					continue // a list without IDs
				}
				if got, err := decode(url.Values{field: {id}}); err == nil {
					t.Errorf("%s: %s=%s is %v", name, field, id, got)
				}
			}
		}
	}
}

// kind is a kind of things.
type kind struct{}

// bound checks that gin and echo bind a query with IDs of a type. The rule required of gin refuses the zero
// ID.
func bound[T comparable](t *testing.T, id T, text string) {
	t.Run(fmt.Sprintf("%T", id), func(t *testing.T) {
		type search struct {
			ID   T   `form:"id" query:"id"`
			Only *T  `form:"only" query:"only"`
			IDs  []T `form:"ids" query:"ids"`
		}
		type required struct {
			ID T `form:"id" binding:"required"`
		}
		gin.SetMode(gin.ReleaseMode)
		var got search
		router, e := gin.New(), echo.New()
		router.GET("/", func(c *gin.Context) {
			got = search{}
			if c.ShouldBindQuery(&got) != nil {
				c.Status(http.StatusBadRequest)
			}
		})
		router.GET("/required", func(c *gin.Context) {
			if c.ShouldBindQuery(new(required)) != nil {
				c.Status(http.StatusBadRequest)
			}
		})
		e.GET("/", func(c echo.Context) error {
			got = search{}
			return c.Bind(&got)
		})
		query := "/?id=" + text + "&only=" + text + "&ids=" + text + "&ids=" + text
		for name, h := range map[string]http.Handler{"gin": router, "echo": e} {
			if status, _ := get(t, h, query); status != http.StatusOK || !reflect.DeepEqual(got, search{id, &id, []T{id, id}}) {
				t.Errorf("%s: %d, %v", name, status, got)
			}
			for _, wrong := range []string{"1", text[1:], text + "0"} {
				if status, _ := get(t, h, "/?id="+wrong); status != http.StatusBadRequest {
					t.Errorf("%s: %s: %d, %v", name, wrong, status, got)
				}
			}
		}
		for query, want := range map[string]int{"?id=" + text: http.StatusOK, "": http.StatusBadRequest} {
			if status, body := get(t, router, "/required"+query); status != want {
				t.Errorf("required: %q: %d %s", query, status, body)
			}
		}
		var zero T
		if binding.Validator.ValidateStruct(&required{zero}) == nil || binding.Validator.ValidateStruct(&required{id}) != nil {
			t.Error("the rule required")
		}
	})
}

func TestBound(t *testing.T) {
	nano, scru, s := nanoflake.MustParse("0549x5l2itvr4"), scru160.Max(), sno.MustParse("cufsekaqqudbobiw")
	ulid, scalable := ulidflake.MustParse("1234567890123"), ulidflake.MustParseScalable("1234567890123")
	bound(t, nano, nano.String())
	bound(t, nano.Text(), nano.String())
	bound(t, ulid, ulid.String())
	bound(t, ulid.Text(), ulid.String())
	bound(t, scalable, scalable.String())
	bound(t, scalable.Text(), scalable.String())
	bound(t, scru, scru.String())
	bound(t, scru.Binary(), scru.String())
	bound(t, s, s.String())
	bound(t, s.Text(), s.String())
	bound(t, s.UUID(), s.UUID().String())
	bound(t, typed.As[kind](nano), nano.String())
	bound(t, typed.As[kind](nano.Text()), nano.String())
	bound(t, typed.As[kind](scru.Binary()), scru.String())
	bound(t, typed.As[kind](s), s.String())
}

// The rule required passes the zero ID of a struct, as the page says.
func TestRequiredStruct(t *testing.T) {
	type orderID struct{ nanoflake.ID }
	if err := binding.Validator.ValidateStruct(&struct {
		ID orderID `binding:"required"`
	}{}); err != nil {
		t.Error(err)
	}
	v := validator.New(validator.WithRequiredStructEnabled())
	if v.Struct(&struct {
		ID orderID `validate:"required"`
	}{}) == nil {
		t.Error("the option passes the zero ID")
	}
}
