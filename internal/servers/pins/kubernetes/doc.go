// Package kubernetes pins the version of the API server of Kubernetes that tests run, as a tool of this module, which
// has nothing else.
//
// Kubernetes replaces its parts by folders of its own repository, so this module replaces them by what was published of
// them: v0.N.M of what is v1.N.M as a whole. Nobody can require a module that replaces others, so it is never
// published. It is not in go.work either, where all modules would be built with its requirements.
package kubernetes
