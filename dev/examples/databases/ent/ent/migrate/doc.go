// Package migrate is a part of the client of orders that ent generates.
package migrate
