package orders

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/examples/databases/protobuf/ordersv1"
	"github.com/firn-id/firn/dev/examples/databases/protobuf/ordersv1/ordersv1connect"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

// Clients of the binary form and of JSON, and a server over loopback.
func each(t *testing.T, f func(t *testing.T, client ordersv1connect.OrderServiceClient, s *Server)) {
	for name, options := range map[string][]connect.ClientOption{"binary": nil, "JSON": {connect.WithProtoJSON()}, "gRPC-Web": {connect.WithGRPCWeb()}} {
		t.Run(name, func(t *testing.T) {
			s := &Server{Generator: sample.Generator(t)}
			mux := http.NewServeMux()
			mux.Handle(ordersv1connect.NewOrderServiceHandler(s))
			listener := httptest.NewServer(mux)
			defer listener.Close()
			f(t, ordersv1connect.NewOrderServiceClient(listener.Client(), listener.URL, options...), s)
		})
	}
}

func TestOrders(t *testing.T) {
	each(t, func(t *testing.T, client ordersv1connect.OrderServiceClient, s *Server) {
		ctx, gen, ids := t.Context(), sample.Generator(t), sample.IDs(t)
		for i, id := range ids {
			o := Order{ID: id, Item: "globe"}
			if i == 3 {
				o.Parent = &ids[0]
			}
			s.orders = append(s.orders, o)
		}
		for _, want := range s.orders {
			m, err := client.GetOrder(ctx, connect.NewRequest(&ordersv1.GetOrderRequest{Id: want.ID.String()}))
			testkit.OK(t, err)
			if got, err := FromMessage(m.Msg); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("found %v, %v, want %v", got, err, want)
			}
		}
		list, err := client.ListOrders(ctx, connect.NewRequest(&ordersv1.ListOrdersRequest{
			First: gen.First(sample.Time(2)).String(), Last: gen.Last(sample.Time(4)).String()}))
		if err != nil || len(list.Msg.Orders) != 3 {
			t.Fatal(list, err)
		}
		for i, m := range list.Msg.Orders {
			if m.Id != ids[2+i].String() {
				t.Errorf("order %d is %s, want %s", i, m.Id, ids[2+i])
			}
		}
		parent := ids[1].String()
		before := time.Now()
		made, err := client.CreateOrder(ctx, connect.NewRequest(&ordersv1.CreateOrderRequest{Parent: &parent, Item: "globe"}))
		testkit.OK(t, err)
		if o, err := FromMessage(made.Msg); err != nil || o.ID < gen.First(before) || o.Parent == nil || *o.Parent != ids[1] {
			t.Errorf("made %v, %v", o, err)
		}
	})
}

// A wrong or a missing ID is CodeInvalidArgument with the field, and stores nothing.
func TestWrongID(t *testing.T) {
	each(t, func(t *testing.T, client ordersv1connect.OrderServiceClient, s *Server) {
		ctx := t.Context()
		for _, id := range []string{"", "0000000000000", "673740726894358528", "0549x5l2itvr", "0549x5l2itvr!"} {
			_, err := client.GetOrder(ctx, connect.NewRequest(&ordersv1.GetOrderRequest{Id: id}))
			if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "field id") {
				t.Errorf("%q: %v", id, err)
			}
			_, err = client.CreateOrder(ctx, connect.NewRequest(&ordersv1.CreateOrderRequest{Parent: &id}))
			if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "field parent") {
				t.Errorf("parent %q: %v", id, err)
			}
		}
		_, err := client.GetOrder(ctx, connect.NewRequest(&ordersv1.GetOrderRequest{Id: nanoflake.Max.String()}))
		if connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("an ID without an order: %v", err)
		}
		if len(s.orders) != 0 {
			t.Errorf("the server has %v", s.orders)
		}
	})
}

func TestNoID(t *testing.T) {
	id, visit := sample.IDs(t)[0], sno.NewWithTime(1, sample.Time(0))
	_, none := Order{}.Message()
	_, parent := Order{ID: id, Parent: new(nanoflake.ID)}.Message()
	_, payment := Payment{Visit: visit}.Message()
	_, noVisit := Payment{Order: id}.Message()
	_, read := PaymentFromMessage(&ordersv1.Payment{VisitId: visit.Bytes()})
	_, readVisit := PaymentFromMessage(&ordersv1.Payment{OrderId: 1, VisitId: make([]byte, 10)})
	for name, err := range map[string]error{"id": none, "parent": parent, "order_id": payment, "visit_id": noVisit} {
		var field *FieldError
		if !errors.Is(err, iderr.ErrNoID) || !errors.As(err, &field) || field.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{"order_id": read, "visit_id": readVisit} {
		if !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("reading %s: %v", name, err)
		}
	}
}

// The sizes of the page, and errors of bytes and integers without an ID.
func TestPayment(t *testing.T) {
	id := sample.IDs(t)[0]
	want := Payment{Order: id, Visit: sno.NewWithTime(1, sample.Time(0))}
	m := testkit.Must(want.Message())
	b, err := proto.Marshal(m)
	if err != nil || len(b) != 1+8+2+10 {
		t.Errorf("a payment has %d bytes, %v", len(b), err)
	}
	var read ordersv1.Payment
	testkit.OK(t, proto.Unmarshal(b, &read))
	if got, err := PaymentFromMessage(&read); err != nil || got != want {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
	o, err := Order{ID: id}.Message()
	testkit.OK(t, err)
	if b, err := proto.Marshal(o); err != nil || len(b) != 2+13 {
		t.Errorf("an order with an ID alone has %d bytes, %v", len(b), err)
	}
	for _, m := range []*ordersv1.Payment{{OrderId: 1 << 63, VisitId: m.VisitId}, {OrderId: 1}, {OrderId: 1, VisitId: m.VisitId[1:]}} {
		if got, err := PaymentFromMessage(m); err == nil {
			t.Errorf("%v reads as %v", m, got)
		}
	}
	// protojson writes 64-bit integers as decimal strings, which are not the text of an ID.
	if j, err := protojson.Marshal(&ordersv1.Payment{OrderId: m.OrderId}); err != nil || !strings.Contains(string(j), `"`+id.Decimal()+`"`) {
		t.Errorf("JSON of a payment is %s, %v", j, err)
	}
}
