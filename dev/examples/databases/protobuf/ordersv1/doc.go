// Package ordersv1 has the messages of orders that protoc-gen-go generates.
package ordersv1
