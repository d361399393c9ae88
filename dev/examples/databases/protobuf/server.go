package orders

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"connectrpc.com/connect"

	"github.com/firn-id/firn/dev/examples/databases/protobuf/ordersv1"
	"github.com/firn-id/firn/dev/examples/databases/protobuf/ordersv1/ordersv1connect"
	"github.com/firn-id/firn/nanoflake"
)

// A Server keeps orders in memory, in the order of their IDs.
type Server struct {
	Generator *nanoflake.Generator

	mu     sync.Mutex
	orders []Order
}

var _ ordersv1connect.OrderServiceHandler = (*Server)(nil)

// CreateOrder makes the ID of a new order, and stores the order.
func (s *Server) CreateOrder(ctx context.Context, r *connect.Request[ordersv1.CreateOrderRequest]) (*connect.Response[ordersv1.Order], error) {
	parent, err := fromOptional("parent", r.Msg.Parent)
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := s.Generator.Next(ctx)
	if err != nil {
		slog.WarnContext(ctx, "no IDs", "err", err) // for the log only: it can name the store's host and user
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("no IDs right now"))
	}
	o := Order{ID: id, Parent: parent, Item: r.Msg.GetItem()}
	s.orders = append(s.orders, o)
	return answer(o.Message())
}

// GetOrder returns the order with an ID.
func (s *Server) GetOrder(_ context.Context, r *connect.Request[ordersv1.GetOrderRequest]) (*connect.Response[ordersv1.Order], error) {
	id, err := fromText("id", r.Msg.GetId())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	for _, o := range s.between(id, id) {
		return answer(o.Message())
	}
	return nil, connect.NewError(connect.CodeNotFound, errors.New("no order "+id.String()))
}

// ListOrders returns the orders from the first ID to the last, both included.
func (s *Server) ListOrders(_ context.Context, r *connect.Request[ordersv1.ListOrdersRequest]) (*connect.Response[ordersv1.ListOrdersResponse], error) {
	first, err := fromText("first", r.Msg.GetFirst())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	last, err := fromText("last", r.Msg.GetLast())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	list := new(ordersv1.ListOrdersResponse)
	for _, o := range s.between(first, last) {
		m, err := o.Message()
		if err != nil {
			return nil, err
		}
		list.Orders = append(list.Orders, m)
	}
	return connect.NewResponse(list), nil
}

func (s *Server) between(first, last nanoflake.ID) (found []Order) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.orders {
		if first <= o.ID && o.ID <= last {
			found = append(found, o)
		}
	}
	return found
}

func answer(m *ordersv1.Order, err error) (*connect.Response[ordersv1.Order], error) {
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(m), nil
}
