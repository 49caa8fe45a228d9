// Package schemas holds the schemas we publish, in a folder for each version,
// embedded in the binary.
//
// The files carry their $id under DefaultBase, so that they are whole as they
// stand; Published puts them under the base an operator configured. A version
// that is published stays: Versions only grows, and a test keeps what each of
// them promised.
package schemas
