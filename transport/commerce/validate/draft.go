package validate

import (
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atelier/transport/commerce/compose"
)

var draft2020 = sync.OnceValue(func() *Schema {
	return newSchema(jsonschema.NewCompiler().MustCompile(compose.Draft), &budget{})
})

// Draft2020 lists what keeps a value from being a schema of draft 2020-12.
func Draft2020(value any) []Problem {
	if list := draft2020().Check(value); len(list) > 0 {
		return list
	}
	return patterns(value)
}
