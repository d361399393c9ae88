// Package order is a part of the client of orders that ent generates.
package order
