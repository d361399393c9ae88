// Package orders is a Connect server of orders: docs/databases/protobuf.md has the same code.
package orders

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.75.0 generate

import (
	"fmt"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"

	"github.com/firn-id/firn/dev/examples/databases/protobuf/ordersv1"
)

// A FieldError names the field of a message whose ID is missing or wrong.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return fmt.Sprintf("field %s: %v", e.Field, e.Err) }
func (e *FieldError) Unwrap() error { return e.Err }

// text returns the text of an ID, for a field that must have an ID.
func text(field string, id nanoflake.ID) (string, error) {
	if id.IsZero() {
		return "", &FieldError{field, iderr.ErrNoID}
	}
	return id.String(), nil
}

// fromText reads a field that must have an ID.
func fromText(field, s string) (nanoflake.ID, error) {
	id, err := nanoflake.Parse(s)
	if err == nil && id.IsZero() {
		err = iderr.ErrNoID
	}
	if err != nil {
		return 0, &FieldError{field, err}
	}
	return id, nil
}

// fromOptional reads an optional field.
func fromOptional(field string, s *string) (*nanoflake.ID, error) {
	if s == nil {
		return nil, nil
	}
	id, err := fromText(field, *s)
	if err != nil {
		return nil, err
	}
	return &id, nil
}

// An Order can have a parent: an order that it replaces.
type Order struct {
	ID     nanoflake.ID
	Parent *nanoflake.ID
	Item   string
}

// Message returns the message of an order.
func (o Order) Message() (*ordersv1.Order, error) {
	id, err := text("id", o.ID)
	if err != nil {
		return nil, err
	}
	m := &ordersv1.Order{Id: id, Item: o.Item}
	if o.Parent != nil {
		parent, err := text("parent", *o.Parent)
		if err != nil {
			return nil, err
		}
		m.Parent = &parent
	}
	return m, nil
}

// FromMessage returns the order of a message.
func FromMessage(m *ordersv1.Order) (o Order, err error) {
	if o.ID, err = fromText("id", m.GetId()); err != nil {
		return Order{}, err
	}
	if o.Parent, err = fromOptional("parent", m.Parent); err != nil {
		return Order{}, err
	}
	o.Item = m.GetItem()
	return o, nil
}

// A Payment has IDs in the fewest bytes.
type Payment struct {
	Order nanoflake.ID
	Visit sno.ID
}

// Message returns the message of a payment.
func (p Payment) Message() (*ordersv1.Payment, error) {
	switch {
	case p.Order.IsZero():
		return nil, &FieldError{"order_id", iderr.ErrNoID}
	case p.Visit.IsZero():
		return nil, &FieldError{"visit_id", iderr.ErrNoID}
	}
	return &ordersv1.Payment{OrderId: uint64(p.Order.Int64()), VisitId: p.Visit.Bytes()}, nil
}

// PaymentFromMessage returns the payment of a message.
func PaymentFromMessage(m *ordersv1.Payment) (p Payment, err error) {
	p.Order, err = nanoflake.FromInt64(int64(m.GetOrderId()))
	if err == nil && p.Order.IsZero() {
		err = iderr.ErrNoID
	}
	if err != nil {
		return Payment{}, &FieldError{"order_id", err}
	}
	p.Visit, err = sno.FromBinaryBytes(m.GetVisitId())
	if err == nil && p.Visit.IsZero() {
		err = iderr.ErrNoID
	}
	if err != nil {
		return Payment{}, &FieldError{"visit_id", err}
	}
	return p, nil
}
