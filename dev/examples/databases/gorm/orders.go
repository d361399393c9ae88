// Package orders keeps orders by GORM: docs/databases/gorm.md has the same code.
package orders

import (
	"database/sql"
	"time"

	"gorm.io/gorm"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// An Order can have a parent: an order that it replaces.
type Order struct {
	ID       nanoflake.ID `gorm:"primaryKey;not null"`
	ParentID *nanoflake.ID
	Parent   *Order
	Payment  sql.Null[nanoflake.ID] `gorm:"type:bigint"`
	Item     string
}

// Insert stores an order.
func Insert(db *gorm.DB, o *Order) error {
	return db.Create(o).Error
}

// Find returns the order with an ID, and its parent, or gorm.ErrRecordNotFound.
func Find(db *gorm.DB, id nanoflake.ID) (o Order, err error) {
	err = db.Preload("Parent").First(&o, "id = ?", id).Error
	return o, err
}

// Made returns the orders of a time, the oldest first. The primary key is the index of the search.
func Made(db *gorm.DB, gen *nanoflake.Generator, from, to time.Time) (all []Order, err error) {
	err = db.Where("id BETWEEN ? AND ?", gen.First(from), gen.Last(to)).Order("id").Find(&all).Error
	return all, err
}

// FindAll returns the orders with the IDs, the oldest first.
func FindAll(db *gorm.DB, ids []nanoflake.ID) (all []Order, err error) {
	err = db.Where("id IN ?", ids).Order("id").Find(&all).Error
	return all, err
}

// A Shipment makes its ID by itself.
type Shipment struct {
	ID      nanoflake.ID `gorm:"primaryKey;not null"`
	OrderID nanoflake.ID `gorm:"not null;index"`
}

// Shipments makes the IDs of shipments.
var Shipments *nanoflake.Generator

// BeforeCreate makes the ID of a new shipment.
func (s *Shipment) BeforeCreate(tx *gorm.DB) (err error) {
	if s.ID.IsZero() {
		s.ID, err = Shipments.Next(tx.Statement.Context)
	}
	return err
}

// An Event has IDs of the formats of bytes. MySQL needs the sizes.
type Event struct {
	ID   scru160.Binary `gorm:"primaryKey;not null;size:20"`
	Text scru160.ID     `gorm:"uniqueIndex"`
	Sno  sno.ID         `gorm:"size:10;uniqueIndex"`
}

// FindEvent returns the event with an ID. The condition is in words: see the traps.
func FindEvent(db *gorm.DB, id scru160.ID) (e Event, err error) {
	err = db.First(&e, "id = ?", id.Binary()).Error
	return e, err
}

// FindSno returns the event with a sno.
func FindSno(db *gorm.DB, id sno.ID) (e Event, err error) {
	err = db.Where("sno = ?", id).First(&e).Error
	return e, err
}
