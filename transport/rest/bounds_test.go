package rest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier/actors/codelab"
	"atelier/transport/archive"
	"atelier/transport/intake"
)

// described contains the parts of an operation's description that the test reads.
type described struct {
	OperationID string `json:"operationId"`
	Description string `json:"description"`
	RequestBody *struct {
		Description string
		Content     map[string]any
	} `json:"requestBody"`
	Responses map[string]any
}

type schema struct {
	Properties map[string]schema
	MaxLength  *int
	MaxItems   *int
}

// UnmarshalJSON also accepts true and false, because they are valid schemas.
func (s *schema) UnmarshalJSON(b []byte) error {
	type plain schema
	if b[0] != '{' {
		return nil
	}
	return json.Unmarshal(b, (*plain)(s))
}

func documented(t *testing.T) (byPath map[string]map[string]described, byID map[string]described, schemas map[string]schema) {
	t.Helper()
	var doc struct {
		Paths      map[string]map[string]described
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	byID = map[string]described{}
	for _, methods := range doc.Paths {
		for _, op := range methods {
			byID[op.OperationID] = op
		}
	}
	return doc.Paths, byID, doc.Components.Schemas
}

// grouped formats a number as the document does.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size formats a number of bytes as the documents do.
func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// An earlier document lacked limits: an attendee's 201st submission was refused, and no document
// gave the reason.
func TestTheDocumentHasTheLimitsOfClients(t *testing.T) {
	b := codelab.Bounds
	_, ops, schemas := documented(t)
	for _, want := range []struct {
		operation string
		status    string // status if the limit is exceeded, or "" if that is not an error
		number    string
	}{
		{"registerAttendee", "409", grouped(b.Attendees) + " attendees"},
		{"annotate", "409", grouped(b.Threads) + " threads"},
		{"annotate", "409", grouped(b.ThreadMessages) + " messages"},
		{"replyToThread", "409", grouped(b.ThreadMessages) + " messages"},
		{"getChat", "", grouped(b.Chat) + " messages"},
		{"listHelp", "", "newest " + grouped(b.SettledHelp)},
		{"addMaterial", "409", grouped(b.Materials) + " materials"},
		{"replaceQuizzes", "400", grouped(b.Quizzes) + " questions"},
		{"submitQuiz", "400", grouped(b.Quizzes) + " answers"},
		{"submitQuiz", "400", grouped(b.Answer) + " characters"},
		{"replaceSteps", "400", "1 to " + grouped(b.Steps) + " steps"},
		{"replaceSteps", "", "first " + grouped(b.Mentions)},
		{"updateCodelab", "", "first " + grouped(b.Mentions)},
		{"replaceQuizzes", "", "first " + grouped(b.Mentions)},
		{"submitFile", "409", grouped(b.Submissions) + " files and links"},
		{"submitFile", "413", size(codelab.MaxAttendeeBytes) + " in total"},
		{"submitLink", "409", grouped(b.Submissions) + " files and links"},
		{"postMessage", "409", grouped(b.Refs) + " messages"},
		{"saveConversation", "", "newest " + grouped(b.PersonConversations)},
		{"saveConversation", "", "newest " + grouped(b.Conversations)},
		{"createBranch", "409", grouped(b.Heads) + " branches"},
		{"createFolder", "409", grouped(b.Heads) + " folders"},
		{"postDirectMessages", "", "At most " + grouped(b.Directs) + " recipients"},
		{"removeAttendee", "", "newest " + grouped(b.Gone)},
		{"replaceSteps", "", "first " + grouped(b.PulseNotices)},
		{"askHelp", "400", grouped(b.HelpMessage) + " characters"},
		{"importCodelab", "", grouped(archive.MaxLeftOut + 1)},
	} {
		op, known := ops[want.operation]
		if want.operation == "importCodelab" { // the limit is in the schema of the response
			if n := schemas["Imported"].Properties["left_out"].MaxItems; n == nil || grouped(*n) != want.number {
				t.Errorf("the schema of left_out lacks the limit of %s entries", want.number)
			}
			continue
		}
		number := regexp.MustCompile(`(^|[^\d,])` + regexp.QuoteMeta(want.number))
		switch {
		case !known:
			t.Errorf("the operation %s is missing", want.operation)
		case !number.MatchString(op.Description):
			t.Errorf("the description of %s lacks %q: %s", want.operation, want.number, op.Description)
		case want.status != "" && (op.Responses[want.status] == nil || want.status != "400" && !strings.Contains(op.Description, want.status)):
			t.Errorf("the description of %s does not state that exceeding %q returns %s", want.operation, want.number, want.status)
		}
	}
	for path, want := range map[string]int{
		"CodelabCreate/title": b.Title, "CodelabUpdate/title": b.Title, "CodelabCreate/description": b.Description, "CodelabCreate/author": b.Author,
		"CodelabCreate/guide_markdown": b.Markdown, "Codelab/guide_markdown": b.Markdown, "StepInput/title": b.Title, "StepInput/content_markdown": b.Markdown,
		"Register/name": b.Name, "Reply/message": b.Message, "PinSet/message": b.Message, "DirectMessagesPost/message": b.Message, "DirectMessagesPost/ref": MaxRef, "Pin/message": b.Message, "ClientMessage/message": b.Message,
		"HelpAsk/message": b.HelpMessage, "HelpRequest/message": b.HelpMessage, "Annotate/message": b.Message, "QuizAnswer/answer": b.Answer, "QuizInput/question": b.QuizQuestion,
		"ConversationSave/question": b.AIQuestion, "ConversationSave/answer": b.AIAnswer, "MaterialAdd/link_url": b.URL,
	} {
		name, field, _ := strings.Cut(path, "/")
		if at := schemas[name].Properties[field]; at.MaxLength == nil || *at.MaxLength != want {
			t.Errorf("%s: the document lacks the limit %d", path, want)
		}
	}
	for path, want := range map[string]int{"Steps/steps": b.Steps, "QuizSubmit/submissions": b.Quizzes} {
		name, field, _ := strings.Cut(path, "/")
		if n := schemas[name].Properties[field].MaxItems; n == nil || *n != want {
			t.Errorf("%s: the document lacks the limit %d", path, want)
		}
	}
}

// Every body has a limit, and its description contains the limit.
func TestTheDocumentHasTheLimitsOfBodies(t *testing.T) {
	files := map[string]int{"uploadImage": intake.MaxImage, "uploadMaterial": intake.MaxMaterial, "submitFile": codelab.MaxSubmissionBytes, "importCodelab": archive.MaxPacked,
		"importBranchFiles": archive.MaxPackedCode, "importFolderFiles": archive.MaxPackedCode}
	paths, _, _ := documented(t)
	var seen []string
	for _, op := range operations {
		d, known := paths[op.Path][strings.ToLower(op.Method)]
		if !known || d.RequestBody == nil {
			continue
		}
		limit := op.body()
		if n, upload := files[d.OperationID]; upload {
			limit = n
			seen = append(seen, d.OperationID)
		}
		if !strings.HasPrefix(d.RequestBody.Description, "At most "+size(limit)) || d.Responses["413"] == nil {
			t.Errorf("%s: the document lacks the limit %s (413): %q", d.OperationID, size(limit), d.RequestBody.Description)
		}
	}
	if len(seen) != len(files) {
		t.Errorf("only the uploads %v are documented", slices.Sorted(slices.Values(seen)))
	}
}

// A file that was damaged on the disk is never served, and the descriptions of the read operations
// document this.
func TestTheDocumentDescribesDamagedFiles(t *testing.T) {
	_, ops, _ := documented(t)
	for _, id := range []string{"getUpload", "getSubmissionFile"} {
		if op := ops[id]; op.Responses["500"] == nil || !strings.Contains(op.Description, "damaged file gets 500") {
			t.Errorf("the description of %s does not mention damaged files: %s", id, op.Description)
		}
	}
	for _, id := range []string{"exportCodelab", "downloadSubmissions"} {
		if !strings.Contains(ops[id].Description, "damaged on the disk") {
			t.Errorf("the description of %s does not mention damaged files: %s", id, ops[id].Description)
		}
	}
}
