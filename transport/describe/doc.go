// Package describe derives JSON Schemas from Go types, so that each member of the API is described
// once, where the program declares it. It is used for the OpenAPI and AsyncAPI documents. Missing
// applies the same tags to a decoded body, and finds a required member that is missing.
//
// The name, the type, and whether a member can be missing or null follow from the field:
//
//	Votes  int      `json:"votes"`             // an integer of at least 0, always there
//	StepID *string  `json:"step_id"`           // a string or null
//	Place  string   `json:"place,omitempty"`   // a string, or not there
//	Words  []Word   `json:"words"`             // a list of the component of Word
//	Ends   **string `json:"ends,omitempty"`    // a string, null, or not there
//	*Word                                      // its members, none of which is required
//
// Tags describe everything else. Tags on a list or map describe its elements, except for items,
// unique, default and doc:
//
//	is:"Timestamp"        a component of the document, or a schema of the vocabulary
//	doc:"Of «id»."        the description; the marks become backquotes
//	length:"1..500"       code points of a string; either end can be missing
//	range:"0..23"         bounds of a number; range:"any" takes away the 0 of an integer
//	items:"..10"          how many elements a list has
//	unique:"true"         no element twice
//	enum:"draft|open"     the values of a string
//	const:"ended"         its only value
//	pattern:"^[a-z]+$"    a regular expression that it matches
//	format:"uri"          a format of JSON Schema
//	multiple:"0.5"        a number is a multiple of that
//	default:"true"        the value of a missing member, as JSON
//	null:"true"           null is possible; "false": it is not
//	optional:"true"       the member can be missing; of an embedded struct each of its members
//	defaults:"false"      of an embedded struct: its members have no default here
//	as:"number"           what a json.RawMessage holds: number, string or boolean
//	open:"true"           an object within can have other members
package describe
