package lint

import (
	"slices"

	"atelier/actors/naming"
	"atelier/transport/commerce/schema"
)

// Severity is the severity of a finding.
type Severity string

const (
	// Error violates a convention.
	Error Severity = "error"
	// Warning is most likely a mistake.
	Warning Severity = "warning"
	// Advice is about permitted choices that authors often regret.
	Advice Severity = "advice"
)

// Rule is a checked convention. Codes are stable: the code of a removed rule is never reused.
type Rule struct {
	Code     string
	Severity Severity
	Summary  string
}

// Rules returns all rules in the order in which AUTHORING.md explains them.
func Rules() []Rule { return rules }

var rules = slices.Concat(ofRuns, ofDocuments)

// ofRuns lists the rules about a run of the command or about a payload.
var ofRuns = []Rule{
	{"io", Error, "a file can be read"},
	{"usage", Error, "the arguments of the command are valid"},
	{"too-much-work", Error, "a run stays within its time and memory"},
	{"composition", Error, "schemas can be resolved and composed"},
	{"payload-invalid", Error, "a payload fits its schema"},
}

// ofDocuments lists the rules about documents that an author writes. Each has an archive of good
// and bad examples in testdata.
var ofDocuments = []Rule{
	{"json-syntax", Error, "a file is JSON, within limits, without repeated members"},

	{"schema-missing", Error, "$schema is stated"},
	{"schema-draft", Warning, "$schema is draft 2020-12"},
	{"schema-invalid", Error, "a schema is valid JSON Schema"},
	{"id-missing", Error, "$id is stated"},
	{"id-malformed", Error, "$id is an absolute URI without fragment"},
	{"id-duplicate", Error, "no two files have the same $id"},
	{"title-missing", Error, "title is stated"},
	{"description-missing", Error, "description is stated"},

	{"category-unknown", Error, "an entity refers to the meta schema of its category"},
	{"name-missing", Error, "an entity states its name"},
	{"name-forbidden", Error, "types, components and meta schemas have no name"},
	{"name-malformed", Error, "names follow the grammar"},
	{"namespace-reserved", Error, "names that begin with dev.commerce. are reserved for the protocol"},
	{"version-missing", Error, "entities and entries state their version"},
	{"version-forbidden", Error, "types, components and meta schemas have no version"},
	{"version-malformed", Error, "versions are calendar dates"},
	{"version-inferred", Error, "a version is stated, not left to a URL"},

	{"variant-missing", Error, "an entity has every variant of its category"},
	{"variant-ref", Error, "a variant is an allOf of the same variant of the meta schema"},
	{"extension-parent", Error, "an extension has a $defs member for each parent"},
	{"extension-conflict", Error, "the types of a member in an extension and in its parent have one in common"},
	{"handler-id", Error, "payment handlers have an instance id"},
	{"handler-id-duplicate", Error, "instance ids are unique in a profile"},

	{"ref-malformed", Error, "$ref is a URI reference"},
	{"ref-missing", Error, "a referenced file or document exists"},
	{"ref-place", Error, "a referenced anchor or pointer exists"},
	{"ref-cycle", Error, "a schema does not apply itself to the same value endlessly"},
	{"ref-unchecked", Advice, "every referenced address is available"},

	{"visibility-value", Error, "the values of " + naming.And(schema.RequestKey, schema.ResponseKey) + " are " + naming.Or(schema.Visibilities...)},
	{"visibility-operation", Warning, "annotations name operations of the protocol"},
	{"visibility-unknown", Warning, "no other ucp_ annotation is used"},
	{"requires-shape", Error, "requires has ranges of versions"},
	{"requires-range", Error, "min is not after max"},
	{"requires-key", Error, "requires has only known members, and names only extended capabilities"},

	{"example-invalid", Error, "examples fit their schema"},
	{"example-unchecked", Warning, "examples can be checked"},

	{"registry-shape", Error, "registries are objects of arrays by name"},
	{"registry-empty", Error, "a registry entry is not an empty array"},
	{"registry-duplicate", Error, "no entry is repeated"},
	{"profile-malformed", Error, "a profile has the members it needs"},
	{"transport-missing", Error, "service entries state their transport"},
	{"transport-unknown", Error, "the transport is a known one"},
	{"transport-field", Error, "a service entry has the members that its transport needs"},
	{"declaration-name", Error, "a declared schema has the declared name"},
	{"declaration-version", Error, "a declared schema has the declared version"},
	{"declaration-id", Error, "a declared schema has the declared address as $id"},
	{"declaration-category", Error, "a declared schema is of the category of its registry"},
	{"declaration-config", Error, "a declaration and its config fit the variant of its schema"},

	{"enum-closed", Advice, "enums are only for sets that can never grow"},
	{"properties-closed", Advice, "objects stay open for new members"},
	{"kinds-closed", Advice, "oneOf is only for sets of kinds that can never grow"},
	{"members-counted", Advice, "members are required by their names, not counted"},
	{"member-reserved", Advice, "an object in a document has no member ucp of its own"},
}

var severities = func() map[string]Severity {
	m := make(map[string]Severity, len(rules))
	for _, r := range rules {
		m[r.Code] = r.Severity
	}
	return m
}()
