package describe

import (
	"atelier/transport/commerce/compose"
	"atelier/transport/commerce/library"
	"atelier/transport/commerce/validate"
)

// Check holds a payload against what it follows. An answer may follow several
// bases, say a checkout and an order, and is one of them: it has to fit one,
// and when it fits none the nearest one speaks.
func (s *Set) Check(lib *library.Library, payload any, view compose.View) ([]validate.Problem, error) {
	var nearest []validate.Problem
	for i, base := range s.Bases {
		bundle, err := compose.Compose(lib, base, s.Over(base), compose.Options{View: view, Bundle: true, Protocol: s.Protocol})
		if err != nil {
			return nil, err
		}
		schema, err := validate.CompileBundle(bundle)
		if err != nil {
			return nil, err
		}
		problems, err := schema.CheckStranger(bundle, payload)
		if err != nil {
			return nil, err
		}
		if len(problems) == 0 {
			return nil, nil
		}
		if i == 0 || len(problems) < len(nearest) {
			nearest = problems
		}
	}
	return nearest, nil
}
