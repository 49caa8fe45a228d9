package publish

import (
	"context"
	"errors"
	"fmt"

	"atelier/transport/commerce/lint"
	"atelier/transport/commerce/schema"
)

// maxReported bounds the findings listed in an error.
const maxReported = 20

// Schemas returns the schemas that a server publishes under a base. These are our schemas, and the
// schemas in a folder of the operator, unless folder is "". The error has the file and position of
// each violation, up to maxReported. Findings below the severity error are accepted.
func Schemas(ctx context.Context, base, folder string) (*schema.Set, error) {
	set, err := schema.Published(base)
	if err != nil {
		return nil, fmt.Errorf("published schemas: %w", err)
	}
	if folder == "" {
		return set, nil
	}
	set, docs, err := set.WithFolder(folder)
	if err != nil {
		return nil, fmt.Errorf("commerce.schemas: %w", err)
	}
	report, err := lint.Documents(ctx, docs, lint.Options{Published: set})
	if err != nil {
		return nil, fmt.Errorf("commerce.schemas: %w", err)
	}
	var broken []error
	for _, f := range report.Findings {
		if f.Severity != lint.Error {
			continue
		}
		if len(broken) == maxReported {
			broken = append(broken, errors.New("commerce.schemas: more findings are left out; \"commerce lint\" lists them"))
			break
		}
		broken = append(broken, fmt.Errorf("commerce.schemas: %s:%d %s: %s [%s]", f.File, f.Line, f.Pointer, f.Message, f.Code))
	}
	return set, errors.Join(broken...)
}
