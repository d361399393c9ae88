// Package bytype is what sqlc generates by types.yaml.
package bytype
