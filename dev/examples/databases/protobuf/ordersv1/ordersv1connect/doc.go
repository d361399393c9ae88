// Package ordersv1connect has the client and the server of orders that protoc-gen-connect-go generates.
package ordersv1connect
