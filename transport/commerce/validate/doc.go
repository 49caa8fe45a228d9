// Package validate checks payloads and profiles against schemas and says in
// plain words what is wrong and where.
//
// A Schema is compiled once and safe for concurrent use.
package validate
