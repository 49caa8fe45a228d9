package house

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// labelPages lists the pages that use bold only for labels of the app.
var labelPages = []string{"ATTENDING.md", "HELPING.md", "WORKSHOPS.md"}

var bold = regexp.MustCompile(`\*\*([^*\n]+)\*\*`)

// Readers look on the screen for the labels that a page mentions.
func TestLabelsInPagesExistInTheApp(t *testing.T) {
	labels := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, "transport/web/app/src/messages/*/en.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("texts of the app: %d files, %v", len(files), err)
	}
	for _, file := range files {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]any
		if err := json.Unmarshal([]byte(read(t, name)), &texts); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, text := range texts {
			if label, ok := text.(string); ok {
				labels[plain(label)] = true
			}
		}
	}
	for _, page := range labelPages {
		found := bold.FindAllStringSubmatch(read(t, "cmd/atelier/deploy/"+page), -1)
		if len(found) < 5 {
			t.Errorf("%s quotes only %d labels", page, len(found))
		}
		for _, m := range found {
			if !labels[plain(m[1])] {
				t.Errorf("%s: no label of the app is %q", page, m[1])
			}
		}
	}
}

// plain returns a label without the dots that show that the label opens a dialog.
func plain(label string) string { return strings.TrimRight(label, "….") }
