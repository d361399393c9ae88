//go:build tools

package orders

import _ "entgo.io/ent/entc" // what the generator loads together with the schema
