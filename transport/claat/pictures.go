package claat

import (
	"strings"

	"atelier/actors/markdown"
)

// pictures replaces the address of each picture embedded in the text with the result of becomes.
// Documents that were exported as Markdown embed pictures as data: addresses.
func pictures(source []byte, becomes func(data string) (string, error)) ([]byte, error) {
	if becomes == nil || !strings.Contains(strings.ToLower(string(source)), "data:image") {
		return source, nil
	}
	text := string(source)
	found, _ := markdown.Addresses(text)
	var out strings.Builder
	done := 0
	for _, a := range found {
		if !isPicture(a.URL) {
			continue
		}
		to, err := becomes(a.URL)
		if err != nil {
			return nil, err
		}
		out.WriteString(text[done:a.Start])
		out.WriteString(to)
		done = a.End
	}
	out.WriteString(text[done:])
	return []byte(out.String()), nil
}

func isPicture(address string) bool {
	const of = "data:image/"
	return len(address) > len(of) && strings.EqualFold(address[:len(of)], of)
}
