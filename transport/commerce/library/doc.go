// Package library holds schema documents and knows where a reference leads.
//
// A relative reference is looked for beside the file it stands in, then
// against the $id of its document. An absolute one is looked for among the
// documents of the library, then among the published schemas, and fetched
// only when the library has a Fetcher. A relative one leads to files in the
// folders that were opened, symbolic links included. A Gauge counts what holding
// a value against a schema would take. A library belongs to one goroutine.
package library
