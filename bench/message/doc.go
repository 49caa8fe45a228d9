// Package message reads the few fields of an event that a delivery needs.
//
// A run takes hundreds of thousands of deliveries a second on the cores that
// the server also wants. A JSON decoder costs 1 us and some allocations for
// each; walking over the top level of the object costs about 0.2 us and none.
package message
