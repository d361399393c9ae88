// Package ent is the client of orders that ent generates.
package ent
