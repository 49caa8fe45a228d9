// Package schema reads untrusted schemas, composes many into one, and reports the parts of a
// value that are not valid. The sections "Schema metadata fields", "Variants" and "Versioning" of
// the specification define the grammar. These are the files, ordered from reading a schema to
// reporting a Problem:
//
//	document, pointer      JSON within limits as a tree, and places in it
//	name, version          names, versions and ranges; the authority over a name
//	vocabulary             the closed lists of the protocol
//	published, own         the schemas that we publish, embedded in the binary, and
//	                       those of an operator, from a folder
//	library, folders,      documents by file, $id and name, and where a
//	reference, keywords    reference leads
//	cycle                  schemas that apply themselves to the same value again
//	bundle, compose,       one schema of everything that a reference reaches, or
//	conflict, overrule,    of a base and its extensions; dynamic scopes
//	scope
//	container              a shape for each operation and direction
//	view                   visibility in a direction and for an operation
//	validate               a compiled schema, and the validation of values
//	pattern, property      regular expressions of ECMA-262
//	formats, uri, hostname the checks of "format"
//	problem, words         the problems of a value, in words
//	brief                  truncated foreign input in messages
//
// # Documents
//
// Parse returns a tree of map[string]any, []any, string, json.Number, bool and nil. Input that is
// too large, nested too deeply, repeats a member or is not JSON is refused with a *SyntaxError,
// which states the line. A tree is immutable once parsed.
//
// # Published schemas
//
// The published schemas are in the folder published, which has one folder per version. Each file is
// complete: its $id is under DefaultBase. Published moves the schemas to the operator's base. A
// published version is permanent: Releases only grows, and a test checks the promises of each
// release.
//
// # References
//
// A relative reference is resolved next to its file, then against the $id of its document. It can
// refer to files in the opened folders, but not to a symbolic link that leads out of them. An
// absolute reference is looked up among the documents of the Library, then among the published
// schemas. It is fetched only if the Library has a Fetcher. A Library belongs to one goroutine.
//
// # Time
//
// A schema can multiply the work with each level of a value, and a pattern with look-around or
// back-references needs a backtracking engine. This package does not limit such work. The server
// compiles only schemas that it publishes, and the command commerce terminates when a run takes too
// much time or memory. Patterns that RE2 supports, which are nearly all, run in linear time. A
// Validator is compiled once and safe for concurrent use.
package schema
