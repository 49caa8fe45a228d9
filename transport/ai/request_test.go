package ai

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"atelier/actors/codelab"
	pb "atelier/actors/codelab/codelabpb"
	"atelier/transport/ai/upstream"
	"atelier/transport/auth"
	"atelier/transport/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newService(t *testing.T) *Service {
	t.Helper()
	c, err := upstream.New(upstream.Options{Provider: upstream.Gemini, BaseURL: "http://up.test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return New(Config{Upstream: c, Models: rest.AIModels{Default: "m", All: []string{"m", "n"}}, Answers: NewAnswers(2, 1), Grants: none{}})
}

// none is a source of grants that reports every grant as ended.
type none struct{}

func (none) Hold(auth.Holder) string { return auth.Over }
func (none) Release(auth.Holder)     {}
func (none) Check(h auth.Holder)     { h.End(auth.Over) }

func ptr[T any](v T) *T { return &v }

func parts(texts ...string) (out []map[string]any) {
	for _, s := range texts {
		out = append(out, map[string]any{"text": s})
	}
	return out
}

func TestQueriesAreMadeFromBodies(t *testing.T) {
	s := newService(t)
	q, err := s.query(&body{Prompt: ptr("two"), Contents: &[]turn{{Parts: parts("one")}}, System: ptr("S"), Model: ptr("n")}, false)
	if err != nil || q.Model != "n" || q.System != "S" || len(q.Contents) != 2 || q.Contents[0].Role != "user" || q.Contents[1].Parts[0]["text"] != "two" {
		t.Errorf("the query is %+v, %v", q, err)
	}
	for what, in := range map[string]*body{
		"no prompt":                 {},
		"empty prompt":              {Prompt: ptr(" \n")},
		"long prompt":               {Prompt: ptr(strings.Repeat("ä", maxPrompt+1))},
		"long system":               {Prompt: ptr("x"), System: ptr(strings.Repeat("ä", maxSystem+1))},
		"unknown role":              {Contents: &[]turn{{Role: "system", Parts: parts("x")}}},
		"no parts":                  {Contents: &[]turn{{Role: "user"}}},
		"empty part":                {Contents: &[]turn{{Parts: []map[string]any{{}}}}},
		"part of a wrong type":      {Contents: &[]turn{{Parts: []map[string]any{{"text": 1}}}}},
		"many parts":                {Contents: &[]turn{{Parts: parts(make([]string, maxParts+1)...)}}},
		"many turns":                {Contents: ptr(make([]turn, maxTurns+1))},
		"tools of a wrong type":     {Prompt: ptr("x"), Tools: "x"},
		"tool of a wrong type":      {Prompt: ptr("x"), Tools: []any{1}},
		"many tools":                {Prompt: ptr("x"), Tools: append(make([]any, maxToolSets), map[string]any{})},
		"parameter of a wrong type": {Prompt: ptr("x"), Generation: config{"temperature": "warm"}},
	} {
		if q, err := s.query(in, false); err == nil {
			t.Errorf("%s was accepted: %+v", what, q)
		}
	}
	if _, err := s.query(&body{Prompt: ptr(strings.Repeat("ä", maxPrompt)), Tools: map[string]any{}}, false); err != nil {
		t.Error(err)
	}
}

// The reference app sends the whole workshop as an instruction, and a model that the server might
// not offer. In an earlier version, the app got 400 for either.
func TestFacilitatorsInstructionsAndModels(t *testing.T) {
	s := newService(t)
	long := strings.Repeat("ä", 217_000)
	if q, err := s.query(&body{Prompt: ptr("x"), System: &long}, true); err != nil || q.System != long {
		t.Errorf("a facilitator's long instruction: %v", err)
	}
	for asked, want := range map[string]string{"": "m", "n": "n", " n ": "n", "gemini-none": "m", "../n": "m"} {
		if q, err := s.query(&body{Prompt: ptr("x"), Model: &asked}, false); err != nil || q.Model != want {
			t.Errorf("the model %q: the query is %+v, %v", asked, q, err)
		}
	}
}

func TestTheStepPrecedesTheInstruction(t *testing.T) {
	v := &codelab.View{Meta: &pb.Codelab{Title: "Lab"}, Steps: []*pb.Step{{Title: "One", ContentMarkdown: strings.Repeat("ä", maxContext+5)}}}
	q := &upstream.Query{System: "be brief"}
	about(q, v, 1, false)
	if !strings.HasSuffix(q.System, "</step>\n\nbe brief") || strings.Count(q.System, "ä") != maxContext || !strings.Contains(q.System, `step 1 of 1, titled "One", of the workshop "Lab"`) {
		t.Errorf("the instruction is %.300s", q.System)
	}
	for _, step := range []int{0, 2, -1} {
		q := &upstream.Query{System: "S"}
		if about(q, v, step, false); q.System != "S" {
			t.Errorf("with step %d, the instruction is %s", step, q.System)
		}
	}
}

// In an earlier version, an answer that began while the session was ending continued to its end.
func TestAnAnswerWithAnEndedGrantDoesNotBegin(t *testing.T) {
	s := newService(t)
	a := &answer{s: s, person: "a"}
	if err := a.begin(); err != errEnded || s.Answers.active != 0 || len(s.Answers.persons) != 0 {
		t.Errorf("begin returned %v, with %d active answers", err, s.Answers.active)
	}
}

func TestPlacesOfAnswersAreReleased(t *testing.T) {
	s := newService(t)
	cancelled := 0
	cancel := func(error) { cancelled++ }
	of := map[string]*answer{}
	for _, try := range []struct {
		person string
		want   error
	}{{"a", nil}, {"a", errYours}, {"b", nil}, {"c", errCrowded}} {
		a := &answer{s: s, person: try.person, cancel: cancel}
		if of[try.person] == nil {
			of[try.person] = a
		}
		if err := s.Answers.enter(a); err != try.want {
			t.Errorf("an answer of %s: %v", try.person, err)
		}
	}
	s.Answers.Removed("nobody")
	s.Answers.Removed("b")
	if cancelled != 1 {
		t.Errorf("%d answers were cancelled, want 1", cancelled)
	}
	s.Answers.leave(of["a"])
	if err := s.Answers.enter(of["c"]); err != nil || len(s.Answers.persons) != 2 {
		t.Errorf("after an answer left: %v, answers of %d people", err, len(s.Answers.persons))
	}
	s.Answers.leave(of["b"])
	s.Answers.leave(of["c"])
	for range 3 {
		s.Answers.ended()
	}
	s.Close(t.Context())
	if err := s.Answers.enter(of["a"]); err != errStopping || len(s.Answers.persons) != 0 {
		t.Errorf("after Close: %v, answers of %d people", err, len(s.Answers.persons))
	}
}
