// Package enttest is a part of the client of orders that ent generates.
package enttest
