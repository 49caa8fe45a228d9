// Package service assembles the server: the store, the actors, the listeners, and the order in
// which they start and stop. It contains only the list of the parts and no rules.
package service
