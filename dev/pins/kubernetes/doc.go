// Package kubernetes pins the version of the API server of Kubernetes that tests run. The API
// server is the tool of this module.
//
// Kubernetes replaces its own modules by folders of its repository. This module replaces the same
// modules by the published versions: v0.N.M goes with Kubernetes v1.N.M. No module can require a
// module with replacements, so this module is never published. The module is not in go.work: all
// modules there would be built with its requirements.
package kubernetes
