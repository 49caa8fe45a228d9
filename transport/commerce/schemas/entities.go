package schemas

// entities are the paths of the published entities below a version's folder.
var entities = map[string]string{
	"dev.commerce.shopping":             "shopping/service.json",
	"dev.commerce.shopping.checkout":    "shopping/checkout.json",
	"dev.commerce.shopping.fulfillment": "shopping/fulfillment.json",
	"dev.commerce.shopping.discount":    "shopping/discount.json",
	"dev.commerce.shopping.order":       "shopping/order.json",
	"com.atelier.tokenization":          "handlers/tokenization.json",
}

// Entity finds the schema of a published entity by name and version.
func (s *Set) Entity(name, version string) (*File, bool) {
	path, ok := entities[name]
	if !ok {
		return nil, false
	}
	return s.Lookup(version + "/" + path)
}

// IsEntity tells whether we publish an entity of this name, in any version.
func IsEntity(name string) bool {
	_, ok := entities[name]
	return ok
}
