// Package consul pins the version of the Consul servers that tests run, as a tool of this module, which has nothing else.
//
// The module is never published, and no other module requires it: Consul's licence, the Business Source License 1.1,
// grants use that is not in production, such as tests, and restricts some of the rest. The module is not in go.work
// either, where all modules would be built with its requirements.
package consul
