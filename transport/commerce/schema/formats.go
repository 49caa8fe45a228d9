package schema

// ownFormat is the prefix of the formats that are checked here. The prefix is needed because the
// validator already has formats with some of these names. The validator's formats are laxer or of
// another dialect, and cannot be replaced.
const ownFormat = "commerce-"

// formatChecks are the formats checked here, by name. A value other than a string matches every
// format.
var formatChecks = map[string]func(value any) error{
	"regex":         checkRegex,
	"uri":           ofText(uriGrammar.absolute),
	"uri-reference": ofText(uriGrammar.reference),
	"iri":           ofText(iriGrammar.absolute),
	"iri-reference": ofText(iriGrammar.reference),
	"uri-template":  ofText(checkTemplate),
	"hostname":      ofText(checkHostname),
	"idn-hostname":  ofText(checkInternationalHostname),
	"idn-email":     ofText(checkInternationalEmail),
}

// ofText turns a check of texts into a check of values.
func ofText(check func(text string) error) func(any) error {
	return func(value any) error {
		if text, ok := value.(string); ok {
			return check(text)
		}
		return nil
	}
}

var checkRegex = ofText(func(text string) error {
	_, err := compilePattern(text)
	return err
})

// ownFormats replaces the names of the formats in formatChecks with the names of our own checks. It
// returns the schema itself if the schema has none of these formats.
func ownFormats(schema any) any {
	found := false
	Walk(schema, func(_ string, node map[string]any) {
		name, _ := node["format"].(string)
		found = found || formatChecks[name] != nil
	})
	if !found {
		return schema
	}
	copied, _ := copyFormats(schema)
	return copied
}

func copyFormats(schema any) (any, error) {
	node, ok := schema.(map[string]any)
	if !ok {
		return schema, nil
	}
	out := make(map[string]any, len(node))
	for key, value := range node {
		if keyword, ok := keywords[key]; ok {
			value, _ = keyword.Map(value, func(_ string, child any) (any, error) { return copyFormats(child) })
		}
		if name, ok := value.(string); ok && key == "format" && formatChecks[name] != nil {
			value = ownFormat + name
		}
		out[key] = value
	}
	return out, nil
}
