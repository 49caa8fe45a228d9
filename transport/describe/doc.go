// Package describe derives JSON Schemas from Go types, so that each member of the API is described
// once, where the program declares it. It is used for the OpenAPI and AsyncAPI documents. Missing
// applies the same tags to a decoded body, and finds a required member that is missing.
//
// The name, the type, and whether a member can be missing or null follow from the field:
//
//	Votes  int      `json:"votes"`             // an integer of at least 0, never missing
//	StepID *string  `json:"step_id"`           // a string or null
//	Place  string   `json:"place,omitempty"`   // a string, or missing
//	Words  []Word   `json:"words"`             // a list of the component of Word
//	Ends   **string `json:"ends,omitempty"`    // a string, null, or missing
//	*Word                                      // its members, none of which is required
//
// Tags describe everything else. Tags on a list or map describe its elements. Only items, unique,
// default, doc, null and optional describe the list or map itself:
//
//	is:"Timestamp"        a component of the document, or a schema of the vocabulary
//	doc:"Of «id»."        the description; the marks become backquotes
//	length:"1..500"       code points of a string; either end can be missing
//	range:"0..23"         bounds of a number; range:"any" removes the minimum 0 of an integer
//	items:"..10"          bounds of the number of elements of a list
//	unique:"true"         no element occurs twice
//	enum:"draft|open"     the values of a string
//	const:"ended"         the only value of a string
//	pattern:"^[a-z]+$"    a regular expression that a string matches
//	format:"uri"          a format of JSON Schema
//	multiple:"0.5"        a number is a multiple of 0.5
//	default:"true"        the value of a missing member, as JSON
//	null:"true"           null is possible; null:"false" excludes it
//	optional:"true"       the member can be missing, or all members of an embedded struct
//	defaults:"false"      the members of an embedded struct have no default here
//	as:"number"           the type of a json.RawMessage: number, string or boolean
//	open:"true"           a struct can have members that are not described
package describe
