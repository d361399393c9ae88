package orders

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
)

// ask sends a request over HTTP, and returns the data and the errors.
func ask(t *testing.T, url, query string, variables map[string]any) (data, errors string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	testkit.OK(t, err)
	response := testkit.Must(http.Post(url, "application/json", bytes.NewReader(body)))
	defer response.Body.Close()
	var answer struct{ Data, Errors json.RawMessage }
	testkit.OK(t, json.NewDecoder(response.Body).Decode(&answer))
	return string(answer.Data), string(answer.Errors)
}

func serve(t *testing.T) (url string, r *Resolver) {
	r = &Resolver{Generator: sample.Generator(t)}
	server := handler.New(NewExecutableSchema(Config{Resolvers: r}))
	server.AddTransport(transport.POST{})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return listener.URL, r
}

func TestOrders(t *testing.T) {
	url, r := serve(t)
	ids := sample.IDs(t)
	for i, id := range ids {
		o := &Order{ID: id, Item: "globe"}
		if i == 3 {
			o.ParentID = &ids[0]
		}
		r.orders = append(r.orders, o)
	}
	const find = `query($id: OrderID!) { order(id: $id) { id parent { id } payment item } }`
	data, errors := ask(t, url, find, map[string]any{"id": ids[3]})
	if want := `{"order":{"id":"` + ids[3].String() + `","parent":{"id":"` + ids[0].String() + `"},"payment":null,"item":"globe"}}`; data != want || errors != "" {
		t.Errorf("found %s, %s, want %s", data, errors, want)
	}
	if data, errors := ask(t, url, find, map[string]any{"id": nanoflake.Max}); data != `{"order":null}` || errors != "" {
		t.Errorf("an ID without an order: %s, %s", data, errors)
	}
	data, errors = ask(t, url, `{ orders(ids: ["`+ids[5].String()+`", "`+ids[1].String()+`"]) { id } }`, nil)
	if want := `{"orders":[{"id":"` + ids[1].String() + `"},{"id":"` + ids[5].String() + `"}]}`; data != want || errors != "" {
		t.Errorf("found %s, %s, want %s", data, errors, want)
	}
	data, errors = ask(t, url, `query($from: Time!, $to: Time!) { made(from: $from, to: $to) { id } }`,
		map[string]any{"from": sample.Time(2), "to": sample.Time(3)})
	if want := `{"made":[{"id":"` + ids[2].String() + `"},{"id":"` + ids[3].String() + `"}]}`; data != want || errors != "" {
		t.Errorf("made %s, %s, want %s", data, errors, want)
	}
}

func TestCreate(t *testing.T) {
	url, r := serve(t)
	payment := testkit.Must(scru160.FromTime(sample.Time(0)))
	const create = `mutation($order: NewOrder!) { createOrder(order: $order) { id parent { id } payment } }`
	before := time.Now()
	data, errors := ask(t, url, create, map[string]any{"order": map[string]any{"item": "globe", "payment": payment}})
	if len(r.orders) != 1 || errors != "" {
		t.Fatalf("created %v: %s, %s", r.orders, data, errors)
	}
	o := r.orders[0]
	if want := `{"createOrder":{"id":"` + o.ID.String() + `","parent":null,"payment":"` + payment.String() + `"}}`; data != want || *o.Payment != payment || o.ID < r.Generator.First(before) {
		t.Errorf("created %s, want %s", data, want)
	}
	data, errors = ask(t, url, create, map[string]any{"order": map[string]any{"item": "globe", "parent": o.ID}})
	if !strings.Contains(data, `"parent":{"id":"`+o.ID.String()+`"}`) || errors != "" {
		t.Errorf("created %s, %s", data, errors)
	}
}

// A wrong ID is an error of the request, and reaches no resolver.
func TestWrongID(t *testing.T) {
	url, r := serve(t)
	for _, id := range []any{nil, "", "0549x5l2itvr", "0549x5l2itvr!", "0549x5l2itvr44", true, 1.5, -1, []string{}} {
		data, errors := ask(t, url, `query($id: OrderID!) { order(id: $id) { id } }`, map[string]any{"id": id})
		if errors == "" || data != "" && data != "null" && data != `{"order":null}` {
			t.Errorf("%v: %s, %s", id, data, errors)
		}
	}
	data, errors := ask(t, url, `mutation { createOrder(order: {item: "globe", payment: "0549x5l2itvr4"}) { id } }`, nil)
	if errors == "" || len(r.orders) != 0 {
		t.Errorf("the text of another format: %s, %s", data, errors)
	}
}

// A resolver that forgets the ID answers null, for a non-null field too: no error of gqlgen follows.
func TestForgottenID(t *testing.T) {
	url, r := serve(t)
	r.orders = []*Order{{Item: "forgotten"}}
	data, errors := ask(t, url, `{ order(id: "0000000000000") { id } }`, nil)
	if data != `{"order":{"id":null}}` || errors != "" {
		t.Errorf("answered %s, %s", data, errors)
	}
}

// The server reads an integer as well: callers that write numbers need no change.
func TestNumber(t *testing.T) {
	url, r := serve(t)
	id := sample.IDs(t)[0]
	r.orders = []*Order{{ID: id, Item: "globe"}}
	data, errors := ask(t, url, `{ order(id: `+id.Decimal()+`) { id } }`, nil)
	if want := `{"order":{"id":"` + id.String() + `"}}`; data != want || errors != "" {
		t.Errorf("found %s, %s, want %s", data, errors, want)
	}
	data, errors = ask(t, url, `query($id: OrderID!) { order(id: $id) { id } }`, map[string]any{"id": id.Int64()})
	if want := `{"order":{"id":"` + id.String() + `"}}`; data != want || errors != "" {
		t.Errorf("a variable finds %s, %s, want %s", data, errors, want)
	}
}
