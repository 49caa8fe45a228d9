package lint

// OfDocuments are the rules that have examples.
func OfDocuments() []Rule { return ofDocuments }
