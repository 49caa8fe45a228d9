// Package document reads JSON that nobody vouches for into a plain tree:
// map[string]any, []any, string, json.Number, bool and nil. What is too large,
// nested too deep, repeats a member or is not JSON is a *SyntaxError with the
// line. Trees are immutable once parsed.
package document
