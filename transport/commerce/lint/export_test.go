package lint

// OfDocuments returns the rules that have examples.
func OfDocuments() []Rule { return ofDocuments }
