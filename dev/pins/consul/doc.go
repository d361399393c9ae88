// Package consul pins the version of the Consul servers that tests run. Consul is the tool of this
// module.
//
// The module is never published, and no other module requires the module. Consul's licence, the
// Business Source License 1.1, allows use outside production, such as in tests, and restricts other
// use. The module is not in go.work: all modules there would be built with its requirements.
package consul
